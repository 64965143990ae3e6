// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "resample.cuh"
#include "yuv444.cuh"

namespace cudatensor::cuda {
namespace {

/// All but where the tensor lies; `plan` is that of a slot.
TensorArgs tensor_args(const NormalizePlan &plan) {
  const TensorDesc &t = plan.out;
  const bool planar = t.layout == Layout::nchw;
  const auto element = static_cast<int64_t>(size_of(t.dtype));
  TensorArgs args = {};
  args.pixel = static_cast<uint32_t>((planar ? 1 : t.c) * element);
  args.row = static_cast<uint32_t>(t.w * args.pixel);
  args.frame = static_cast<int64_t>(t.bytes());
  args.round = plan.round;
  for (int c = 0; c < t.c; ++c) {
    const int channel = plan.swap ? 2 - c : c;
    args.channel[c] = channel * (planar ? t.h * t.w : 1) * element;
    args.scale[c] = plan.channel[channel];
  }
  return args;
}

/// The kernels for a plan: for pictures of its format whose words are aligned, the same for plans whose
/// rows share what they read, or null, and for all pictures.
template <class Uploaded, int kFrames>
class TensorKernels {
 public:
  using Work = PixelWork<typename Uploaded::Args, TensorArgs, kFrames>;

  TensorKernels(DType dtype, const typename Uploaded::Plan &plan) {
    switch (dtype) {
      case DType::float32: set<float>(plan); break;
      case DType::float16: set<Half>(plan); break;
      case DType::uint8: set<uint8_t>(plan); break;
      case DType::int8: set<int8_t>(plan); break;
    }
  }

  Launcher<Work> words, sharing, any;

 private:
  template <class T>
  void set(const typename Uploaded::Plan &plan) {
    using Launchers = typename Uploaded::template Launchers<TensorSink<T>, kFrames>;
    words = Launchers::pick(plan);
    sharing = Launchers::pick_sharing(plan);
    any = Launchers::pick_any(plan);
  }
};

/// `Uploaded` is the source's plan on the device.
template <class Uploaded>
class Normalize final : public ImageToTensor {
 public:
  Normalize(const ImageDesc &in, const NormalizePlan &plan, const typename Uploaded::Plan &source,
            CudaDevice &device)
      : ImageToTensor(in, plan.out),
        device_(device),
        source_(device, source),
        tensor_(tensor_args(plan)),
        kernels_(plan.out.dtype, source) {}

 private:
  void execute(const ConstImage &in, const Tensor &out, Stream stream) override {
    const bool words = source_.fits_words(in);
    typename TensorKernels<Uploaded, 1>::Work work = {{source_.args(in, words)},
                                                      tensor_,
                                                      static_cast<int>(out.desc.w),
                                                      static_cast<int>(out.desc.h)};
    work.out.data = static_cast<uint8_t *>(out.data);
    queue_on(device_, stream, [&](const Queue &queue) {
      const auto of_words = kernels_.sharing ? kernels_.sharing : kernels_.words;
      (words ? of_words : kernels_.any)("normalize kernel", queue, work, 1);
    });
  }

  const CudaDevice &device_;
  Uploaded source_;
  TensorArgs tensor_;
  TensorKernels<Uploaded, 1> kernels_;
};

template <class Uploaded>
class NormalizeBatch final : public ImagesToTensor {
 public:
  using Sources = std::vector<const typename Uploaded::Plan *>;

  NormalizeBatch(std::vector<ImageDesc> in, const TensorDesc &out, const NormalizePlan &slot,
                 const Sources &sources, CudaDevice &device)
      : ImagesToTensor(std::move(in), out), device_(device), tensor_(tensor_args(slot)) {
    std::copy(slot.pad, slot.pad + 3, pad_);
    for (const auto *source : sources) {
      sources_.emplace_back(device, *source);
      kernels_.emplace_back(out.dtype, *source);
    }
    pads_ = std::make_unique<Uploaded>(device, pad_of(*sources[0]));
  }

 private:
  using Kernels = TensorKernels<Uploaded, kBatchFrames>;

  void execute(const std::vector<ConstImage> &in, const Tensor &out, Stream stream) override {
    queue_on(device_, stream, [&](const Queue &queue) {
      for (size_t begin = 0; begin < in.size(); begin += kBatchFrames)
        launch_slots(queue, in, out, begin, std::min<size_t>(begin + kBatchFrames, in.size()));
    });
  }

  void launch_slots(const Queue &queue, const std::vector<ConstImage> &in, const Tensor &out,
                    size_t begin, size_t end) {
    const auto kernel = kernel_for(in, begin, end);
    const bool words = kernel != kernels_[begin].any;
    typename Kernels::Work work;
    for (size_t i = begin; i < end; ++i)
      work.in[i - begin] =
          is_empty(in[i]) ? pads_->args_of_pad(pad_) : sources_[i].args(in[i], words);
    work.out = tensor_;
    work.out.data = static_cast<uint8_t *>(out.data) + begin * tensor_.frame;
    work.width = static_cast<int>(out.desc.w);
    work.height = static_cast<int>(out.desc.h);
    kernel("normalize kernel", queue, work, end - begin);
  }

  static bool is_empty(const ConstImage &in) { return in.planes[0].data == nullptr; }

  /// The best that all slots can have.
  Launcher<typename Kernels::Work> kernel_for(const std::vector<ConstImage> &in, size_t begin,
                                              size_t end) const {
    bool share = kernels_[begin].sharing != nullptr;
    for (size_t i = begin; i < end; ++i) {
      if (kernels_[i].words != kernels_[begin].words ||
          (!is_empty(in[i]) && !sources_[i].fits_words(in[i])))
        return kernels_[begin].any;
      share &= kernels_[i].sharing != nullptr;
    }
    return share ? kernels_[begin].sharing : kernels_[begin].words;
  }

  const CudaDevice &device_;
  std::vector<Uploaded> sources_;
  std::vector<Kernels> kernels_;
  std::unique_ptr<Uploaded> pads_;  // a plan that is nothing but pad
  float pad_[3];
  TensorArgs tensor_;
};

}  // namespace

std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, CudaDevice &device) {
  const NormalizePlan plan = make_normalize_plan(params);
  const ImageDesc &in = params.source.image;
  if (plan.fixed) return std::make_unique<Normalize<UploadedYuv444>>(in, plan, *plan.fixed, device);
  return std::make_unique<Normalize<UploadedResample>>(in, plan, *plan.resample, device);
}

std::unique_ptr<ImagesToTensor> make_normalize_batch(const std::vector<Source> &sources,
                                                     const NormalizeParams &params,
                                                     CudaDevice &device) {
  const std::vector<NormalizePlan> plans = make_normalize_plans(sources, params);
  std::vector<ImageDesc> in;
  for (const Source &source : sources) in.push_back(source.image);
  if (!plans[0].fixed) {
    NormalizeBatch<UploadedResample>::Sources resamples;
    for (const NormalizePlan &plan : plans) resamples.push_back(&*plan.resample);
    return std::make_unique<NormalizeBatch<UploadedResample>>(std::move(in), params.out, plans[0],
                                                              resamples, device);
  }
  NormalizeBatch<UploadedYuv444>::Sources fixed;
  for (const NormalizePlan &plan : plans) fixed.push_back(&*plan.fixed);
  return std::make_unique<NormalizeBatch<UploadedYuv444>>(std::move(in), params.out, plans[0],
                                                          fixed, device);
}

}  // namespace cudatensor::cuda
