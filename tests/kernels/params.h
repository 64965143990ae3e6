// SPDX-License-Identifier: LGPL-2.1-or-later
// Parameters of the operations: all values, random values, and their text for failures.
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
extern const std::vector<Method> kFilters;  ///< for antialiased resizes
extern const std::vector<ColorMatrix> kMatrices;
extern const std::vector<ColorRange> kRanges;
extern const std::vector<Color> kColors;
extern const std::vector<DType> kTypes;
extern const std::vector<Layout> kLayouts;
extern const std::vector<Normalization> kNormalizations;
extern const std::vector<bool> kBools;
extern const std::vector<Direction> kDirections;

struct Size {
  int width, height;
};

/// Returns a size that is mostly small, with all odd cases, and rarely long and thin.
Size random_size(Random &random);

/// Pairs of input and output sizes that include the longest row or column.
extern const std::vector<std::pair<Size, Size>> kLongest;

/// Pictures to enlarge, factors, and output sizes: with borders, if the aspect ratio is kept, and
/// with at most some ten thousand pixels.
extern const std::vector<Size> kSeeds;
extern const std::vector<double> kRatios;
Size enlarged(Random &random, Size seed, double ratio);

Resize random_resize(Random &random);
/// Returns an antialiased resize.
Resize random_filter(Random &random);
/// Makes `resize` a crop if one is possible for these sizes.
void make_crop(Random &random, Resize &resize, Size in, Size out);
Source random_source(Random &random, PixelFormat format, Size size);
Rect random_rect(Random &random, int width, int height);

/// Returns whether the format can be converted to the color.
bool is_possible(PixelFormat from, Color color);

NormalizeCase random_normalize(Random &random, PixelFormat from, Color color, Size in, Size out);
/// Fills the factors of `params`, with one value or one for each channel.
void randomize_factors(Random &random, NormalizeCase &params);

std::string text_of(const ImageDesc &desc);
std::string text_of(const TensorDesc &desc);
/// Returns "" for the identity.
std::string text_of(Direction direction);
std::string text_of(const Source &source);
std::string text_of(const Resize &resize);
std::string text_of(const Yuv444Params &params);
std::string text_of(const LetterboxParams &params);
std::string text_of(const NormalizeCase &params);
std::string text_of(const HistogramParams &params);
std::string text_of(const PixelShuffleParams &params);
std::string text_of(const PixelShuffleToVideoParams &params);

}  // namespace cudatensor
