// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "oraclemath.h"

namespace cudatensor::oracle {
namespace {

float round_up_half(float x) { return std::floor(x + 0.5f); }

/// Returns the address of the first byte of a sample. Copies no strings and makes no lists, because the
/// tests call it for each sample.
template <class Byte>
Byte *find(const BasicImage<Byte> &image, char letter, int x, int y) {
  const Format &format = format_of(image.desc.format);
  const auto column = static_cast<size_t>(x);
  for (size_t plane = 0; plane < format.planes.size(); ++plane) {
    const std::string &letters = format.planes[plane];
    const size_t first = letters.find(letter), second = letters.rfind(letter);
    if (first == std::string::npos) continue;
    // Packed 4:2:2 has two lumas in its pattern.
    const size_t before = first == second
                              ? column * letters.size() + first
                              : column / 2 * letters.size() + (column % 2 == 0 ? first : second);
    return image.planes[plane].data + image.planes[plane].stride * y + before * format.bytes();
  }
  throw std::logic_error("no such component");
}

/// Returns the sample as a number.
int code(const ConstImage &image, char letter, int x, int y) {
  const Format &format = format_of(image.desc.format);
  const uint8_t *const at = find(image, letter, x, y);
  if (format.bits == 8) return *at;
  return ((at[0] + 256 * at[1]) >> format.shift) % (1 << format.bits);
}

}  // namespace

// ------------------------------------------------------------------------------------- formats

namespace {

const std::vector<std::pair<PixelFormat, Format>> &formats() {
  static const std::vector<std::pair<PixelFormat, Format>> all = {
      {PixelFormat::BGR, {"BGR", {"BGR"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::RGB, {"RGB", {"RGB"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::BGRx, {"BGRx", {"BGRx"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::RGBx, {"RGBx", {"RGBx"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::BGRA, {"BGRA", {"BGRA"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::RGBA, {"RGBA", {"RGBA"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::xBGR, {"xBGR", {"xBGR"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::xRGB, {"xRGB", {"xRGB"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::ABGR, {"ABGR", {"ABGR"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::ARGB, {"ARGB", {"ARGB"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::RGBP, {"RGBP", {"R", "G", "B"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::BGRP, {"BGRP", {"B", "G", "R"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::GBR, {"GBR", {"G", "B", "R"}, "RGB", 1, 1, 8, 0}},
      {PixelFormat::NV12, {"NV12", {"Y", "UV"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::NV21, {"NV21", {"Y", "VU"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::I420, {"I420", {"Y", "U", "V"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::YV12, {"YV12", {"Y", "V", "U"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::A420, {"A420", {"Y", "U", "V"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::AV12, {"AV12", {"Y", "UV"}, "YUV", 2, 2, 8, 0}},
      {PixelFormat::Y444, {"Y444", {"Y", "U", "V"}, "YUV", 1, 1, 8, 0}},
      {PixelFormat::NV24, {"NV24", {"Y", "UV"}, "YUV", 1, 1, 8, 0}},
      {PixelFormat::YUY2, {"YUY2", {"YUYV"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::UYVY, {"UYVY", {"UYVY"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::YVYU, {"YVYU", {"YVYU"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::Y42B, {"Y42B", {"Y", "U", "V"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::NV16, {"NV16", {"Y", "UV"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::NV61, {"NV61", {"Y", "VU"}, "YUV", 2, 1, 8, 0}},
      {PixelFormat::Y41B, {"Y41B", {"Y", "U", "V"}, "YUV", 4, 1, 8, 0}},
      {PixelFormat::P010_10LE, {"P010_10LE", {"Y", "UV"}, "YUV", 2, 2, 10, 6}},
      {PixelFormat::P012_LE, {"P012_LE", {"Y", "UV"}, "YUV", 2, 2, 12, 4}},
      {PixelFormat::P016_LE, {"P016_LE", {"Y", "UV"}, "YUV", 2, 2, 16, 0}},
      {PixelFormat::I420_10LE, {"I420_10LE", {"Y", "U", "V"}, "YUV", 2, 2, 10, 0}},
      {PixelFormat::A420_10LE, {"A420_10LE", {"Y", "U", "V"}, "YUV", 2, 2, 10, 0}},
      {PixelFormat::I420_12LE, {"I420_12LE", {"Y", "U", "V"}, "YUV", 2, 2, 12, 0}},
      {PixelFormat::I422_10LE, {"I422_10LE", {"Y", "U", "V"}, "YUV", 2, 1, 10, 0}},
      {PixelFormat::A422_10LE, {"A422_10LE", {"Y", "U", "V"}, "YUV", 2, 1, 10, 0}},
      {PixelFormat::I422_12LE, {"I422_12LE", {"Y", "U", "V"}, "YUV", 2, 1, 12, 0}},
      {PixelFormat::Y444_10LE, {"Y444_10LE", {"Y", "U", "V"}, "YUV", 1, 1, 10, 0}},
      {PixelFormat::A444_10LE, {"A444_10LE", {"Y", "U", "V"}, "YUV", 1, 1, 10, 0}},
      {PixelFormat::Y444_12LE, {"Y444_12LE", {"Y", "U", "V"}, "YUV", 1, 1, 12, 0}},
      {PixelFormat::Y444_16LE, {"Y444_16LE", {"Y", "U", "V"}, "YUV", 1, 1, 16, 0}},
      {PixelFormat::GRAY8, {"GRAY8", {"Y"}, "Y", 1, 1, 8, 0}},
      {PixelFormat::GRAY16_LE, {"GRAY16_LE", {"Y"}, "Y", 1, 1, 16, 0}},
  };
  return all;
}

}  // namespace

size_t number_of_formats() { return formats().size(); }

const Format &format_of(PixelFormat format) {
  static const std::vector<const Format *> by_number = [] {
    std::vector<const Format *> list(256, nullptr);
    for (const auto &[key, value] : formats()) list[static_cast<size_t>(key)] = &value;
    return list;
  }();
  const Format *const found = by_number.at(static_cast<size_t>(format));
  if (found == nullptr) throw std::logic_error("no such format");
  return *found;
}

PlaneSize plane_size(const ImageDesc &image, int plane) {
  const Format &format = format_of(image.format);
  const std::string &letters = format.planes[plane];
  const bool chroma = is_chroma(letters[0]) && letters.find('Y') == std::string::npos;
  const bool pairs = std::count(letters.begin(), letters.end(), 'Y') == 2;
  const int columns = rounded_up(image.width, pairs ? 2 : chroma ? format.across : 1);
  return {static_cast<size_t>(columns) * letters.size() * format.bytes(),
          rounded_up(image.height, chroma ? format.down : 1)};
}

uint8_t sample(const ConstImage &image, char letter, int x, int y) {
  return static_cast<uint8_t>(code(image, letter, x, y) >> (format_of(image.desc.format).bits - 8));
}

namespace {

/// Returns whether the range is 0-255, as it is for gray whatever its caps say.
bool is_full(const Format &format, ColorRange range) {
  return format.is_gray() || range == ColorRange::full;
}

}  // namespace

float level(const ConstImage &image, ColorRange range, char letter, int x, int y) {
  const Format &format = format_of(image.desc.format);
  const int bits = format.bits;
  const auto c = static_cast<float>(code(image, letter, x, y));
  if (bits == 8) return c;
  if (!is_full(format, range)) return c / static_cast<float>(1 << (bits - 8));
  const auto factor = static_cast<float>(255.0 / ((1 << bits) - 1));
  if (!is_chroma(letter)) return c * factor;
  const float product = (c - static_cast<float>(1 << (bits - 1))) * factor;
  return 128.0f + product;
}

double precise_level(const ConstImage &image, ColorRange range, char letter, int x, int y) {
  const Format &format = format_of(image.desc.format);
  const int bits = format.bits;
  const double c = code(image, letter, x, y);
  if (bits == 8) return c;
  if (!is_full(format, range)) return c / (1 << (bits - 8));
  const double full = 255.0 / ((1 << bits) - 1);
  return is_chroma(letter) ? 128.0 + (c - (1 << (bits - 1))) * full : c * full;
}

uint8_t *address(const Image &image, char letter, int x, int y) {
  return find(image, letter, x, y);
}

// ------------------------------------------------------------------------------------ geometry

namespace {

Placement place_affine(double src_w, double src_h, int dst_w, int dst_h, bool scale_up) {
  const double step_x = src_w / dst_w;
  const double step_y = src_h / dst_h;
  double step = step_x > step_y ? step_x : step_y;
  if (!scale_up && step < 1.0) step = 1.0;
  const double scale = 1.0 / step;
  const double tx = (dst_w - scale * src_w) / 2.0;
  const double ty = (dst_h - scale * src_h) / 2.0;
  const int left = static_cast<int>(std::max(0.0, std::floor(tx)));
  const int top = static_cast<int>(std::max(0.0, std::floor(ty)));
  const double right = std::min<double>(dst_w, std::ceil(tx + scale * src_w));
  const double bottom = std::min<double>(dst_h, std::ceil(ty + scale * src_h));
  return {step,
          scale,
          scale,
          tx,
          ty,
          left,
          top,
          static_cast<int>(right) - left,
          static_cast<int>(bottom) - top};
}

Placement place_content(double src_w, double src_h, int left, int top, int new_w, int new_h) {
  return {
      0.0, new_w / src_w, new_h / src_h, static_cast<double>(left), static_cast<double>(top), left,
      top, new_w,         new_h};
}

/// Places a picture as torchvision's Resize and CenterCrop do, or as the image processors of
/// Transformers.
Placement place_crop(bool torchvision, double src_w, double src_h, int dst_w, int dst_h,
                     int shortest_edge) {
  const int s = shortest_edge != 0 ? shortest_edge : std::max(dst_w, dst_h);
  int new_w = s, new_h = s;
  if (src_w < src_h)
    new_h = static_cast<int>(std::floor(s * src_h / src_w));
  else
    new_w = static_cast<int>(std::floor(s * src_w / src_h));
  const auto begin = [&](int resized, int kept) {
    return torchvision ? static_cast<int>(half_even((resized - kept) / 2.0)) : (resized - kept) / 2;
  };
  return place_content(src_w, src_h, -begin(new_w, dst_w), -begin(new_h, dst_h), new_w, new_h);
}

}  // namespace

Placement place(ResizeMode mode, double src_w, double src_h, int dst_w, int dst_h, bool scale_up,
                int shortest_edge) {
  if (mode == ResizeMode::torchvision || mode == ResizeMode::transformers)
    return place_crop(mode == ResizeMode::torchvision, src_w, src_h, dst_w, dst_h, shortest_edge);
  if (mode == ResizeMode::affine) return place_affine(src_w, src_h, dst_w, dst_h, scale_up);
  if (mode == ResizeMode::stretch) return place_content(src_w, src_h, 0, 0, dst_w, dst_h);
  double r = dst_h / src_h;
  if (dst_w / src_w < r) r = dst_w / src_w;
  if (!scale_up && r > 1.0) r = 1.0;
  const double new_w = std::max(1.0, half_even(src_w * r));
  const double new_h = std::max(1.0, half_even(src_h * r));
  const double dw = (dst_w - new_w) / 2.0;
  const double dh = (dst_h - new_h) / 2.0;
  const bool centered = mode == ResizeMode::ultralytics;
  return place_content(src_w, src_h, centered ? static_cast<int>(half_even(dw - 0.1)) : 0,
                       centered ? static_cast<int>(half_even(dh - 0.1)) : 0,
                       static_cast<int>(new_w), static_cast<int>(new_h));
}

// ------------------------------------------------------------------------------ sampling plans

Part::Part(double begin, double length, int picture)
    : begin(begin),
      length(length),
      picture(picture),
      first_(static_cast<int>(std::floor(begin))),
      count_(std::max(1, static_cast<int>(std::ceil(begin + length)) - first_)) {}

Axis x_axis(const Placement &p, const Resize &resize, Part src, int dst) {
  return {resize.mode, resize.method, src, dst, p.step, p.left, p.width};
}

Axis y_axis(const Placement &p, const Resize &resize, Part src, int dst) {
  return {resize.mode, resize.method, src, dst, p.step, p.top, p.height};
}

namespace {

constexpr Reading kPad = {0, 0, 0.0, 0.0};

bool in_content(const Axis &axis, int k) {
  return axis.offset <= k && k < axis.offset + axis.length;
}

/// Returns the position of output coordinate k, relative to the part's begin.
double position(const Axis &axis, int k) {
  if (axis.mode == ResizeMode::affine)
    return (k + 0.5 - axis.dst / 2.0) * axis.step + axis.src.length / 2.0 - 0.5;
  return (k - axis.offset + 0.5) * (axis.src.length / axis.length) - 0.5;
}

/// Returns the part of sample i's weight that lies in the picture. The affine mode does not repeat
/// the edge.
double weight_inside(const Axis &axis, double i, double weight) {
  const double last = axis.src.count() - 1.0;
  if (axis.mode == ResizeMode::affine && (i < 0.0 || i > last)) return 0.0;
  return axis.src.is_picture(static_cast<int>(limit(i, 0.0, last))) ? weight : 0.0;
}

double inside_of(const Axis &axis, int k) {
  if (axis.mode != ResizeMode::affine && !in_content(axis, k)) return 0.0;
  const double f = position(axis, k) + axis.src.rest();
  const double i0 = std::floor(f);
  const double w = f - i0;
  if (weight_inside(axis, i0, 1.0) > 0.0 && weight_inside(axis, i0 + 1.0, 1.0) > 0.0) return 1.0;
  return weight_inside(axis, i0, 1.0 - w) + weight_inside(axis, i0 + 1.0, w);
}

/// Limits a sample to `first` .. `last`, and to the picture's `length`.
int limit_sample(double i, int first, int last, int length) {
  return static_cast<int>(
      limit<double>(i, std::max(first, 0), std::min<double>(last, length - 1.0)));
}

/// Returns samples of the picture for samples of the part.
Reading between(double f, int first, int last, int length, double inside) {
  const double i0 = std::floor(f);
  return {limit_sample(first + i0, first, last, length),
          limit_sample(first + i0 + 1.0, first, last, length), f - i0, inside};
}

Reading read_nearest(const Axis &axis, int k) {
  const Part &src = axis.src;
  double i;
  if (axis.mode == ResizeMode::affine) {
    i = std::floor(position(axis, k) + src.rest() + 0.5);
    if (i < 0.0 || i > src.count() - 1.0) return kPad;
  } else if (!in_content(axis, k)) {
    return kPad;
  } else if (src.begin == src.first() && src.length == src.count()) {
    i = static_cast<double>((static_cast<int64_t>(k) - axis.offset) * src.count() / axis.length);
  } else {
    i = std::floor((k - axis.offset) * src.length / axis.length + src.rest());
    i = limit(i, 0.0, src.count() - 1.0);
  }
  if (!src.is_picture(static_cast<int>(i))) return kPad;
  const int sample = src.first() + static_cast<int>(i);
  return {sample, sample, 0.0, 1.0};
}

int rounded_down(int i, int each) { return (i - (i % each + each) % each) / each; }

}  // namespace

Reading read_luma(const Axis &axis, int k) {
  if (axis.method == Method::nearest) return read_nearest(axis, k);
  const double inside = inside_of(axis, k);
  if (inside == 0.0) return kPad;
  const Part &src = axis.src;
  return between(position(axis, k) + src.rest(), src.first(), src.first() + src.count() - 1,
                 src.picture, inside);
}

Reading read_chroma(const Axis &axis, int k, bool cosited, int each, bool backwards) {
  const Part &src = axis.src;
  const int samples = rounded_up(src.picture, each);
  if (axis.method == Method::nearest) {
    const Reading luma = read_nearest(axis, k);
    const int i = backwards ? samples - 1 - (src.picture - 1 - luma.i0) / each : luma.i0 / each;
    return {i, i, 0.0, luma.inside};
  }
  const double inside = inside_of(axis, k);
  if (inside == 0.0) return kPad;
  if (backwards) {
    // The chroma samples that the part's first and last samples belong to.
    const auto of = [&](int luma) {
      return samples - 1 - rounded_down(src.picture - 1 - luma, each);
    };
    const double d = src.picture + each - 1 - each * samples - (cosited ? 0.0 : (each - 1) / 2.0);
    const int first = of(src.first()), last = of(src.first() + src.count() - 1);
    // Relative to the first sample, so that a part equals a picture of it.
    const double fc = (position(axis, k) + (src.begin - (d + each * first))) / each;
    return between(fc, first, last, samples, inside);
  }
  const int first = rounded_down(src.first(), each),
            last = rounded_down(src.first() + src.count() - 1, each);
  const double f = position(axis, k) + (src.begin - each * first);
  const double fc = cosited ? f / each : (f + 0.5) / each - 0.5;
  return between(fc, first, last, rounded_up(src.picture, each), inside);
}

// -------------------------------------------------------------------------------------- colour

namespace {

struct Weights {
  double r, b;
};

Weights weights_of(ColorMatrix matrix) {
  if (matrix == ColorMatrix::bt601) return {0.299, 0.114};
  if (matrix == ColorMatrix::bt709) return {0.2126, 0.0722};
  return {0.2627, 0.0593};
}

}  // namespace

Factors factors_of(Colorimetry colorimetry) {
  const double kr = weights_of(colorimetry.matrix).r, kb = weights_of(colorimetry.matrix).b;
  double ky = 1.0, y0 = 0.0, c = 1.0;
  if (colorimetry.range == ColorRange::limited) {
    ky = 255.0 / 219.0;
    y0 = -16.0 * ky;
    c = 255.0 / 224.0;
  }
  return {ky,
          y0,
          2.0 * (1.0 - kr) * c,
          -2.0 * (1.0 - kb) * kb / (1.0 - kr - kb) * c,
          -2.0 * (1.0 - kr) * kr / (1.0 - kr - kb) * c,
          2.0 * (1.0 - kb) * c};
}

float gray_from_luma(Colorimetry colorimetry, float y) {
  const Factors k = factors_of(colorimetry);
  return limit(std::fma(single(k.ky), y, single(k.y0)), 0.0f, 255.0f);
}

Triple rgb_from_yuv(Colorimetry colorimetry, Triple yuv) {
  const Factors k = factors_of(colorimetry);
  const float yy = std::fma(single(k.ky), yuv[0], single(k.y0));
  const float u = yuv[1] - 128.0f, v = yuv[2] - 128.0f;
  const float r = std::fma(single(k.krv), v, yy);
  const float g = std::fma(single(k.kgu), u, std::fma(single(k.kgv), v, yy));
  const float b = std::fma(single(k.kbu), u, yy);
  return {limit(r, 0.0f, 255.0f), limit(g, 0.0f, 255.0f), limit(b, 0.0f, 255.0f)};
}

PreciseTriple precise_rgb_from_yuv(Colorimetry colorimetry, PreciseTriple yuv) {
  const Weights k = weights_of(colorimetry.matrix);
  const bool full = colorimetry.range == ColorRange::full;
  // The standards' variables: luma 0..1, colour differences -0.5..0.5.
  const double luma = full ? yuv[0] / 255.0 : (yuv[0] - 16.0) / 219.0;
  const double cb = (yuv[1] - 128.0) / (full ? 255.0 : 224.0);
  const double cr = (yuv[2] - 128.0) / (full ? 255.0 : 224.0);
  const double r = luma + 2.0 * (1.0 - k.r) * cr;
  const double b = luma + 2.0 * (1.0 - k.b) * cb;
  const double g = (luma - k.r * r - k.b * b) / (1.0 - k.r - k.b);
  return {limit(255.0 * r, 0.0, 255.0), limit(255.0 * g, 0.0, 255.0), limit(255.0 * b, 0.0, 255.0)};
}

float gray_from_rgb(Triple rgb) {
  return std::fma(0.299f, rgb[0], std::fma(0.587f, rgb[1], 0.114f * rgb[2]));
}

// ------------------------------------------------------------------------------------ sampling

namespace {

/// Returns the part of a seen picture's axis that a region of the stored picture covers.
Part across_of(const Seen &in, const std::optional<Region> &region) {
  if (!region) return {0.0, static_cast<double>(in.width()), in.width()};
  return {in.region(*region).x, in.region(*region).width, in.width()};
}

Part down_of(const Seen &in, const std::optional<Region> &region) {
  if (!region) return {0.0, static_cast<double>(in.height()), in.height()};
  return {in.region(*region).y, in.region(*region).height, in.height()};
}

}  // namespace

Resampler::Resampler(const ConstImage &in, const Source &source, const Resize &resize, Color color,
                     int dst_w, int dst_h, const std::optional<Region> &region)
    : Resampler(in, source, resize, color, dst_w, dst_h,
                across_of(Seen(in, source.direction), region),
                down_of(Seen(in, source.direction), region)) {}

Resampler::Resampler(const ConstImage &in, const Source &source, const Resize &resize, Color color,
                     int dst_w, int dst_h, Part across, Part down)
    : in_(in, source.direction), source_(source), resize_(resize), color_(color) {
  const Placement p = place(resize.mode, across.length, down.length, dst_w, dst_h, resize.scale_up,
                            resize.shortest_edge);
  x_ = x_axis(p, resize, across, dst_w);
  y_ = y_axis(p, resize, down, dst_h);
}

Reading Resampler::column(char letter, int x) const {
  if (in_.across() == 1 || !is_chroma(letter)) return read_luma(x_, x);
  return read_chroma(x_, x, in_.is_turned() ? source_.cosited_y : source_.cosited_x, in_.across(),
                     in_.is_backwards_x());
}

Reading Resampler::row(char letter, int y) const {
  if (in_.down() == 1 || !is_chroma(letter)) return read_luma(y_, y);
  return read_chroma(y_, y, in_.is_turned() ? source_.cosited_x : source_.cosited_y, in_.down(),
                     in_.is_backwards_y());
}

float Resampler::sampled(char letter, int x, int y) const {
  return blended(column(letter, x), row(letter, y),
                 [&](int i, int j) { return in_.level(source_.colorimetry.range, letter, i, j); });
}

double Resampler::precise_sampled(char letter, int x, int y) const {
  const Reading column = this->column(letter, x), row = this->row(letter, y);
  const auto p = [&](int i, int j) {
    return in_.precise_level(source_.colorimetry.range, letter, i, j);
  };
  return (1.0 - column.w) * (1.0 - row.w) * p(column.i0, row.i0) +
         column.w * (1.0 - row.w) * p(column.i1, row.i0) +
         (1.0 - column.w) * row.w * p(column.i0, row.i1) + column.w * row.w * p(column.i1, row.i1);
}

Triple Resampler::converted(int x, int y) const {
  const Format &format = in_.format();
  const char *const letters = format.components.c_str();
  const float first = sampled(letters[0], x, y);
  if (format.is_gray()) return {first, first, first};
  if (format.is_yuv() && color_ == Color::gray)
    return {gray_from_luma(source_.colorimetry, first), 0.0f, 0.0f};
  const Triple all = {first, sampled(letters[1], x, y), sampled(letters[2], x, y)};
  if (format.is_rgb()) return color_ == Color::gray ? Triple{gray_from_rgb(all)} : all;
  return color_ == Color::yuv ? all : rgb_from_yuv(source_.colorimetry, all);
}

PreciseTriple Resampler::precise_converted(int x, int y) const {
  const Format &format = in_.format();
  const char *const letters = format.components.c_str();
  const double first = precise_sampled(letters[0], x, y);
  if (format.is_gray()) return {first, first, first};
  // Without chroma, all three components are the grey.
  if (format.is_yuv() && color_ == Color::gray)
    return precise_rgb_from_yuv(source_.colorimetry, {first, 128.0, 128.0});
  const PreciseTriple all = {first, precise_sampled(letters[1], x, y),
                             precise_sampled(letters[2], x, y)};
  if (format.is_rgb())
    return color_ == Color::gray ? PreciseTriple{0.299 * all[0] + 0.587 * all[1] + 0.114 * all[2]}
                                 : all;
  return color_ == Color::yuv ? all : precise_rgb_from_yuv(source_.colorimetry, all);
}

float Resampler::pad(int component) const {
  return color_ == Color::yuv && component > 0 ? 128.0f : static_cast<float>(resize_.pad_value);
}

bool Resampler::is_pad(int x, int y) const {
  return read_luma(x_, x).inside == 0.0 || read_luma(y_, y).inside == 0.0;
}

Triple Resampler::at(int x, int y) const {
  const float win = single(read_luma(x_, x).inside) * single(read_luma(y_, y).inside);
  if (win == 0.0f) return {pad(0), pad(1), pad(2)};
  Triple v = converted(x, y);
  if (win == 1.0f) return v;
  for (int c = 0; c < 3; ++c) v[c] = std::fma(win, v[c] - pad(c), pad(c));
  return v;
}

PreciseTriple Resampler::precise(int x, int y) const {
  const double win = read_luma(x_, x).inside * read_luma(y_, y).inside;
  PreciseTriple v = precise_converted(x, y);
  for (int c = 0; c < 3; ++c) v[c] = win * v[c] + (1.0 - win) * pad(c);
  return v;
}

// ----------------------------------------------------------------------------------- letterbox

namespace {

/// Components of output pixels, antialiased or not.
class Components {
 public:
  template <class... Args>
  Components(const ConstImage &in, const Source &source, const Resize &resize, Args... rest) {
    if (resize.antialias)
      filtered_.emplace(in, source, resize, rest...);
    else
      resampled_.emplace(in, source, resize, rest...);
  }

  Triple at(int x, int y) const { return filtered_ ? filtered_->at(x, y) : resampled_->at(x, y); }
  bool is_pad(int x, int y) const {
    return filtered_ ? filtered_->is_pad(x, y) : resampled_->is_pad(x, y);
  }

 private:
  std::optional<Filtered> filtered_;
  std::optional<Resampler> resampled_;
};

}  // namespace

void letterbox(const LetterboxParams &p, const ConstImage &in, const Image &out) {
  const Format &format = format_of(out.desc.format);
  const Components components(in, p.source, p.resize, format.is_gray() ? Color::gray : Color::rgb,
                              out.desc.width, out.desc.height);
  for (int y = 0; y < out.desc.height; ++y) {
    for (int x = 0; x < out.desc.width; ++x) {
      const Triple v = components.at(x, y);
      for (const std::string &plane : format.planes)
        for (const char letter : plane) {
          const size_t c = format.components.find(letter);
          *address(out, letter, x, y) =
              c == std::string::npos ? 255 : static_cast<uint8_t>(round_up_half(v[c]));
        }
    }
  }
}

// ------------------------------------------------------------------------- fixed-point resize

namespace {

/// The two samples that one coordinate reads, before they are limited to the picture.
struct FixedReading {
  int64_t at;
  int64_t w;
};

FixedReading read_fixed(Part src, int resized, int64_t k) {
  const int64_t one = int64_t{1} << 18;
  const int64_t scale = std::llround(src.length * 262144.0) / resized;
  const int64_t x = k * scale + scale / 2 - one / 2 + std::llround(src.rest() * 262144.0);
  const int64_t w = ((x % one) + one) % one;
  return {(x - w) / one, w};
}

/// Returns the picture's sample for sample i of a part, whose edges repeat.
int sample_of(Part part, int64_t i) {
  return part.first() + static_cast<int>(limit<int64_t>(i, 0, part.count() - 1));
}

}  // namespace

uint8_t fixed_sample(const Seen &in, char letter, Part across, Part down, int resize_w,
                     int resize_h, int x, int y) {
  const FixedReading column = read_fixed(across, resize_w, x);
  const FixedReading row = read_fixed(down, resize_h, y);
  const int64_t one = 262144;
  const auto blended_row = [&](int64_t at) {
    const int j = sample_of(down, at);
    const auto column_at = [&](int64_t i) {
      return int64_t{in.replicated(letter, sample_of(across, i), j)};
    };
    const int64_t sum =
        column_at(column.at) * (one - column.w) + column_at(column.at + 1) * column.w;
    return (sum + 4096) / 8192;
  };
  const int64_t sum = blended_row(row.at) * (one - row.w) + blended_row(row.at + 1) * row.w;
  return static_cast<uint8_t>((sum + 4194304) / 8388608);
}

void yuv444(const Yuv444Params &p, const ConstImage &image, const Image &out) {
  const Seen in(image, p.direction);
  const Part across = across_of(in, {}), down = down_of(in, {});
  for (int y = 0; y < out.desc.height; ++y)
    for (int x = 0; x < out.desc.width; ++x)
      for (const char letter : {'Y', 'U', 'V'})
        *address(out, letter, x, y) = fixed_sample(in, letter, across, down, p.resize_width,
                                                   p.resize_height, p.crop_x + x, p.crop_y + y);
}

// ----------------------------------------------------------------------------------- normalise

namespace {

double of_channel(const std::vector<double> &list, int channel) {
  return list.size() == 1 ? list.front() : list.at(static_cast<size_t>(channel));
}

void store(const Tensor &out, int64_t index, float x) {
  auto *const bytes = static_cast<uint8_t *>(out.data);
  switch (out.desc.dtype) {
    case DType::float32: std::memcpy(bytes + 4 * index, &x, 4); break;
    case DType::float16: {
      const uint16_t bits = half_from(x);
      std::memcpy(bytes + 2 * index, &bits, 2);
      break;
    }
    case DType::bfloat16: {
      const uint16_t bits = bfloat16_from(x);
      std::memcpy(bytes + 2 * index, &bits, 2);
      break;
    }
    case DType::uint8:
      bytes[index] = static_cast<uint8_t>(limit(round_up_half(x), 0.0f, 255.0f));
      break;
    case DType::int8:
      bytes[index] =
          static_cast<uint8_t>(static_cast<int8_t>(limit(round_up_half(x), -128.0f, 127.0f)));
      break;
  }
}

/// Returns grey, R G B or Y U V of an output pixel by the fixed-point or the float path.
Triple components_at(const NormalizeCase &p, const Components &components, const Seen &in, int x,
                     int y) {
  if (!takes_fixed_path(p)) return components.at(x, y);
  Triple v;
  for (int c = 0; c < 3; ++c)
    v[c] = fixed_sample(in, "YUV"[c], across_of(in, p.region), down_of(in, p.region),
                        static_cast<int>(p.out.w), static_cast<int>(p.out.h), x, y);
  return v;
}

}  // namespace

bool takes_fixed_path(const NormalizeCase &p) {
  return p.color == Color::yuv && format_of(p.source.image.format).bits == 8 &&
         p.resize.mode == ResizeMode::stretch && p.resize.method == Method::bilinear &&
         !p.pad_outside;
}

Affine affine_of(const NormalizeCase &p, int channel) {
  if (p.normalization == Normalization::alpha_beta)
    return {of_channel(p.alpha, channel), of_channel(p.beta, channel)};
  double scale = p.scale;
  if (scale == 0.0)
    scale = p.out.dtype == DType::uint8 || p.out.dtype == DType::int8 ? 1.0 : 1.0 / 255.0;
  const double std = of_channel(p.std, channel);
  return {scale / std, -of_channel(p.mean, channel) / std};
}

int64_t index_of(const TensorDesc &d, int64_t n, int64_t c, int64_t h, int64_t w) {
  if (d.layout == Layout::nchw) return n * d.c * d.h * d.w + c * d.h * d.w + h * d.w + w;
  if (d.layout == Layout::ncthw) {
    const int64_t frames = d.clip > 0 ? d.clip : d.n;
    return ((c * frames + n) * d.h + h) * d.w + w;
  }
  return n * d.c * d.h * d.w + h * d.w * d.c + w * d.c + c;
}

void normalize(const NormalizeCase &p, const ConstImage &in, const Tensor &out) {
  const auto width = static_cast<int>(p.out.w), height = static_cast<int>(p.out.h);
  const Components components(in, p.source, p.resize, p.color, width, height, p.region);
  const Seen seen(in, p.source.direction);
  std::optional<Warped> warped;
  if (p.matrix) warped.emplace(in, p);
  std::vector<Affine> affine;
  for (int c = 0; c < p.out.c; ++c) affine.push_back(affine_of(p, c));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Triple v = warped ? warped->at(x, y) : components_at(p, components, seen, x, y);
      const bool zero =
          !warped && p.pad_normalized && !takes_fixed_path(p) && components.is_pad(x, y);
      for (int c = 0; c < p.out.c; ++c) {
        float component = v[p.color == Color::bgr ? 2 - c : c];
        if (p.round) component = limit(round_up_half(component), 0.0f, 255.0f);
        store(out, index_of(p.out, 0, c, y, x),
              zero ? 0.0f : std::fma(single(affine[c].a), component, single(affine[c].b)));
      }
    }
  }
}

// ----------------------------------------------------------------------------------- histogram

uint8_t luminance(uint8_t r, uint8_t g, uint8_t b) {
  // A product or sum of two float32 that is computed in double and rounded to float32 equals
  // float32 arithmetic. This gives five roundings, even if the compiler fuses operations.
  const auto product = [](float k, uint8_t x) { return single(static_cast<double>(k) * x); };
  const auto sum = [](float x, float y) {
    return single(static_cast<double>(x) + static_cast<double>(y));
  };
  const float first = sum(product(0.299f, r), product(0.587f, g));
  return static_cast<uint8_t>(std::trunc(sum(first, product(0.114f, b))));
}

void histogram(const HistogramParams &p, const ConstImage &in, Bins &bins) {
  const bool rgb = format_of(in.desc.format).is_rgb();
  for (int y = p.roi.y; y < p.roi.y + p.roi.height; ++y)
    for (int x = p.roi.x; x < p.roi.x + p.roi.width; ++x)
      ++bins[rgb ? luminance(sample(in, 'R', x, y), sample(in, 'G', x, y), sample(in, 'B', x, y))
                 : sample(in, 'Y', x, y)];
}

HistogramStatistics statistics(const Bins &bins) {
  std::vector<unsigned> all;  // values of all pixels, sorted
  for (unsigned i = 0; i < 256; ++i) all.insert(all.end(), bins[i], i);
  HistogramStatistics s = {};
  if (all.empty()) return s;
  s.pixels = all.size();
  long double sum = 0, squares = 0;
  for (const unsigned value : all) sum += value;
  const long double mean = sum / all.size();
  for (const unsigned value : all) squares += (value - mean) * (value - mean);
  s.mean = static_cast<double>(mean);
  s.stddev = static_cast<double>(std::sqrt(squares / all.size()));
  s.min = all.front();
  s.max = all.back();
  // Returns the first value up to which there are ceil(p·N/100) pixels.
  const auto percentile = [&](size_t p) { return all[(p * all.size() + 99) / 100 - 1]; };
  s.median = percentile(50);
  s.p1 = percentile(1);
  s.p5 = percentile(5);
  s.p95 = percentile(95);
  s.p99 = percentile(99);
  return s;
}

// -------------------------------------------------------------------------------- pixel shuffle

double element(const ConstTensor &tensor, int64_t index) {
  const auto *const bytes = static_cast<const uint8_t *>(tensor.data);
  switch (tensor.desc.dtype) {
    case DType::float32: {
      float x;
      std::memcpy(&x, bytes + 4 * index, 4);
      return x;
    }
    case DType::float16: {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * index, 2);
      return from_half(bits);
    }
    case DType::bfloat16: {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * index, 2);
      return from_bfloat16(bits);
    }
    case DType::uint8: return bytes[index];
    case DType::int8: return static_cast<int8_t>(bytes[index]);
  }
  throw std::logic_error("no such type");
}

namespace {

/// Calls `move(from, c, y, x)` for every element: its index in the input and its place in the
/// output of batch `n`.
template <class Move>
void scatter(const TensorDesc &in, int64_t r, int64_t n, const Move &move) {
  int64_t from = n * in.c * in.h * in.w;
  for (int64_t channel = 0; channel < in.c; ++channel)
    for (int64_t h = 0; h < in.h; ++h)
      for (int64_t w = 0; w < in.w; ++w, ++from) {
        const int64_t c = channel / (r * r), rest = channel % (r * r);
        move(from, c, h * r + rest / r, w * r + rest % r);
      }
}

uint8_t video_sample(double x, const PixelShuffleToVideoParams &p) {
  double scale = p.scale;
  if (scale == 0.0) scale = p.in.dtype == DType::uint8 ? 1.0 : 255.0;
  const float v = round_up_half(std::fma(single(x), single(scale), single(p.offset)));
  return std::isnan(v) ? 0 : static_cast<uint8_t>(limit(v, 0.0f, 255.0f));
}

size_t bytes_of(DType type) {
  if (type == DType::float32) return 4;
  return type == DType::float16 ? 2 : 1;
}

}  // namespace

void pixelshuffle(const PixelShuffleParams &p, const ConstTensor &in, const Tensor &out) {
  const int64_t r = p.factor;
  const size_t size = bytes_of(p.in.dtype);
  const auto *const source = static_cast<const uint8_t *>(in.data);
  auto *const target = static_cast<uint8_t *>(out.data);
  for (int64_t n = 0; n < p.in.n; ++n)
    scatter(p.in, r, n, [&](int64_t from, int64_t c, int64_t y, int64_t x) {
      const int64_t to = ((n * (p.in.c / (r * r)) + c) * p.in.h * r + y) * p.in.w * r + x;
      std::memcpy(target + to * size, source + from * size, size);
    });
}

void pixelshuffle(const PixelShuffleToVideoParams &p, const ConstTensor &in, const Image &out) {
  const Format &format = format_of(out.desc.format);
  scatter(p.in, p.factor, 0, [&](int64_t from, int64_t c, int64_t y, int64_t x) {
    *address(out, format.components[c], static_cast<int>(x), static_cast<int>(y)) =
        video_sample(element(in, from), p);
  });
}

}  // namespace cudatensor::oracle
