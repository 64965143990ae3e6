// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/operations.h"

namespace cudatensor {
namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads) : workers_(threads) {}

  std::unique_ptr<ImageToImage> yuv444(const Yuv444Params &params) override {
    return cpu::make_yuv444(params, workers_);
  }
  std::unique_ptr<ImageToImage> letterbox(const LetterboxParams &params) override {
    return cpu::make_letterbox(params, workers_);
  }
  std::unique_ptr<ImageToTensor> normalize(const NormalizeParams &params) override {
    return cpu::make_normalize(params, workers_);
  }
  std::unique_ptr<ImagesToTensor> normalize_batch(const std::vector<Source> &sources,
                                                  const NormalizeParams &params) override {
    return cpu::make_normalize_batch(sources, params, workers_);
  }
  std::unique_ptr<RegionsToTensor> normalize_regions(const NormalizeParams &params) override {
    return cpu::make_normalize_regions(params, workers_);
  }
  std::unique_ptr<HistogramOperation> histogram(const HistogramParams &params) override {
    return cpu::make_histogram(params, workers_);
  }
  std::unique_ptr<TensorToTensor> pixelshuffle(const PixelShuffleParams &params) override {
    return cpu::make_pixelshuffle(params, workers_);
  }
  std::unique_ptr<TensorToImage> pixelshuffle(const PixelShuffleToVideoParams &params) override {
    return cpu::make_pixelshuffle(params, workers_);
  }

 private:
  cpu::Workers workers_;
};

}  // namespace

std::unique_ptr<Backend> open_cpu_backend(unsigned threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace cudatensor
