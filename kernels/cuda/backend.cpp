// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/context.h"
#include "kernels/cuda/operations.h"

namespace cudatensor {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(bool overlaps) : device_(overlaps) {}

  std::unique_ptr<ImageToImage> yuv444(const Yuv444Params &params) override {
    return cuda::make_yuv444(params, device_);
  }
  std::unique_ptr<ImageToImage> letterbox(const LetterboxParams &params) override {
    return cuda::make_letterbox(params, device_);
  }
  std::unique_ptr<ImageToTensor> normalize(const NormalizeParams &params) override {
    return cuda::make_normalize(params, device_);
  }
  std::unique_ptr<ImagesToTensor> normalize_batch(const std::vector<Source> &sources,
                                                  const NormalizeParams &params) override {
    return cuda::make_normalize_batch(sources, params, device_);
  }
  std::unique_ptr<RegionsToTensor> normalize_regions(const NormalizeParams &params) override {
    return cuda::make_normalize_regions(params, device_);
  }
  std::unique_ptr<HistogramOperation> histogram(const HistogramParams &params) override {
    return cuda::make_histogram(params, device_);
  }
  std::unique_ptr<TensorToTensor> pixelshuffle(const PixelShuffleParams &params) override {
    return cuda::make_pixelshuffle(params, device_);
  }
  std::unique_ptr<TensorToImage> pixelshuffle(const PixelShuffleToVideoParams &params) override {
    return cuda::make_pixelshuffle(params, device_);
  }
  Device *device() override { return &device_; }

 private:
  cuda::CudaDevice device_;
};

}  // namespace

std::unique_ptr<Backend> open_cuda_backend() {
  count_cuda_devices();
  const bool overlaps = cuda::check_code();
  cuda::close_at_exit();
  return std::make_unique<CudaBackend>(overlaps);
}

}  // namespace cudatensor
