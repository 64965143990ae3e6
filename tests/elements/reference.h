// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels make of a picture, without elements around them.
#pragma once

#include "kernels/ops.h"
#include "picture.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// A picture with the default colorimetry of caps, for at most 576 rows.
Source source_of(const ImageDesc &desc);

Picture letterboxed(const Picture &in, const LetterboxParams &params);
Bytes normalized(const Picture &in, const NormalizeCase &params);
Picture as_yuv444(const Picture &in, const Yuv444Params &params);
Bytes shuffled_bytes(const Bytes &in, const PixelShuffleParams &params);
Picture shuffled_picture(const Bytes &in, const PixelShuffleToVideoParams &params);

/// Parameters of cudanormalize as it is after its making, for an output of width × height.
NormalizeCase normalize_params(const Source &source, Color color, DType dtype, Layout layout,
                               int width, int height);

/// The names that the elements' properties have for values of the kernels.
std::string nick(ResizeMode mode);
std::string nick(Method method);
std::string nick(Color color);
std::string nick(Layout layout);
std::string nick(DType dtype);

/// The properties that ask for a resize.
std::string properties_of(const Resize &resize);

/// `dimensions` of caps, innermost first.
std::string dimensions_of(const TensorDesc &desc);
std::string tensor_caps(const TensorDesc &desc, const std::string &more = "framerate=30/1");
std::string tensor_caps(const std::string &types, const std::string &dimensions,
                        const std::string &more = "framerate=30/1");

}  // namespace cudatensor
