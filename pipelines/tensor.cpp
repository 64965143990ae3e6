// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tensor.h"

#include <cstdio>
#include <cstring>
#include <numeric>

#include "pipeline.h"

double Tensor::mean(int c) const {
  const size_t size = static_cast<size_t>(width) * height;
  return std::accumulate(channel(c), channel(c) + size, 0.0) / static_cast<double>(size);
}

std::string tensor_field(GstCaps *caps, const char *name) {
  const gchar *text = gst_structure_get_string(gst_caps_get_structure(caps, 0), name);
  if (text == nullptr) throw Failure(std::string("the caps of the tensor have no field ") + name);
  return text;
}

Tensor read_tensor(GstBuffer *buffer, GstCaps *caps) {
  const std::string type = tensor_field(caps, "types");
  const std::string dimensions = tensor_field(caps, "dimensions");
  Tensor tensor = {};
  if (type != "float32" || std::sscanf(dimensions.c_str(), "%d:%d:%d", &tensor.width,
                                       &tensor.height, &tensor.channels) != 3)
    throw Failure("cannot show a " + type + " tensor with dimensions " + dimensions);
  tensor.values.resize(static_cast<size_t>(tensor.width) * tensor.height * tensor.channels);
  const gsize size = tensor.values.size() * sizeof(float);
  if (gst_buffer_get_size(buffer) != size ||
      gst_buffer_extract(buffer, 0, tensor.values.data(), size) != size)
    throw Failure("expected " + std::to_string(size) + " bytes for a tensor with dimensions " +
                  dimensions + ", got " + std::to_string(gst_buffer_get_size(buffer)));
  return tensor;
}

Geometry read_geometry(GstBuffer *buffer) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "GstCudaTensorGeometryMeta");
  if (meta == nullptr) throw Failure("a tensor has no GstCudaTensorGeometryMeta");
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  Geometry geometry = {};
  const GValue *matrix = gst_structure_get_value(s, "matrix");
  if (matrix == nullptr || !GST_VALUE_HOLDS_ARRAY(matrix) ||
      gst_value_array_get_size(matrix) != geometry.matrix.size() ||
      !gst_structure_get(s, "pad-left", G_TYPE_INT, &geometry.left, "pad-top", G_TYPE_INT,
                         &geometry.top, "content-width", G_TYPE_INT, &geometry.width,
                         "content-height", G_TYPE_INT, &geometry.height, nullptr))
    throw Failure("a GstCudaTensorGeometryMeta has missing fields");
  for (guint i = 0; i < geometry.matrix.size(); ++i)
    geometry.matrix[i] = g_value_get_double(gst_value_array_get_value(matrix, i));
  return geometry;
}
