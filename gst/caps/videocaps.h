// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of pictures.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <string>

#include "kernels/resample.h"

namespace cudatensor {

/// Lists of formats as caps write them.
#define CUDATENSOR_PACKED_RGB "BGR, RGB, BGRx, RGBx, BGRA, RGBA, xBGR, xRGB, ABGR, ARGB"
#define CUDATENSOR_YUV420 "NV12, NV21, I420, YV12"
#define CUDATENSOR_INPUT_FORMATS CUDATENSOR_PACKED_RGB ", " CUDATENSOR_YUV420 ", Y444, GRAY8"

/// video/x-raw of these formats, 1 to kMaxImageSize pixels wide and high. Without
/// a framerate, so that caps that have none are accepted.
GstCaps *make_video_template_caps(const char *formats);

/// The picture's structure with what a resize and a colour conversion change left open: format,
/// colorimetry, chroma-site, size and pixel-aspect-ratio; also the framerate where it has none.
GstStructure *new_open_structure(const GstStructure *picture);

/// Limits a structure's width and height, in pixels.
void limit_size(GstStructure *structure, int width, int height);

/// Makes a structure's size the one nearest to a picture's.
void fixate_size(GstStructure *structure, int width, int height);

/// The fixed caps' GstVideoInfo. Throws Error where there is none, or the size is out of range.
GstVideoInfo parse_video_caps(const GstCaps *caps);

ImageDesc image_desc_of(const GstVideoInfo &info);
Source source_of(const GstCaps *caps, const GstVideoInfo &info);

/// Throws Error where the matrix is none that arithmetic knows.
void check_matrix(const GstVideoInfo &info);

/// Writes the colorimetry of an RGB or grey picture that is made from `in` into its structure:
/// full range, with the transfer function and primaries of the source. Where the structure names
/// some, the first of the same matrix and range is taken; throws Error where there is none.
void name_result_colorimetry(GstStructure *structure, const GstVideoInfo &in);

/// The same for a picture that keeps its colours: only its own colorimetry will do.
void name_own_colorimetry(GstStructure *structure, const GstVideoInfo &in);

/// Fixates the pixel-aspect-ratio to what keeps the shape of things when `in` is resized to
/// width × height pixels, or next to that where the structure allows only others.
void fixate_pixel_aspect_ratio(GstStructure *structure, const GstVideoInfo &in, int width,
                               int height);

}  // namespace cudatensor
