// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/operations.h"
#include "kernels/cuda/resample.cuh"

namespace cudatensor::cuda {
namespace {

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, CudaDevice &device)
      : ImageToImage(plan.resample.source.image, plan.out, plan.resample.geometry),
        device_(device),
        resample_(device, plan.resample),
        layout_(layout_of(plan.out.format)),
        words_(Launchers::pick(plan.resample)),
        any_(Launchers::pick_any(plan.resample)),
        unscaled_(Launchers::pick_unscaled(plan.resample)) {}

 private:
  using Launchers = ResampleLaunchers<PictureSink, 1>;

  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    const bool quads = unscaled_ != nullptr && fits_quads(in, layout_of(in.desc.format));
    const bool words = quads || resample_.fits_words(in);
    const Launchers::Work work = {
        {resample_.args(in, words)}, picture_args(out, layout_), out.desc.width, out.desc.height};
    queue_on(device_, stream, [&](const Queue &queue) {
      (quads ? unscaled_ : words ? words_ : any_)("letterbox kernel", queue, work, 1);
    });
  }

  const CudaDevice &device_;
  UploadedResample resample_;
  FormatLayout layout_;
  Launchers::Result words_, any_;
  Launchers::Result unscaled_;  // null if the plan does not allow it
};

}  // namespace

std::unique_ptr<ImageToImage> make(const LetterboxParams &params, CudaDevice &device) {
  return std::make_unique<Letterbox>(make_letterbox_plan(params), device);
}

}  // namespace cudatensor::cuda
