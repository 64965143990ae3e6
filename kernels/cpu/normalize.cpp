// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "resample.h"
#include "yuv444.h"

namespace cudatensor::cpu {
namespace {

/// The fixed-point path with results widened to float rows, as the float path gives them.
class FixedRows {
 public:
  explicit FixedRows(Yuv444Plan plan) : rows_(std::move(plan)), kernels_(row_kernels()) {}

  struct Scratch {
    Yuv444Rows::Scratch fixed;
    std::vector<uint8_t> samples;
    std::vector<float> component[3];
  };

  Scratch make_scratch() const {
    Scratch scratch = {rows_.make_scratch(), std::vector<uint8_t>(rows_.width()), {}};
    for (auto &row : scratch.component) row.resize(rows_.width());
    return scratch;
  }

  void produce(const ConstImage &in, int y, Scratch &scratch) const {
    for (int c = 0; c < 3; ++c) {
      rows_.produce(in, c, y, scratch.fixed, scratch.samples.data());
      kernels_.widen(scratch.samples.data(), rows_.width(), scratch.component[c].data());
    }
  }

 private:
  Yuv444Rows rows_;
  const RowKernels &kernels_;
};

void begin_picture(FixedRows::Scratch &scratch) { scratch.fixed.forget(); }
void begin_picture(ResampleRows::Scratch &) {}

template <class Rows>
class Normalize final : public ImageToTensor {
 public:
  Normalize(const ImageDesc &in, const NormalizePlan &plan, Rows rows, Workers &workers)
      : ImageToTensor(in, plan.out),
        rows_(std::move(rows)),
        kernels_(row_kernels()),
        plan_(plan),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.push_back(rows_.make_scratch());
  }

 private:
  using Scratch = typename Rows::Scratch;

  void execute(const ConstImage &in, const Tensor &out, Stream) override {
    auto *data = static_cast<uint8_t *>(out.data);
    workers_.for_rows(plan_.out.h, [&](int64_t begin, int64_t end, int slot) {
      Scratch &scratch = scratch_[slot];
      begin_picture(scratch);
      for (int y = static_cast<int>(begin); y < end; ++y) {
        rows_.produce(in, y, scratch);
        if (plan_.round) round(scratch);
        store(scratch, y, data);
      }
    });
  }

  void round(Scratch &scratch) const {
    for (int c = 0; c < plan_.out.c; ++c) kernels_.round(width(), scratch.component[c].data());
  }

  void store(const Scratch &scratch, int y, uint8_t *data) const {
    const float *channel[3];
    for (int c = 0; c < 3; ++c) channel[c] = scratch.component[plan_.swap ? 2 - c : c].data();
    const auto dtype = static_cast<int>(plan_.out.dtype);
    const int64_t row = plan_.out.w * static_cast<int64_t>(size_of(plan_.out.dtype));
    if (plan_.out.layout == Layout::nhwc && plan_.out.c == 3) {
      kernels_.normalize_packed[dtype](plan_.channel, channel, width(), data + y * row * 3);
      return;
    }
    for (int c = 0; c < plan_.out.c; ++c)
      kernels_.normalize_plane[dtype](plan_.channel[c], channel[c], width(),
                                      data + (c * plan_.out.h + y) * row);
  }

  int width() const { return static_cast<int>(plan_.out.w); }

  Rows rows_;
  const RowKernels &kernels_;
  NormalizePlan plan_;
  Workers &workers_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, Workers &workers) {
  const NormalizePlan plan = make_normalize_plan(params);
  const ImageDesc &in = params.source.image;
  if (plan.fixed)
    return std::make_unique<Normalize<FixedRows>>(in, plan, FixedRows(*plan.fixed), workers);
  return std::make_unique<Normalize<ResampleRows>>(in, plan, ResampleRows(*plan.resample), workers);
}

}  // namespace cudatensor::cpu
