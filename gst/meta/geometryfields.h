// SPDX-License-Identifier: LGPL-2.1-or-later
// The fields of GstCudaTensorGeometryMeta, which the slots of GstCudaTensorBatchMeta also have.
#pragma once

#include <gst/gst.h>

#include <array>
#include <iterator>
#include <optional>

#include "kernels/matrix.h"

namespace cudatensor {

/// The names of the integer fields.
constexpr const char *kGeometrySizes[] = {"src-width",     "src-height",    "dst-width",
                                          "dst-height",    "pad-left",      "pad-top",
                                          "content-width", "content-height"};
constexpr size_t kSourceSizes = 2;  // src-width and src-height

struct GeometryFields {
  Matrix matrix, inverse;
  std::array<int, std::size(kGeometrySizes)> sizes;  // in the order of kGeometrySizes
};

/// Reads the matrices and the first `sizes` integer fields. Returns no value if a field is missing,
/// which is possible if other code created the structure.
std::optional<GeometryFields> read_geometry(const GstStructure *structure,
                                            size_t sizes = std::size(kGeometrySizes));

/// Reads a GST_TYPE_ARRAY of exactly `count` doubles. Returns false if there is none.
bool read_doubles(const GstStructure *structure, const char *field, double *numbers, guint count);

}  // namespace cudatensor
