// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "resample.cuh"
#include "yuv444.cuh"

namespace cudatensor::cuda {
namespace {

template <class Args>
using TensorLauncher = Launcher<Args, TensorArgs>;

template <class T>
TensorLauncher<ResampleArgs> pick_of(const ResamplePlan &plan) {
  return ResampleLaunchers<TensorSink<T>>::pick(plan);
}
template <class T>
TensorLauncher<Yuv444Args> pick_of(const Yuv444Plan &plan) {
  return pick_yuv444<TensorSink<T>>(plan.layout);
}

template <class Args, class Source>
TensorLauncher<Args> pick(DType dtype, const Source &source) {
  switch (dtype) {
    case DType::float16: return pick_of<Half>(source);
    case DType::uint8: return pick_of<uint8_t>(source);
    case DType::int8: return pick_of<int8_t>(source);
    case DType::float32: break;
  }
  return pick_of<float>(source);
}

/// All but where the tensor lies.
TensorArgs tensor_args(const NormalizePlan &plan) {
  const TensorDesc &t = plan.out;
  const bool planar = t.layout == Layout::nchw;
  TensorArgs args = {};
  args.pixel = planar ? 1 : t.c;
  args.row = t.w * args.pixel;
  args.round = plan.round;
  for (int c = 0; c < t.c; ++c) {
    const int channel = plan.swap ? 2 - c : c;
    args.channel[c] = channel * (planar ? t.h * t.w : 1);
    args.scale[c] = plan.channel[channel];
  }
  return args;
}

/// `Uploaded` is the source's plan on the device.
template <class Uploaded, class Args>
class Normalize final : public ImageToTensor {
 public:
  template <class Source>
  Normalize(const ImageDesc &in, const NormalizePlan &plan, const Source &source,
            CudaDevice &device)
      : ImageToTensor(in, plan.out),
        source_(device, source),
        tensor_(tensor_args(plan)),
        launch_(pick<Args>(plan.out.dtype, source)) {}

 private:
  void execute(const ConstImage &in, const Tensor &out, Stream stream) override {
    TensorArgs tensor = tensor_;
    tensor.data = out.data;
    queue_on(stream, [&](cudaStream_t s) {
      launch_("normalize kernel", source_.args(in), tensor, static_cast<int>(out.desc.w),
              static_cast<int>(out.desc.h), s);
    });
  }

  Uploaded source_;
  TensorArgs tensor_;
  TensorLauncher<Args> launch_;
};

}  // namespace

std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, CudaDevice &device) {
  const NormalizePlan plan = make_normalize_plan(params);
  const ImageDesc &in = params.source.image;
  if (plan.fixed)
    return std::make_unique<Normalize<UploadedYuv444, Yuv444Args>>(in, plan, *plan.fixed, device);
  return std::make_unique<Normalize<UploadedResample, ResampleArgs>>(in, plan, *plan.resample,
                                                                     device);
}

}  // namespace cudatensor::cuda
