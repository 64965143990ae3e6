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

/// Rows of a slot without a picture.
class PadRows {
 public:
  explicit PadRows(const NormalizePlan &plan)
      : width_(plan.out.w), pad_{plan.pad[0], plan.pad[1], plan.pad[2]} {}

  struct Scratch {
    std::vector<float> component[3];
  };

  Scratch make_scratch() const {
    Scratch scratch;
    for (int c = 0; c < 3; ++c) scratch.component[c].assign(width_, pad_[c]);
    return scratch;
  }

  void produce(const ConstImage &, int, Scratch &) const {}

 private:
  int64_t width_;
  float pad_[3];
};

void begin_picture(FixedRows::Scratch &scratch) { scratch.fixed.forget(); }
void begin_picture(ResampleRows::Scratch &) {}
void begin_picture(PadRows::Scratch &) {}

/// Makes one tensor, or one slot of it.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void run(const ConstImage &in, uint8_t *out) = 0;
};

template <class Rows>
class RowNormalizer final : public Normalizer {
 public:
  RowNormalizer(const NormalizePlan &plan, Rows rows, Workers &workers)
      : rows_(std::move(rows)), kernels_(row_kernels()), plan_(plan), workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.push_back(rows_.make_scratch());
  }

  void run(const ConstImage &in, uint8_t *data) override {
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

 private:
  using Scratch = typename Rows::Scratch;

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

std::unique_ptr<Normalizer> make_normalizer(const NormalizePlan &plan, Workers &workers) {
  if (plan.fixed)
    return std::make_unique<RowNormalizer<FixedRows>>(plan, FixedRows(*plan.fixed), workers);
  return std::make_unique<RowNormalizer<ResampleRows>>(plan, ResampleRows(*plan.resample), workers);
}

class Normalize final : public ImageToTensor {
 public:
  Normalize(const ImageDesc &in, const NormalizePlan &plan, Workers &workers)
      : ImageToTensor(in, plan.out), normalizer_(make_normalizer(plan, workers)) {}

 private:
  void execute(const ConstImage &in, const Tensor &out, Stream) override {
    normalizer_->run(in, static_cast<uint8_t *>(out.data));
  }

  std::unique_ptr<Normalizer> normalizer_;
};

class NormalizeBatch final : public ImagesToTensor {
 public:
  NormalizeBatch(std::vector<ImageDesc> in, const TensorDesc &out,
                 const std::vector<NormalizePlan> &plans, Workers &workers)
      : ImagesToTensor(std::move(in), out),
        slot_bytes_(plans[0].out.bytes()),
        pad_(plans[0], PadRows(plans[0]), workers) {
    for (const NormalizePlan &plan : plans) slots_.push_back(make_normalizer(plan, workers));
  }

 private:
  void execute(const std::vector<ConstImage> &in, const Tensor &out, Stream) override {
    auto *slot = static_cast<uint8_t *>(out.data);
    for (size_t i = 0; i < in.size(); ++i, slot += slot_bytes_) {
      Normalizer &normalizer = in[i].planes[0].data != nullptr ? *slots_[i] : pad_;
      normalizer.run(in[i], slot);
    }
  }

  size_t slot_bytes_;
  RowNormalizer<PadRows> pad_;
  std::vector<std::unique_ptr<Normalizer>> slots_;
};

}  // namespace

std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, Workers &workers) {
  return std::make_unique<Normalize>(params.source.image, make_normalize_plan(params), workers);
}

std::unique_ptr<ImagesToTensor> make_normalize_batch(const std::vector<Source> &sources,
                                                     const NormalizeParams &params,
                                                     Workers &workers) {
  const std::vector<NormalizePlan> plans = make_normalize_plans(sources, params);
  std::vector<ImageDesc> in;
  for (const Source &source : sources) in.push_back(source.image);
  return std::make_unique<NormalizeBatch>(std::move(in), params.out, plans, workers);
}

}  // namespace cudatensor::cpu
