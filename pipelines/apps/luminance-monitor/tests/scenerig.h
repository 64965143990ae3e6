// SPDX-License-Identifier: LGPL-2.1-or-later
// Made-up scenes, what can happen to a camera that sees them, and thumbnails of its pictures.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "settings/region.h"
#include "watch/thumbnail.h"

namespace luminance::test {

constexpr int kPictureWidth = 1280, kPictureHeight = 720;

using Picture = std::vector<uint8_t>;  // lumas
using Thumb = std::shared_ptr<const Thumbnail>;

/// What is put at a place of the picture: the luma of the scene there, or another one.
using PictureChange = std::function<double(const Picture &scene, int x, int y)>;

/// Boxes of all sizes over each other.
Picture scene_of(unsigned seed);

double usual(const Picture &scene, int x, int y);
double flat(const Picture &scene, int x, int y);
double dark(const Picture &scene, int x, int y);
double shifted(const Picture &scene, int x, int y);
double covered(const Picture &scene, int x, int y);
double blurred(const Picture &scene, int x, int y);

/// Of a picture with these lumas; components of RGB all have them.
Thumb thumbnail_in(GstVideoFormat format, int width, int height,
                   const std::function<uint8_t(size_t x, size_t y)> &luma,
                   const Region &region = {});
/// Of a camera with noise, which sees a scene.
Thumb thumbnail_seen(const Picture &scene, const PictureChange &change, std::mt19937 &random,
                     const Region &region = {});

}  // namespace luminance::test
