// SPDX-License-Identifier: LGPL-2.1-or-later
// The fields of GstCudaTensorGeometryMeta, which the slots of GstCudaTensorBatchMeta have too.
#pragma once

#include <gst/gst.h>

#include <array>
#include <iterator>
#include <optional>

namespace cudatensor {

/// A row-major 2×3 matrix.
using Matrix = std::array<double, 6>;

/// The fields that are whole numbers.
constexpr const char *kGeometrySizes[] = {"src-width",     "src-height",    "dst-width",
                                          "dst-height",    "pad-left",      "pad-top",
                                          "content-width", "content-height"};
constexpr size_t kSourceSizes = 2;  // the first

struct GeometryFacts {
  Matrix matrix, inverse;
  std::array<int, std::size(kGeometrySizes)> sizes;  // as in kGeometrySizes
};

/// With the first `sizes` of the sizes. Nothing where the structure lacks something, as one that
/// others have made may.
std::optional<GeometryFacts> read_geometry(const GstStructure *structure,
                                           size_t sizes = std::size(kGeometrySizes));

/// Reads a GST_TYPE_ARRAY of exactly `count` doubles; whether there is one.
bool read_doubles(const GstStructure *structure, const char *field, double *numbers, guint count);

}  // namespace cudatensor
