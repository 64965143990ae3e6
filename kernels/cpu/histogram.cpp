// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>
#include <vector>

#include "operations.h"
#include "rows.h"

namespace cudatensor::cpu {
namespace {

constexpr int kTables = 4;

class LuminanceHistogram final : public HistogramOperation {
 public:
  LuminanceHistogram(const HistogramParams &params, Workers &workers)
      : HistogramOperation(params.in),
        layout_(layout_of(params.in.format)),
        roi_(params.roi),
        rows_(row_kernels()),
        workers_(workers),
        scratch_(workers.slots()) {
    for (Scratch &s : scratch_) {
      s.bins.resize(kTables * kBins);
      if (layout_.model == ColorModel::rgb) s.luminance.resize(roi_.width);
    }
  }

 private:
  struct Scratch {
    std::vector<uint32_t> bins;
    std::vector<uint8_t> luminance;
  };

  void execute(const ConstImage *in, Bins *bins, Stream) override {
    if (in != nullptr) count_picture(*in);
    if (bins != nullptr) *bins = std::exchange(sum_, {});
  }

  void count_picture(const ConstImage &in) {
    for (Scratch &s : scratch_) std::fill(s.bins.begin(), s.bins.end(), 0u);
    workers_.for_rows(roi_.height, [&](int64_t begin, int64_t end, int slot) {
      for (int y = static_cast<int>(begin); y < end; ++y) count_row(in, roi_.y + y, scratch_[slot]);
    });
    for (const Scratch &s : scratch_)
      for (int i = 0; i < kTables * kBins; ++i) sum_[i % kBins] += s.bins[i];
  }

  void count_row(const ConstImage &in, int y, Scratch &s) const {
    const uint8_t *rows[3];
    for (int c = 0; c < layout_.components; ++c)
      rows[c] = in.row(layout_.component[c], y) +
                static_cast<ptrdiff_t>(roi_.x) * layout_.component[c].step;
    const int step = layout_.component[0].step;
    if (layout_.model != ColorModel::rgb)
      return rows_.count[step](rows[0], roi_.width, s.bins.data());
    rows_.luminance[step](rows[0], rows[1], rows[2], roi_.width, s.luminance.data());
    rows_.count[1](s.luminance.data(), roi_.width, s.bins.data());
  }

  FormatLayout layout_;
  Rect roi_;
  const RowKernels &rows_;
  Workers &workers_;
  std::vector<Scratch> scratch_;
  Bins sum_ = {};
};

}  // namespace

std::unique_ptr<HistogramOperation> make_histogram(const HistogramParams &params,
                                                   Workers &workers) {
  check_histogram(params);
  return std::make_unique<LuminanceHistogram>(params, workers);
}

}  // namespace cudatensor::cpu
