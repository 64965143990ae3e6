// SPDX-License-Identifier: LGPL-2.1-or-later
// Made-up scenes, changes to the picture of a camera that sees them, and thumbnails of pictures.
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

/// Returns the luma of the changed picture at a place: that of the scene there, or another one.
using PictureChange = std::function<double(const Picture &scene, int x, int y)>;

/// Returns overlapping boxes of all sizes.
Picture scene_of(unsigned seed);

double usual(const Picture &scene, int x, int y);
double flat(const Picture &scene, int x, int y);
double dark(const Picture &scene, int x, int y);
double shifted(const Picture &scene, int x, int y);
double covered(const Picture &scene, int x, int y);
double blurred(const Picture &scene, int x, int y);

/// Returns the thumbnail of a picture with these lumas. In RGB, all components have them.
Thumb thumbnail_in(GstVideoFormat format, int width, int height,
                   const std::function<uint8_t(size_t x, size_t y)> &luma,
                   const Region &region = {});
/// Returns the thumbnail of a camera with noise that sees the changed scene.
Thumb thumbnail_seen(const Picture &scene, const PictureChange &change, std::mt19937 &random,
                     const Region &region = {});

}  // namespace luminance::test
