// SPDX-License-Identifier: LGPL-2.1-or-later
// A second implementation of the kernels, directly from the formulas: one output pixel after the
// other, without plans, slow. It shares only argument structures with the kernels, so both are
// unlikely to have the same bug.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor::oracle {

/// A pixel format as the letters of its planes in memory order: a letter's position is its
/// sample's. A plane of packed 4:2:2 has two lumas. Alpha planes are left out.
struct Format {
  const char *name;
  std::vector<std::string> planes;  ///< "BGRx"; "Y", "UV"; …
  std::string components;           ///< "RGB", "YUV" or "Y"
  int across, down;                 ///< luma samples per chroma sample, along x and y
  int bits, shift;                  ///< bits of a sample, and unused bits below it

  int bytes() const { return bits > 8 ? 2 : 1; }
  bool is_yuv() const { return components == "YUV"; }
  bool is_rgb() const { return components == "RGB"; }
  bool is_gray() const { return components == "Y"; }
};

const Format &format_of(PixelFormat format);
size_t number_of_formats();

struct PlaneSize {
  size_t row_bytes;
  int rows;
};

PlaneSize plane_size(const ImageDesc &image, int plane);

/// Returns the sample of component `letter` at column `x` and row `y` of its own grid: the upper
/// eight bits if it has more.
uint8_t sample(const ConstImage &image, char letter, int x, int y);
/// Returns the sample scaled to eight bits, unrounded.
float level(const ConstImage &image, ColorRange range, char letter, int x, int y);
double precise_level(const ConstImage &image, ColorRange range, char letter, int x, int y);

/// Returns the address of that sample in a picture of eight bits.
uint8_t *address(const Image &image, char letter, int x, int y);

/// A picture in its direction. Positions of samples are those of the seen picture; a component that
/// is subsampled has a grid of its own.
class Seen {
 public:
  Seen(const ConstImage &image, Direction direction);

  const Format &format() const { return format_; }
  int width() const { return turned_ ? image_.desc.height : image_.desc.width; }
  int height() const { return turned_ ? image_.desc.width : image_.desc.height; }
  /// Luma samples for each chroma sample along the axes.
  int across() const { return turned_ ? format_.down : format_.across; }
  int down() const { return turned_ ? format_.across : format_.down; }
  /// Whether an axis runs against that of the stored picture.
  bool is_backwards_x() const;
  bool is_backwards_y() const;
  bool is_turned() const { return turned_; }
  /// Returns a region of the stored picture as a region of the seen one.
  Region region(const Region &stored) const;

  float level(ColorRange range, char letter, int x, int y) const;
  double precise_level(ColorRange range, char letter, int x, int y) const;
  /// Returns the sample at a position of luma, where chroma is replicated.
  uint8_t replicated(char letter, int x, int y) const;

 private:
  struct Position {
    int x, y;
  };
  Position stored(int x, int y, int width, int height) const;
  Position stored(char letter, int x, int y) const;

  ConstImage image_;
  Direction direction_;
  const Format &format_;
  bool turned_;
};

/// The position of a picture in the output.
struct Placement {
  double step;  ///< affine only
  double sx, sy, tx, ty;
  int left, top, width, height;
};

/// Returns the placement. Crops extend beyond the output; only they use `shortest_edge`, where 0 is
/// the longer side of the output.
Placement place(ResizeMode mode, double src_w, double src_h, int dst_w, int dst_h, bool scale_up,
                int shortest_edge = 0);

/// A part of an axis of `picture` samples. It is read like a picture of the samples that it covers.
struct Part {
  Part() = default;
  Part(double begin, double length, int picture);

  double begin = 0.0, length = 0.0;
  int picture = 0;

  int first() const { return first_; }  ///< sample
  int count() const { return count_; }  ///< samples
  double rest() const { return begin - first(); }
  bool is_picture(int i) const { return first() + i >= 0 && first() + i < picture; }

 private:
  int first_ = 0, count_ = 0;
};

/// One axis of a resize.
struct Axis {
  ResizeMode mode;
  Method method;
  Part src;
  int dst;
  double step;         ///< affine
  int offset, length;  ///< the other modes
};

Axis x_axis(const Placement &placement, const Resize &resize, Part src, int dst);
Axis y_axis(const Placement &placement, const Resize &resize, Part src, int dst);

/// Samples that one output coordinate reads, unrounded. If `inside` is 0, the other members have no
/// meaning.
struct Reading {
  int i0, i1;
  double w;
  double inside;
};

Reading read_luma(const Axis &axis, int k);
/// Returns the reading of chroma that has one sample per `each` luma samples, counted from the other
/// end of an axis that is backwards.
Reading read_chroma(const Axis &axis, int k, bool cosited, int each, bool backwards = false);

/// Factors of Y, U, V → R, G, B in double precision.
struct Factors {
  double ky, y0, krv, kgu, kgv, kbu;
};

Factors factors_of(Colorimetry colorimetry);

using Triple = std::array<float, 3>;
using PreciseTriple = std::array<double, 3>;

Triple rgb_from_yuv(Colorimetry colorimetry, Triple yuv);
PreciseTriple precise_rgb_from_yuv(Colorimetry colorimetry, PreciseTriple yuv);
float gray_from_luma(Colorimetry colorimetry, float y);
float gray_from_rgb(Triple rgb);

/// Computes the components of output pixels, unrounded: R G B, Y U V or grey.
class Resampler {
 public:
  Resampler(const ConstImage &in, const Source &source, const Resize &resize, Color color,
            int dst_w, int dst_h, const std::optional<Region> &region = {});
  /// The parts are those of the seen picture.
  Resampler(const ConstImage &in, const Source &source, const Resize &resize, Color color,
            int dst_w, int dst_h, Part across, Part down);

  Triple at(int x, int y) const;
  /// Returns the components in double precision, with textbook formulas.
  PreciseTriple precise(int x, int y) const;
  bool is_pad(int x, int y) const;

 private:
  Reading column(char letter, int x) const;
  Reading row(char letter, int y) const;
  float sampled(char letter, int x, int y) const;
  double precise_sampled(char letter, int x, int y) const;
  Triple converted(int x, int y) const;
  PreciseTriple precise_converted(int x, int y) const;
  float pad(int component) const;

  Seen in_;
  Source source_;
  Resize resize_;
  Color color_;
  Axis x_, y_;
};

/// Computes the components of output pixels of a slot by a matrix, unrounded.
class Warped {
 public:
  explicit Warped(const ConstImage &in, const NormalizeCase &params);

  Triple at(int x, int y) const;

 private:
  struct Fixed {
    int64_t a, b, c;
  };
  Reading read(char letter, bool across, int x, int y) const;
  float sampled(char letter, int x, int y) const;

  ConstImage in_;
  const NormalizeCase &params_;
  const Format &format_;
  Fixed x_, y_;
};

/// Computes the 8-bit components of output pixels of an antialiased resize, grey or R G B.
class Filtered {
 public:
  Filtered(const ConstImage &in, const Source &source, const Resize &resize, Color color, int dst_w,
           int dst_h, const std::optional<Region> &region = {});

  Triple at(int x, int y) const;
  bool is_pad(int x, int y) const;

 private:
  int pad_;
  std::vector<bool> pad_columns_, pad_rows_;
  std::vector<uint8_t> result_[3];
};

/// Returns one sample of the fixed-point resize of a part to `resize_w` × `resize_h`.
uint8_t fixed_sample(const Seen &in, char letter, Part across, Part down, int resize_w,
                     int resize_h, int x, int y);

/// Factors of an output channel.
struct Affine {
  double a, b;
};

Affine affine_of(const NormalizeCase &params, int channel);
bool takes_fixed_path(const NormalizeCase &params);

/// Returns the luminance of a pixel, which is its bin of 256.
uint8_t luminance(uint8_t r, uint8_t g, uint8_t b);

/// Convert a value to the bits of the nearest binary16, and back.
uint16_t half_from(double value);
double from_half(uint16_t bits);

/// Convert a value to the bits of the nearest bfloat16, and back.
uint16_t bfloat16_from(double value);
double from_bfloat16(uint16_t bits);

/// Returns the value of one element of a tensor.
double element(const ConstTensor &tensor, int64_t index);
int64_t index_of(const TensorDesc &desc, int64_t n, int64_t c, int64_t h, int64_t w);

void yuv444(const Yuv444Params &params, const ConstImage &in, const Image &out);
void letterbox(const LetterboxParams &params, const ConstImage &in, const Image &out);
void normalize(const NormalizeCase &params, const ConstImage &in, const Tensor &out);
void histogram(const HistogramParams &params, const ConstImage &in, Bins &bins);
void pixelshuffle(const PixelShuffleParams &params, const ConstTensor &in, const Tensor &out);
void pixelshuffle(const PixelShuffleToVideoParams &params, const ConstTensor &in, const Image &out);

/// Returns the statistics of bins with few enough pixels to list them all.
HistogramStatistics statistics(const Bins &bins);

}  // namespace cudatensor::oracle
