// SPDX-License-Identifier: LGPL-2.1-or-later
// The plan of a slot by a matrix: any invertible map of the stored picture to the slot. Positions are
// fixed point, so that no backend rounds them.
#pragma once

#include "kernels/resample.h"

namespace cudatensor {

/// Half a sample, in the units of positions.
constexpr int64_t kHalfSample = int64_t{1} << 31;

/// The position of slot pixel (x, y) along one axis of the stored picture: a·x + b·y + c modulo
/// 2^64, in units of 2^-32 samples, where sample i is at i.
struct PositionPlan {
  int64_t a, b, c;
};

CUDATENSOR_HD int64_t position_at(const PositionPlan &p, int x, int y) {
  const uint64_t sum = static_cast<uint64_t>(p.a) * static_cast<uint64_t>(int64_t{x}) +
                       static_cast<uint64_t>(p.b) * static_cast<uint64_t>(int64_t{y}) +
                       static_cast<uint64_t>(p.c);
  return static_cast<int64_t>(sum);
}

/// One axis of the stored picture.
struct MatrixAxis {
  PositionPlan position;
  int32_t length, chroma_length;  ///< samples
  Chroma chroma;
};

struct MatrixPlan {
  ConversionPlan conversion;  ///< the geometry is that of the slot
  MatrixAxis x, y;
  bool repeats_edge;  ///< pixels outside of the picture repeat its edge, instead of being pad
};

/// Throws Error unless the matrix has an inverse whose numbers, and whose positions of the slot's
/// corner pixels, are within ±2^30.
void check_matrix(const Matrix &matrix, int dst_width, int dst_height);

/// Returns the box around the image of a rectangle of width × height from (0, 0).
Region box_around(const Matrix &matrix, double width, double height);

/// Makes the plan. Throws Error if the source cannot be converted to the colors, a size is out of
/// range or `resize` has antialias, and like check_matrix().
MatrixPlan make_matrix_plan(const Source &source, const Resize &resize, Color color, int dst_width,
                            int dst_height, const Matrix &matrix, bool repeats_edge);

/// Returns the first of the two samples around a position: its upper half.
CUDATENSOR_HD int32_t first_of(int64_t position) {
  // Not all instruction sets shift vectors of signed numbers of 64 bits.
  return static_cast<int32_t>(static_cast<uint64_t>(position) >> 32);
}

/// Returns the weight of the sample after it.
CUDATENSOR_HD float weight_of(int64_t position) {
  // The number is below 2^24; from a signed one the conversion is an instruction everywhere.
  return static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(position) >> 8)) * 0x1p-24f;
}

/// Returns the entry for a position. `inside` counts a picture of `length` samples.
CUDATENSOR_HD Tap tap_at(int64_t position, int32_t length) {
  const int32_t i0 = first_of(position), i1 = i0 + 1, last = length - 1;
  const float w = weight_of(position);
  const float inside =
      (i0 >= 0 && i0 <= last ? 1.0f - w : 0.0f) + (i1 >= 0 && i1 <= last ? w : 0.0f);
  const auto clamped = [last](int32_t i) { return i < 0 ? 0 : i > last ? last : i; };
  return {clamped(i0), clamped(i1), w, inside};
}

/// Returns the entry for a position between two samples of the picture.
CUDATENSOR_HD Tap inner_tap_at(int64_t position) {
  const int32_t i0 = first_of(position);
  return {i0, i0 + 1, weight_of(position), 1.0f};
}

/// Returns the nearest sample.
CUDATENSOR_HD int32_t nearest_of(int64_t position) { return first_of(position + kHalfSample); }

/// Returns the entry for sample i, which may be outside of the picture.
CUDATENSOR_HD Tap tap_of(int32_t i, int32_t length) {
  const int32_t last = length - 1, clamped = i < 0 ? 0 : i > last ? last : i;
  return {clamped, clamped, 0.0f, i == clamped ? 1.0f : 0.0f};
}

CUDATENSOR_HD Tap nearest_tap_at(int64_t position, int32_t length) {
  return tap_of(nearest_of(position), length);
}

/// Returns the position of the first chroma sample.
CUDATENSOR_HD int64_t chroma_origin(int shift, bool cosited) {
  return cosited ? 0 : ((int64_t{1} << shift) - 1) * kHalfSample;
}

/// Returns the position on the grid of chroma.
CUDATENSOR_HD int64_t chroma_position(int64_t position, int shift, bool cosited) {
  return (position - chroma_origin(shift, cosited)) >> shift;
}

}  // namespace cudatensor
