// SPDX-License-Identifier: LGPL-2.1-or-later
#include "params.h"

#include <algorithm>
#include <sstream>

#include "oracle.h"

namespace cudatensor {

const std::vector<ResizeMode> kModes = {ResizeMode::stretch, ResizeMode::affine,
                                        ResizeMode::ultralytics, ResizeMode::top_left};
const std::vector<Method> kMethods = {Method::bilinear, Method::nearest};
const std::vector<ResizeMode> kCrops = {ResizeMode::torchvision, ResizeMode::transformers};
const std::vector<Method> kFilters = {Method::box, Method::bilinear, Method::bicubic,
                                      Method::lanczos};
const std::vector<ColorMatrix> kMatrices = {ColorMatrix::bt601, ColorMatrix::bt709,
                                            ColorMatrix::bt2020};
const std::vector<ColorRange> kRanges = {ColorRange::limited, ColorRange::full};
const std::vector<Color> kColors = {Color::rgb, Color::bgr, Color::gray, Color::yuv};
const std::vector<DType> kTypes = {DType::float32, DType::float16, DType::bfloat16, DType::uint8,
                                   DType::int8};
const std::vector<Layout> kLayouts = {Layout::nchw, Layout::nhwc, Layout::ncthw};
const std::vector<Normalization> kNormalizations = {Normalization::mean_std,
                                                    Normalization::alpha_beta};
const std::vector<bool> kBools = {false, true};
const std::vector<Direction> kDirections = {
    Direction::identity,         Direction::clockwise,     Direction::half_turn,
    Direction::counterclockwise, Direction::horizontal,    Direction::vertical,
    Direction::main_diagonal,    Direction::anti_diagonal,
};

namespace {

int random_length(Random &random) {
  const int kind = random.integer(1, 100);
  if (kind <= 40) return random.integer(1, 8);
  if (kind <= 85) return random.integer(1, 40);
  return random.integer(1, 130);
}

template <class T>
const char *name_in(const std::vector<const char *> &names, T value) {
  return names.at(static_cast<size_t>(value));
}

std::string text_of(const std::vector<double> &list) {
  std::ostringstream text;
  text.precision(17);
  for (const double value : list) text << (text.tellp() == 0 ? "<" : ",") << value;
  return text.str() + ">";
}

std::string text_of(const Rect &rect) {
  std::ostringstream text;
  text << "<" << rect.x << "," << rect.y << "," << rect.width << "," << rect.height << ">";
  return text.str();
}

}  // namespace

Size random_size(Random &random) {
  Size size = {random_length(random), random_length(random)};
  if (random.chance(4)) size = {random.integer(1, 700), random.integer(1, 3)};
  if (random.chance(4)) size = {random.integer(1, 3), random.integer(1, 700)};
  return size;
}

const std::vector<std::pair<Size, Size>> kLongest = {
    {{32767, 2}, {32767, 2}}, {{32767, 2}, {7, 5}},    {{2, 32767}, {2, 32767}},
    {{2, 32767}, {7, 5}},     {{5, 3}, {32767, 2}},    {{5, 3}, {2, 32767}},
    {{1, 1}, {32767, 1}},     {{32767, 1}, {1, 32767}}};

const std::vector<Size> kSeeds = {{1, 1}, {2, 2}, {1, 9}, {9, 1}, {5, 3}, {3, 2}, {97, 61}};
const std::vector<double> kRatios = {1.01, 1.5, 2.0, 2.67, 7.0, 100.0};

Size enlarged(Random &random, Size seed, double ratio) {
  const auto length = [&](int from, int most) {
    const int to = static_cast<int>(from * ratio + 0.5) + (random.chance(50) ? 0 : 1) * 7;
    return std::clamp(to + random.integer(0, 3), 1, std::max(from, most));
  };
  const int width = length(seed.width, 150), height = length(seed.height, 110);
  return {width, height};
}

Resize random_resize(Random &random) {
  Resize resize;
  resize.mode = random.pick(kModes);
  resize.method = random.pick(kMethods);
  resize.pad_value = random.chance(50) ? 114 : random.integer(0, 255);
  resize.scale_up = random.chance(70);
  return resize;
}

Resize random_filter(Random &random) {
  Resize resize = random_resize(random);
  resize.mode =
      random.pick<ResizeMode>({ResizeMode::stretch, ResizeMode::ultralytics, ResizeMode::top_left});
  resize.method = random.pick(kFilters);
  resize.antialias = true;
  return resize;
}

void make_crop(Random &random, Resize &resize, Size in, Size out) {
  const int least = std::max(out.width, out.height);
  // A longer shortest edge would make the longer edge too long.
  const int most = 32767 / (std::max(in.width, in.height) / std::min(in.width, in.height) + 1);
  if (most < least) return;
  resize.mode = random.pick(kCrops);
  const int edge = std::min(least + random.integer(0, 40), most);
  resize.shortest_edge = edge == least && random.chance(50) ? 0 : edge;
}

Source random_source(Random &random, PixelFormat format, Size size) {
  Source source = {};
  source.image = {format, size.width, size.height};
  source.colorimetry = {random.pick(kMatrices), random.pick(kRanges)};
  source.cosited_x = random.chance(50);
  source.cosited_y = random.chance(50);
  if (random.chance(40)) source.direction = random.pick(kDirections);
  return source;
}

Rect random_rect(Random &random, int width, int height) {
  if (random.chance(20)) return {0, 0, width, height};
  const int x = random.integer(0, width - 1), y = random.integer(0, height - 1);
  return {x, y, random.integer(1, width - x), random.integer(1, height - y)};
}

bool is_possible(PixelFormat from, Color color) {
  return color != Color::yuv || oracle::format_of(from).is_yuv();
}

namespace {

std::vector<double> random_list(Random &random, size_t channels, double low, double high) {
  std::vector<double> list(random.chance(40) ? 1 : channels);
  for (double &value : list) value = random.real(low, high);
  return list;
}

/// Returns the range of factors. For float16 and integers, some results exceed the type.
double range_of(Random &random, DType type) {
  if (type == DType::float16 && random.chance(30)) return 1000.0;
  return type == DType::uint8 || type == DType::int8 ? 3.0 : 0.05;
}

}  // namespace

void randomize_factors(Random &random, NormalizeCase &p) {
  const auto channels = static_cast<size_t>(p.out.c);
  const double range = range_of(random, p.out.dtype);
  p.mean = random_list(random, channels, -2.0, 150.0);
  p.std = random_list(random, channels, 0.1, 70.0);
  for (double &std : p.std) std = random.chance(10) ? -std : std;
  p.scale = random.chance(40) ? 0.0 : random.real(-range, range);
  p.alpha = random_list(random, channels, -range, range);
  p.beta = random_list(random, channels, -100.0 * range, 200.0 * range);
}

NormalizeCase random_normalize(Random &random, PixelFormat from, Color color, Size in, Size out) {
  NormalizeCase p = {};
  p.source = random_source(random, from, in);
  p.resize = random_resize(random);
  p.color = color;
  p.out = {random.pick(kTypes),
           random.pick(kLayouts),
           1,
           color == Color::gray ? 1 : 3,
           out.height,
           out.width};
  p.normalization = random.pick(kNormalizations);
  p.round = random.chance(40);
  if (random.chance(80)) randomize_factors(random, p);
  return p;
}

// ----------------------------------------------------------------------------------------- text

std::string text_of(const ImageDesc &desc) {
  return std::string(oracle::format_of(desc.format).name) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height);
}

std::string text_of(const TensorDesc &desc) {
  std::ostringstream text;
  text << name_in({"float32", "float16", "uint8", "int8", "bfloat16"}, desc.dtype) << " "
       << name_in({"nchw", "nhwc", "ncthw"}, desc.layout) << " " << desc.n << "x" << desc.c << "x"
       << desc.h << "x" << desc.w;
  return text.str();
}

std::string text_of(Direction direction) {
  if (direction == Direction::identity) return "";
  return std::string(" ") +
         name_in({"identity", "90r", "180", "90l", "horiz", "vert", "ul-lr", "ur-ll"}, direction);
}

std::string text_of(const Source &source) {
  return text_of(source.image) + " " +
         name_in({"bt601", "bt709", "bt2020"}, source.colorimetry.matrix) + " " +
         name_in({"limited", "full"}, source.colorimetry.range) +
         (source.cosited_x ? " cosited-x" : "") + (source.cosited_y ? " cosited-y" : "") +
         text_of(source.direction);
}

std::string text_of(const Resize &resize) {
  return std::string(name_in(
             {"stretch", "affine", "ultralytics", "top-left", "torchvision", "transformers"},
             resize.mode)) +
         " " + name_in({"bilinear", "nearest", "box", "bicubic", "lanczos"}, resize.method) +
         (resize.antialias ? " antialias" : "") + " pad=" + std::to_string(resize.pad_value) +
         (resize.scale_up ? "" : " no-scale-up") +
         (resize.shortest_edge != 0 ? " shortest-edge=" + std::to_string(resize.shortest_edge)
                                    : "");
}

std::string text_of(const Yuv444Params &p) {
  std::ostringstream text;
  text << "yuv444: " << text_of(p.in) << " -> " << p.resize_width << "x" << p.resize_height
       << ", crop " << p.crop_x << "," << p.crop_y << " -> " << text_of(p.out)
       << text_of(p.direction);
  return text.str();
}

std::string text_of(const LetterboxParams &p) {
  return "letterbox: " + text_of(p.source) + ", " + text_of(p.resize) + " -> " + text_of(p.out);
}

std::string text_of(const NormalizeCase &p) {
  std::ostringstream text;
  text.precision(17);
  text << "normalize: " << text_of(p.source) << ", " << text_of(p.resize) << ", "
       << name_in({"rgb", "bgr", "gray", "yuv"}, p.color) << " -> " << text_of(p.out)
       << (p.round ? " rounded" : "") << (p.pad_normalized ? " pad-normalized" : "")
       << (p.pad_outside ? " beyond is pad" : "");
  if (p.region)
    text << " region " << p.region->x << "," << p.region->y << " " << p.region->width << "x"
         << p.region->height;
  if (p.matrix) {
    text << " matrix";
    for (const double each : *p.matrix) text << " " << each;
    text << (p.repeat_edge ? " repeat" : "");
  }
  if (p.normalization == Normalization::mean_std)
    text << " scale=" << p.scale << " mean=" << text_of(p.mean) << " std=" << text_of(p.std);
  else
    text << " alpha=" << text_of(p.alpha) << " beta=" << text_of(p.beta);
  return text.str();
}

std::string text_of(const HistogramParams &p) {
  return "histogram: " + text_of(p.in) + " roi " + text_of(p.roi);
}

std::string text_of(const PixelShuffleParams &p) {
  return "pixelshuffle: " + text_of(p.in) + " factor " + std::to_string(p.factor);
}

std::string text_of(const PixelShuffleToVideoParams &p) {
  std::ostringstream text;
  text.precision(17);
  text << "pixelshuffle: " << text_of(p.in) << " factor " << p.factor << " scale " << p.scale
       << " offset " << p.offset << " -> " << text_of(p.out);
  return text.str();
}

}  // namespace cudatensor
