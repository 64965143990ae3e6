// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "yuv444.cuh"

namespace cudatensor::cuda {
namespace {

class Yuv444 final : public ImageToImage {
 public:
  Yuv444(const Yuv444Params &params, const Yuv444Plan &plan, CudaDevice &device)
      : ImageToImage(params.in, params.out),
        device_(device),
        resample_(device, plan),
        layout_(layout_of(params.out.format)),
        words_(Launchers::pick(plan)),
        any_(Launchers::pick_any(plan)) {}

 private:
  using Launchers = Yuv444Launchers<PictureSink, 1>;

  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    const bool words = resample_.fits_words(in);
    const Launchers::Work work = {
        {resample_.args(in, words)}, picture_args(out, layout_), out.desc.width, out.desc.height};
    queue_on(device_, stream,
             [&](const Queue &queue) { (words ? words_ : any_)("yuv444 kernel", queue, work, 1); });
  }

  const CudaDevice &device_;
  UploadedYuv444 resample_;
  FormatLayout layout_;
  Launchers::Result words_, any_;
};

}  // namespace

std::unique_ptr<ImageToImage> make_yuv444(const Yuv444Params &params, CudaDevice &device) {
  return std::make_unique<Yuv444>(params, make_yuv444_plan(params), device);
}

}  // namespace cudatensor::cuda
