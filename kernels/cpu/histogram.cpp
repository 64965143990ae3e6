// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/rows.h"

namespace cudatensor::cpu {
namespace {

constexpr int kWordBytes = 4;  // offsets of R, G and B

/// Whether the bytes of the picture are counted without a conversion.
bool is_counted(const FormatLayout &layout) {
  return layout.model != ColorModel::rgb && counted_byte(layout);
}

/// Returns the Gather of the region's part of a row of three-byte pixels.
Gather pixels_of(const HistogramParams &params) {
  const FormatLayout layout = layout_of(params.in.format);
  if (layout.family != SampleFamily::packed_rgb3) return {};
  std::vector<int32_t> columns(params.roi.width);
  std::iota(columns.begin(), columns.end(), params.roi.x);
  return {columns, 1, pixel_bytes(layout, 0, 3), params.in.width};
}

class LuminanceHistogram final : public HistogramOperation {
 public:
  LuminanceHistogram(const HistogramParams &params, Workers &workers)
      : HistogramOperation(params.in),
        layout_(layout_of(params.in.format)),
        roi_(params.roi),
        kernels_(row_kernels()),
        gather_(pixels_of(params)),
        workers_(workers),
        scratch_(workers.slots()) {
    for (Scratch &s : scratch_) {
      if (is_counted(layout_)) continue;
      s.words.resize(std::max(size_t{kWordBytes} * roi_.width, gather_.row_size()));
      s.luminance.resize(roi_.width);
    }
  }

 private:
  struct Scratch {
    bool used = false;  // whether it has counts of the current picture
    Counters counters = {};
    std::vector<uint8_t> words, luminance;
  };

  void execute(const ConstImage *in, Bins *bins, Stream) override {
    if (in != nullptr) count_picture(*in);
    if (bins != nullptr) *bins = std::exchange(sum_, {});
  }

  void count_picture(const ConstImage &in) {
    workers_.for_rows(roi_.height, [&](int64_t begin, int64_t end, int slot) {
      Scratch &s = scratch_[slot];
      s.used = true;
      for (int y = static_cast<int>(begin); y < end; ++y) count_row(in, roi_.y + y, s);
    });
    for (Scratch &s : scratch_)
      if (s.used) take_counts(s);
  }

  void take_counts(Scratch &s) {
    for (int i = 0; i < kBins; ++i)
      sum_[i] = std::accumulate(std::begin(s.counters.of[i]), std::end(s.counters.of[i]), sum_[i]);
    s.counters = {};
    s.used = false;
  }

  void count_row(const ConstImage &in, int y, Scratch &s) const {
    if (is_counted(layout_)) return count_bytes(in, y, s);
    make_luminance(in, y, s);
    kernels_.count[1](s.luminance.data(), roi_.width, s.counters);
  }

  const uint8_t *luma(const ConstImage &in, int y) const {
    const Component &first = layout_.component[0];
    return plane_row(in, layout_, 0, y) + ptrdiff_t{roi_.x} * first.step;
  }

  void count_bytes(const ConstImage &in, int y, Scratch &s) const {
    kernels_.count[layout_.component[0].step](luma(in, y) + *counted_byte(layout_), roi_.width,
                                              s.counters);
  }

  /// Computes the luminance of a row whose bytes cannot be counted directly.
  void make_luminance(const ConstImage &in, int y, Scratch &s) const {
    using F = SampleFamily;
    static constexpr uint8_t kInOrder[] = {0, 1, 2};
    const uint8_t *row = in.planes[0].data + in.planes[0].stride * y;
    switch (layout_.family) {
      case F::packed_rgb4: {
        const PixelBytes pixel = pixel_bytes(layout_, 0, 3);
        return kernels_.luminance(row + ptrdiff_t{roi_.x} * kWordBytes, pixel.offset, roi_.width,
                                  s.luminance.data());
      }
      case F::packed_rgb3: gather_.run(row, row, s.words.data()); break;
      case F::planar_rgb: interleave_planes(in, y, s.words.data()); break;
      case F::gray:
      case F::planar_444:
      case F::planar_subsampled:
      case F::semiplanar:
      case F::packed_422:
      case F::deep_gray:
      case F::deep_planar:
      case F::deep_semiplanar:
        return kernels_.upper_bits(luma(in, y), roi_.width, layout_.shift + layout_.bits - 8,
                                   s.luminance.data());
    }
    kernels_.luminance(s.words.data(), kInOrder, roi_.width, s.luminance.data());
  }

  void interleave_planes(const ConstImage &in, int y, uint8_t *words) const {
    const void *rows[kWordBytes];
    for (int c = 0; c < kWordBytes; ++c)
      rows[c] = in.row(layout_.component[std::min(c, 2)], y) + roi_.x;
    kernels_.interleave[1](rows, kWordBytes, roi_.width, words);
  }

  FormatLayout layout_;
  Rect roi_;
  const RowKernels &kernels_;
  Gather gather_;  // for three-byte pixels
  Workers &workers_;
  std::vector<Scratch> scratch_;
  Bins sum_ = {};
};

}  // namespace

std::unique_ptr<HistogramOperation> make(const HistogramParams &params, Workers &workers) {
  check_histogram(params);
  return std::make_unique<LuminanceHistogram>(params, workers);
}

}  // namespace cudatensor::cpu
