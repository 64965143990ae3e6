// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "resample.cuh"

namespace cudatensor::cuda {
namespace {

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, CudaDevice &device)
      : ImageToImage(plan.resample.source.image, plan.out),
        resample_(device, plan.resample),
        layout_(layout_of(plan.out.format)),
        launch_(ResampleLaunchers<PictureSink>::pick(plan.resample)) {}

 private:
  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    queue_on(stream, [&](cudaStream_t s) {
      launch_("letterbox kernel", resample_.args(in), picture_args(out, layout_), out.desc.width,
              out.desc.height, s);
    });
  }

  UploadedResample resample_;
  FormatLayout layout_;
  ResampleLaunchers<PictureSink>::Result launch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make_letterbox(const LetterboxParams &params, CudaDevice &device) {
  return std::make_unique<Letterbox>(make_letterbox_plan(params), device);
}

}  // namespace cudatensor::cuda
