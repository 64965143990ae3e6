// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "yuv444.cuh"

namespace cudatensor::cuda {
namespace {

class Yuv444 final : public ImageToImage {
 public:
  Yuv444(const Yuv444Params &params, const Yuv444Plan &plan, CudaDevice &device)
      : ImageToImage(params.in, params.out),
        resample_(device, plan),
        layout_(layout_of(params.out.format)),
        launch_(pick_yuv444<PictureSink>(plan.layout)) {}

 private:
  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    queue_on(stream, [&](cudaStream_t s) {
      launch_("yuv444 kernel", resample_.args(in), picture_args(out, layout_), out.desc.width,
              out.desc.height, s);
    });
  }

  UploadedYuv444 resample_;
  FormatLayout layout_;
  Launcher<Yuv444Args, PictureArgs> launch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make_yuv444(const Yuv444Params &params, CudaDevice &device) {
  return std::make_unique<Yuv444>(params, make_yuv444_plan(params), device);
}

}  // namespace cudatensor::cuda
