// SPDX-License-Identifier: LGPL-2.1-or-later
// Outputs of the kernels for a picture, without elements.
#pragma once

#include "kernels/ops.h"
#include "picture.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// Returns a source with the caps' default colorimetry for at most 576 rows.
Source source_of(const ImageDesc &desc);

Picture letterboxed(const Picture &in, const LetterboxParams &params);
Bytes normalized(const Picture &in, const NormalizeCase &params);
Picture as_yuv444(const Picture &in, const Yuv444Params &params);
Bytes shuffled_bytes(const Bytes &in, const PixelShuffleParams &params);
Picture shuffled_picture(const Bytes &in, const PixelShuffleToVideoParams &params);

/// Returns the parameters of a new cudanormalize, for an output of width × height.
NormalizeCase normalize_params(const Source &source, Color color, DType dtype, Layout layout,
                               int width, int height);

/// Returns the name that the elements' properties use for a value of the kernels.
std::string nick(ResizeMode mode);
std::string nick(Method method);
std::string nick(Color color);
std::string nick(Layout layout);
std::string nick(DType dtype);

/// Returns the properties that select a resize.
std::string properties_of(const Resize &resize);

/// Returns the caps' `dimensions`, innermost first.
std::string dimensions_of(const TensorDesc &desc);
std::string tensor_caps(const TensorDesc &desc, const std::string &more = "framerate=30/1");
std::string tensor_caps(const std::string &types, const std::string &dimensions,
                        const std::string &more = "framerate=30/1");

}  // namespace cudatensor
