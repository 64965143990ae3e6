// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of tensors in NNStreamer's grammar: other/tensors, dimensions innermost first.
#pragma once

#include <gst/gst.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "kernels/tensor.h"

namespace cudatensor {

constexpr const char *kTensorMedia = "other/tensors";

/// Of a batch.
constexpr guint kMostSlots = 1024;

/// Innermost first; missing ones are 1.
using Dimensions = std::array<int64_t, 4>;

/// All numbers of a text; empty where one of them is none from 1 to 2^31 - 1.
std::vector<int64_t> list_dimensions(const char *text);

/// nothing where the text is no list of numbers from 1 to 2^31 - 1, or holds more than four that
/// count.
std::optional<Dimensions> parse_dimensions(const char *text);

/// "640:640:3:1", or without the trailing 1 "640:640:3".
std::string dimensions_text(const Dimensions &dimensions);
std::string short_dimensions_text(const Dimensions &dimensions);

Dimensions dimensions_of(const TensorDesc &desc);
TensorDesc desc_of(const Dimensions &dimensions, DType dtype, Layout layout);

const char *type_text(DType dtype);
std::optional<DType> parse_type(const char *text);

/// other/tensors,format=static,num_tensors=1, with these types.
GstCaps *make_tensor_template_caps(std::initializer_list<DType> types);

/// A structure of the same without types and dimensions, with the framerate of `other`.
GstStructure *new_tensor_structure(const GstStructure *other);

/// Any framerate where `from` has none: fixating it gives 0/1.
void copy_framerate(GstStructure *structure, const GstStructure *from);

/// Appends the structure once with four dimensions, and once more without the trailing 1. Takes
/// the structure.
void append_with_dimensions(GstCaps *caps, GstStructure *structure, const Dimensions &dimensions);

/// Whether one GstCudaMemory holds the tensor of a structure: less than 2 GiB. True for structures
/// that leave the size open or are no tensors.
bool fits_cuda_memory(const GstStructure *structure);

/// The tensor of fixed caps. Throws Error where they do not describe one.
TensorDesc parse_tensor_caps(const GstCaps *caps, Layout layout);

}  // namespace cudatensor
