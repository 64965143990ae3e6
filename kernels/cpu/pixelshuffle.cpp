// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/operations.h"
#include "kernels/cpu/rows.h"

namespace cudatensor::cpu {
namespace {

/// Pointers to the r source rows of an output row. `row` is the index over all pictures, channels
/// and rows of the output.
class SourceRows {
 public:
  SourceRows(const TensorDesc &in, int factor)
      : in_(in),
        factor_(factor),
        element_(static_cast<int64_t>(size_of(in.dtype))),
        rows_(factor) {}

  const void *const *of(const void *data, int64_t row) {
    const int64_t lines = in_.h * factor_;
    const int64_t channel = row / lines, line = row % lines;
    const int64_t plane = (channel * factor_ + line % factor_) * factor_;
    const auto *first =
        static_cast<const uint8_t *>(data) + (plane * in_.h + line / factor_) * in_.w * element_;
    for (int k = 0; k < factor_; ++k) rows_[k] = first + k * in_.h * in_.w * element_;
    return rows_.data();
  }

 private:
  TensorDesc in_;
  int factor_;
  int64_t element_;
  std::vector<const void *> rows_;
};

class PixelShuffle final : public TensorToTensor {
 public:
  PixelShuffle(const PixelShuffleParams &params, const TensorDesc &out, Workers &workers)
      : TensorToTensor(params.in, out),
        factor_(params.factor),
        interleave_(row_kernels().interleave[size_of(params.in.dtype)]),
        workers_(workers),
        sources_(workers.slots(), SourceRows(params.in, params.factor)) {}

 private:
  void execute(const ConstTensor &in, const Tensor &out, Stream) override {
    const int64_t row_bytes = out.desc.w * static_cast<int64_t>(size_of(out.desc.dtype));
    auto *target = static_cast<uint8_t *>(out.data);
    const int64_t rows = out.desc.n * out.desc.c * out.desc.h;
    workers_.for_rows(rows, [&](int64_t begin, int64_t end, int slot) {
      for (int64_t row = begin; row < end; ++row)
        interleave_(sources_[slot].of(in.data, row), factor_, in.desc.w, target + row * row_bytes);
    });
  }

  int factor_;
  void (*interleave_)(const void *const *, int, int64_t, void *);
  Workers &workers_;
  std::vector<SourceRows> sources_;
};

class PixelShuffleToVideo final : public TensorToImage {
 public:
  PixelShuffleToVideo(const PixelShuffleToVideoParams &params, Workers &workers)
      : TensorToImage(params.in, params.out),
        factor_(params.factor),
        scale_(make_sample_scale(params)),
        layout_(layout_of(params.out.format)),
        kernels_(row_kernels()),
        to_video_(kernels_.to_video[static_cast<int>(params.in.dtype)]),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.emplace_back(params);
  }

 private:
  struct Scratch {
    explicit Scratch(const PixelShuffleToVideoParams &params)
        : sources(params.in, params.factor),
          samples(params.factor, std::vector<uint8_t>(params.in.w)) {
      for (auto &row : channel) row.resize(params.out.width);
    }
    SourceRows sources;
    std::vector<std::vector<uint8_t>> samples;  // samples of each source row
    std::vector<uint8_t> channel[3];            // samples of the output row
    std::vector<const void *> rows;
  };

  void execute(const ConstTensor &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int slot) {
      for (int y = static_cast<int>(begin); y < end; ++y) make_row(in, out, y, scratch_[slot]);
    });
  }

  void make_row(const ConstTensor &in, const Image &out, int y, Scratch &scratch) const {
    const bool packed = is_packed_rgb(layout_.family);
    const void *by_offset[3] = {};
    for (int c = 0; c < layout_.components; ++c) {
      const Component &component = layout_.component[c];
      uint8_t *to = packed ? scratch.channel[c].data() : out.row(component, y);
      make_channel(in, int64_t{c} * out.desc.height + y, scratch, to);
      by_offset[component.offset] = to;
    }
    if (packed)
      kernels_.interleave[1](by_offset, 3, out.desc.width,
                             out.planes[0].data + out.planes[0].stride * y);
  }

  void make_channel(const ConstTensor &in, int64_t row, Scratch &scratch, uint8_t *out) const {
    const void *const *sources = scratch.sources.of(in.data, row);
    const int width = static_cast<int>(in.desc.w);
    scratch.rows.clear();
    for (int k = 0; k < factor_; ++k) {
      to_video_(sources[k], width, scale_, scratch.samples[k].data());
      scratch.rows.push_back(scratch.samples[k].data());
    }
    kernels_.interleave[1](scratch.rows.data(), factor_, width, out);
  }

  int factor_;
  SampleScale scale_;
  FormatLayout layout_;
  const RowKernels &kernels_;
  void (*to_video_)(const void *, int, SampleScale, uint8_t *);
  Workers &workers_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<TensorToTensor> make(const PixelShuffleParams &params, Workers &workers) {
  return std::make_unique<PixelShuffle>(params, shuffled(params), workers);
}

std::unique_ptr<TensorToImage> make(const PixelShuffleToVideoParams &params, Workers &workers) {
  return std::make_unique<PixelShuffleToVideo>(params, workers);
}

}  // namespace cudatensor::cpu
