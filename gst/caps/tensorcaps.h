// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor caps in NNStreamer's format: other/tensors, dimensions innermost first.
#pragma once

#include <gst/gst.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "gst/caps/elementtype.h"
#include "kernels/tensor.h"

namespace cudatensor {

constexpr const char *kTensorMedia = "other/tensors";

/// The largest number of slots in a batch.
constexpr guint kMaxSlots = 1024;

/// Dimensions, innermost first. Missing ones are 1. Of the layout ncthw, the outermost one is left
/// out, which is always 1.
using Dimensions = std::array<int64_t, 4>;

/// Parses a colon-separated list of dimensions. Returns an empty list if one is not in 1 to 2^31 -
/// 1.
std::vector<int64_t> split_dimensions(const char *text);

/// Parses a list of dimensions. Returns no value if split_dimensions() fails or more than four
/// dimensions are significant.
std::optional<Dimensions> parse_dimensions(const char *text);

/// Returns a list of dimensions as text, "640:640:3:1".
std::string text_of(const std::vector<int64_t> &dimensions);
/// Returns the dimensions of a tensor as text.
std::string dimensions_text(const TensorDesc &desc);

Dimensions dimensions_of(const TensorDesc &desc);
TensorDesc desc_of(const Dimensions &dimensions, DType dtype, Layout layout);

const char *type_text(DType dtype);
std::optional<DType> parse_type(const char *text);

/// Creates other/tensors,format=static,num_tensors=1 caps with these types.
GstCaps *make_tensor_template_caps(std::initializer_list<DType> types);

/// Creates a structure of such caps without types and dimensions, with the framerate of `other`.
GstStructure *new_tensor_structure(const GstStructure *other);

/// Copies the framerate. If `from` has none, sets the full range, which is fixated to 0/1.
void copy_framerate(GstStructure *structure, const GstStructure *from);

/// Appends the structure with all dimensions of a tensor, and again in the short form without a
/// trailing 1. Takes ownership of the structure.
void append_with_dimensions(GstCaps *caps, GstStructure *structure, const TensorDesc &desc);

/// Whether one GstCudaMemory can hold the structure's tensor, that is, whether it is smaller than 2
/// GiB. True if the structure does not fix the size or does not describe a tensor.
bool fits_cuda_memory(const GstStructure *structure);

/// Parses fixed tensor caps. Throws Error if they do not describe a tensor.
TensorDesc parse_tensor_caps(const GstCaps *caps, Layout layout);

}  // namespace cudatensor
