// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "rows.h"

namespace cudatensor::cpu {
namespace {

/// Where the r source rows of an output row begin, and how far apart they are, in elements.
struct SourceRows {
  int64_t first, stride;
};

/// `row` counts the output's rows over all batches, channels and lines.
SourceRows source_rows(const TensorDesc &in, int factor, int64_t row) {
  const int64_t lines = in.h * factor;
  const int64_t channel = row / lines, line = row % lines;
  const int64_t plane = channel * factor * factor + line % factor * factor;
  return {(plane * in.h + line / factor) * in.w, in.h * in.w};
}

class PixelShuffle final : public TensorToTensor {
 public:
  PixelShuffle(const PixelShuffleParams &params, const TensorDesc &out, Workers &workers)
      : TensorToTensor(params.in, out),
        factor_(params.factor),
        interleave_(row_kernels().interleave[size_of(params.in.dtype)]),
        workers_(workers) {}

 private:
  void execute(const ConstTensor &in, const Tensor &out, Stream) override {
    const auto element = static_cast<int64_t>(size_of(in.desc.dtype));
    const auto *source = static_cast<const uint8_t *>(in.data);
    auto *target = static_cast<uint8_t *>(out.data);
    const int64_t rows = out.desc.n * out.desc.c * out.desc.h;
    workers_.for_rows(rows, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const SourceRows from = source_rows(in.desc, factor_, row);
        interleave_(source + from.first * element, from.stride, factor_, in.desc.w,
                    target + row * out.desc.w * element);
      }
    });
  }

  int factor_;
  void (*interleave_)(const void *, int64_t, int, int64_t, void *);
  Workers &workers_;
};

class PixelShuffleToVideo final : public TensorToImage {
 public:
  PixelShuffleToVideo(const PixelShuffleToVideoParams &params, Workers &workers)
      : TensorToImage(params.in, params.out),
        factor_(params.factor),
        scale_(make_sample_scale(params)),
        layout_(layout_of(params.out.format)),
        interleave_(row_kernels().interleave_video[static_cast<int>(params.in.dtype)]),
        workers_(workers) {}

 private:
  void execute(const ConstTensor &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int) {
      for (int y = static_cast<int>(begin); y < end; ++y)
        for (int c = 0; c < layout_.components; ++c) store_row(in, out, c, y);
    });
  }

  void store_row(const ConstTensor &in, const Image &out, int c, int y) const {
    const auto element = static_cast<int64_t>(size_of(in.desc.dtype));
    const SourceRows from = source_rows(in.desc, factor_, int64_t{c} * out.desc.height + y);
    const Component &component = layout_.component[c];
    interleave_(static_cast<const uint8_t *>(in.data) + from.first * element, from.stride, factor_,
                static_cast<int>(in.desc.w), scale_, component.step, out.row(component, y));
  }

  int factor_;
  SampleScale scale_;
  FormatLayout layout_;
  void (*interleave_)(const void *, int64_t, int, int, SampleScale, int, uint8_t *);
  Workers &workers_;
};

}  // namespace

std::unique_ptr<TensorToTensor> make_pixelshuffle(const PixelShuffleParams &params,
                                                  Workers &workers) {
  return std::make_unique<PixelShuffle>(params, shuffled(params), workers);
}

std::unique_ptr<TensorToImage> make_pixelshuffle(const PixelShuffleToVideoParams &params,
                                                 Workers &workers) {
  return std::make_unique<PixelShuffleToVideo>(params, workers);
}

}  // namespace cudatensor::cpu
