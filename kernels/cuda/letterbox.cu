// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filterargs.cuh"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/resample.cuh"

namespace cudatensor::cuda {
namespace {

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, const ResamplePlan &resample, CudaDevice &device)
      : ImageToImage(plan.source, plan.out, plan.geometry),
        device_(device),
        resample_(device, resample),
        layout_(layout_of(plan.out.format)),
        words_(Launchers::pick(resample)),
        any_(Launchers::pick_any(resample)),
        unscaled_(Launchers::pick_unscaled(resample)) {}

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

/// A letterbox with an antialiased resize.
class FilteredLetterbox final : public ImageToImage {
 public:
  FilteredLetterbox(const LetterboxPlan &plan, const FilterPlan &filter, CudaDevice &device)
      : ImageToImage(plan.source, plan.out, plan.geometry),
        device_(device),
        filter_(device, filter),
        layout_(layout_of(plan.out.format)),
        kernels_(pick_kernels<UploadedFilter, 1>(DType::uint8, filter)) {}

 private:
  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    const bool words = filter_.fits_words(in);
    const bool shares = kernels_.sharing != nullptr && words && filter_.fits_sharing(in);
    const TensorKernels<UploadedFilter, 1>::Work work = {
        {filter_.args(in, words)}, FilterOut(out, layout_), out.desc.width, out.desc.height};
    queue_on(device_, stream, [&](const Queue &queue) {
      (shares  ? kernels_.sharing
       : words ? kernels_.words
               : kernels_.any)("letterbox kernel", queue, work, 1);
    });
  }

  const CudaDevice &device_;
  UploadedFilter filter_;
  FormatLayout layout_;
  TensorKernels<UploadedFilter, 1> kernels_;
};

}  // namespace

std::unique_ptr<ImageToImage> make(const LetterboxParams &params, CudaDevice &device) {
  const LetterboxPlan plan = make_letterbox_plan(params);
  if (const auto *filter = std::get_if<FilterPlan>(&plan.sampling))
    return std::make_unique<FilteredLetterbox>(plan, *filter, device);
  return std::make_unique<Letterbox>(plan, std::get<ResamplePlan>(plan.sampling), device);
}

}  // namespace cudatensor::cuda
