// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/geometryfields.h"

namespace cudatensor {
namespace {

bool read(const GstStructure *s, const char *field, Matrix &matrix) {
  return read_doubles(s, field, matrix.data(), matrix.size());
}

}  // namespace

bool read_doubles(const GstStructure *s, const char *field, double *numbers, guint count) {
  const GValue *array = gst_structure_get_value(s, field);
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array) || gst_value_array_get_size(array) != count)
    return false;
  for (guint i = 0; i < count; ++i) {
    const GValue *item = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS_DOUBLE(item)) return false;
    numbers[i] = g_value_get_double(item);
  }
  return true;
}

std::optional<GeometryFields> read_geometry(const GstStructure *s, size_t sizes) {
  GeometryFields facts = {};
  bool complete = read(s, "matrix", facts.matrix) && read(s, "inverse", facts.inverse);
  for (size_t i = 0; complete && i < sizes; ++i)
    complete = gst_structure_get_int(s, kGeometrySizes[i], &facts.sizes[i]);
  return complete ? std::optional<GeometryFields>(facts) : std::nullopt;
}

}  // namespace cudatensor
