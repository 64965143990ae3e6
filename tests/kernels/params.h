// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of the operations: all values of each, random ones, and their text for a failure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/ops.h"
#include "random.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

extern const std::vector<ResizeMode> kModes;
extern const std::vector<Method> kMethods;
extern const std::vector<ResizeMode> kCrops;
extern const std::vector<Method> kFilters;  ///< of antialiased resizes
extern const std::vector<ColorMatrix> kMatrices;
extern const std::vector<ColorRange> kRanges;
extern const std::vector<Color> kColors;
extern const std::vector<DType> kTypes;
extern const std::vector<Layout> kLayouts;
extern const std::vector<Normalization> kNormalizations;
extern const std::vector<bool> kBools;

struct Size {
  int width, height;
};

/// Mostly small, with every odd case; seldom long and thin.
Size random_size(Random &random);

/// Sizes from and to that hold the longest row or column.
extern const std::vector<std::pair<Size, Size>> kLongest;

/// Pictures to enlarge, how many times, and to what: with borders, if that keeps the aspect ratio,
/// and no more than some ten thousand pixels.
extern const std::vector<Size> kSeeds;
extern const std::vector<double> kRatios;
Size enlarged(Random &random, Size seed, double ratio);

Resize random_resize(Random &random);
/// An antialiased one.
Resize random_filter(Random &random);
/// Makes it a crop if one is possible for these sizes.
void make_crop(Random &random, Resize &resize, Size in, Size out);
Source random_source(Random &random, PixelFormat format, Size size);
Rect random_rect(Random &random, int width, int height);

/// Whether the format can be converted to the color.
bool is_possible(PixelFormat from, Color color);

NormalizeCase random_normalize(Random &random, PixelFormat from, Color color, Size in, Size out);
/// Fills the factors of `params`, with one value or one for each channel.
void randomize_factors(Random &random, NormalizeCase &params);

std::string text_of(const ImageDesc &desc);
std::string text_of(const TensorDesc &desc);
std::string text_of(const Source &source);
std::string text_of(const Resize &resize);
std::string text_of(const Yuv444Params &params);
std::string text_of(const LetterboxParams &params);
std::string text_of(const NormalizeCase &params);
std::string text_of(const HistogramParams &params);
std::string text_of(const PixelShuffleParams &params);
std::string text_of(const PixelShuffleToVideoParams &params);

}  // namespace cudatensor
