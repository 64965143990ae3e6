// SPDX-License-Identifier: LGPL-2.1-or-later
// Video caps.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <optional>
#include <string>

#include "kernels/resample.h"

namespace cudatensor {

/// Lists of formats in the syntax of caps.
#define CUDATENSOR_PACKED_RGB "BGR, RGB, BGRx, RGBx, BGRA, RGBA, xBGR, xRGB, ABGR, ARGB"
#define CUDATENSOR_YUV420 "NV12, NV21, I420, YV12"

/// Return all formats that the kernels read and this release of GStreamer knows, and the YUV
/// formats among them, in the same syntax.
std::string input_formats();
std::string yuv_input_formats();

/// Creates video/x-raw caps of these formats, 1 to kMaxImageSize pixels wide and high. They have no
/// framerate, so that caps without one are accepted.
GstCaps *make_video_template_caps(const std::string &formats);

/// Copies the picture's structure without the fields that a resize and a color conversion change:
/// format, colorimetry, chroma-site, size, pixel-aspect-ratio, interlacing and those of DeepStream's
/// memory. If it has no framerate, sets the full range.
GstStructure *new_open_structure(const GstStructure *picture);

/// Sets the upper limits of a structure's width and height, in pixels.
void limit_size(GstStructure *structure, int width, int height);

/// Fixates a structure's size to the one nearest to width × height.
void fixate_size(GstStructure *structure, int width, int height);

/// Parses fixed video caps. Returns no value if they are invalid. Each part of `colorimetry` is
/// used separately: an unknown range or matrix is GStreamer's default for the format and size.
std::optional<GstVideoInfo> video_info_of(const GstCaps *caps);
/// Does the same, but throws Error if the caps are invalid or the size is out of range.
GstVideoInfo parse_video_caps(const GstCaps *caps);

/// Returns the video format of fixed caps if the pad template lacks it; otherwise an empty string.
std::string unknown_format(const GstCaps *caps, const GstCaps *pad_template);

ImageDesc image_desc_of(const GstVideoInfo &info);
Source source_of(const GstCaps *caps, const GstVideoInfo &info);

/// Throws Error if the color matrix is not supported.
void check_matrix(const GstVideoInfo &info);

/// Returns a warning if the picture is HDR (PQ or HLG), whose transfer function nothing here
/// converts; otherwise an empty string.
std::string hdr_warning(const GstVideoInfo &info);

/// Sets the colorimetry of an RGB or gray picture that is converted from `in`: full range, with the
/// source's transfer function and primaries. If the structure lists colorimetries, chooses the
/// first with the same matrix and range, and throws Error if there is none.
void set_result_colorimetry(GstStructure *structure, const GstVideoInfo &in);

/// Does the same for a picture whose colors are not converted. Accepts only the colorimetry of
/// `in`.
void set_own_colorimetry(GstStructure *structure, const GstVideoInfo &in);

/// Fixates the pixel-aspect-ratio so that the display aspect ratio of `in` is preserved when it is
/// resized to width × height pixels, or to the nearest value that the structure allows.
void fixate_pixel_aspect_ratio(GstStructure *structure, const GstVideoInfo &in, int width,
                               int height);

}  // namespace cudatensor
