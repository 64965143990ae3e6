// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the buffers of cudanormalize without this project's headers: the caps describe the data,
// and a custom meta the position of the picture.
#pragma once

#include <gst/gst.h>

#include <array>
#include <string>
#include <vector>

/// A float32 NCHW tensor.
struct Tensor {
  int width, height, channels;
  std::vector<float> values;

  const float *channel(int c) const { return &values[static_cast<size_t>(c) * width * height]; }
  double mean(int c) const;
};

Tensor read_tensor(GstBuffer *buffer, GstCaps *caps);

/// The position of the picture in the tensor.
struct Geometry {
  std::array<double, 6> matrix;  ///< row-major 2×3, from the picture to the tensor
  int left, top, width, height;  ///< the content, in pixels of the tensor
};

Geometry read_geometry(GstBuffer *buffer);

/// Returns the field `name` of tensor caps.
std::string tensor_field(GstCaps *caps, const char *name);
