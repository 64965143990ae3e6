// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/operations.h"
#include "kernels/cuda/resample.cuh"
#include "kernels/cuda/yuv444.cuh"

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

/// What of a plan is the source's. `Uploaded` is that on the device.
template <class Uploaded>
const typename Uploaded::Plan &source_of(const NormalizePlan &plan) {
  if constexpr (std::is_same_v<Uploaded, UploadedYuv444>)
    return *plan.fixed;
  else
    return *plan.resample;
}

template <class Uploaded>
class Normalize final : public ImageToTensor {
 public:
  Normalize(const ImageDesc &in, const NormalizePlan &plan, CudaDevice &device)
      : ImageToTensor(in, plan.out),
        device_(device),
        source_(device, source_of<Uploaded>(plan)),
        tensor_(tensor_args(plan)),
        kernels_(plan.out.dtype, source_of<Uploaded>(plan)) {}

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

/// The slots of a batch, and the launches that fill them.
template <class Uploaded>
class Slots {
 public:
  /// `any` is the plan of a slot, which says what all have in common.
  Slots(const NormalizePlan &any, CudaDevice &device)
      : pads_(device, pad_of(source_of<Uploaded>(any))),
        pad_kernels_(any.out.dtype, source_of<Uploaded>(any)),
        tensor_(tensor_args(any)) {
    std::copy(any.pad, any.pad + 3, pad_);
  }

  void clear() { slots_.clear(); }
  void add(const NormalizePlan &plan, Uploaded source) {
    slots_.push_back({std::move(source), Kernels(plan.out.dtype, source_of<Uploaded>(plan))});
  }

  /// A picture for each slot of the tensor; those behind the ones that were added have none.
  void run(const Queue &queue, const std::vector<ConstImage> &in, const Tensor &out) const {
    for (size_t begin = 0; begin < in.size(); begin += kBatchFrames)
      launch(queue, in, out, begin, std::min<size_t>(begin + kBatchFrames, in.size()));
  }

 private:
  using Kernels = TensorKernels<Uploaded, kBatchFrames>;
  using Work = typename Kernels::Work;

  struct Slot {
    Uploaded source;
    Kernels kernels;
  };
  /// `words`: whose pictures are read in words.
  struct Kernel {
    Launcher<Work> launch;
    bool words;
  };

  static bool is_empty(const ConstImage &in) { return in.planes[0].data == nullptr; }

  /// The best that all pictures can have.
  Kernel kernel_for(const std::vector<ConstImage> &in, size_t begin, size_t end) const {
    const Kernels *first = nullptr;
    bool share = true;
    for (size_t i = begin; i < end; ++i) {
      if (is_empty(in[i])) continue;
      const Kernels &kernels = slots_[i].kernels;
      if (first == nullptr) first = &kernels;
      if (kernels.words != first->words || !slots_[i].source.fits_words(in[i]))
        return {first->any, false};
      share &= kernels.sharing != nullptr;
    }
    if (first == nullptr) return {pad_kernels_.words, true};
    return {share ? first->sharing : first->words, true};
  }

  void launch(const Queue &queue, const std::vector<ConstImage> &in, const Tensor &out,
              size_t begin, size_t end) const {
    const Kernel kernel = kernel_for(in, begin, end);
    Work work;
    for (size_t i = begin; i < end; ++i)
      work.in[i - begin] =
          is_empty(in[i]) ? pads_.args_of_pad(pad_) : slots_[i].source.args(in[i], kernel.words);
    work.out = tensor_;
    work.out.data = static_cast<uint8_t *>(out.data) + begin * tensor_.frame;
    work.width = static_cast<int>(out.desc.w);
    work.height = static_cast<int>(out.desc.h);
    kernel.launch("normalize kernel", queue, work, end - begin);
  }

  std::vector<Slot> slots_;
  Uploaded pads_;  // a plan that is nothing but pad
  Kernels pad_kernels_;
  float pad_[3];
  TensorArgs tensor_;
};

template <class Uploaded>
class NormalizeBatch final : public ImagesToTensor {
 public:
  NormalizeBatch(std::vector<ImageDesc> in, const TensorDesc &out,
                 const std::vector<NormalizePlan> &plans, CudaDevice &device)
      : ImagesToTensor(std::move(in), out), device_(device), slots_(plans[0], device) {
    for (const NormalizePlan &plan : plans)
      slots_.add(plan, Uploaded(device, source_of<Uploaded>(plan)));
  }

 private:
  void execute(const std::vector<ConstImage> &in, const Tensor &out, Stream stream) override {
    queue_on(device_, stream, [&](const Queue &queue) { slots_.run(queue, in, out); });
  }

  const CudaDevice &device_;
  Slots<Uploaded> slots_;
};

template <class Uploaded>
class NormalizeRegions final : public RegionsToTensor {
 public:
  /// `whole` is the plan of a slot that shows all of the source.
  NormalizeRegions(const NormalizeParams &params, const NormalizePlan &whole, CudaDevice &device)
      : RegionsToTensor(params.source.image, params.out),
        params_(one_slot(params)),
        device_(device),
        slots_(whole, device),
        tables_(device, params.out.n * bytes_of(whole)),
        pictures_(params.out.n) {}

 private:
  /// Of a slot's tables, which are as large whatever the region is.
  static size_t bytes_of(const NormalizePlan &plan) {
    TableBytes bytes;
    Uploaded::append(bytes, source_of<Uploaded>(plan));
    return bytes.end();
  }

  void execute(const ConstImage &in, const std::vector<Region> &regions, const Tensor &out,
               Stream stream) override {
    queue_on(device_, stream, [&](const Queue &queue) {
      if (regions != regions_) plan(regions, {queue.stream});
      std::fill(pictures_.begin(), pictures_.end(), ConstImage{});
      std::fill_n(pictures_.begin(), regions.size(), in);
      slots_.run(queue, pictures_, out);
    });
  }

  void plan(const std::vector<Region> &regions, Stream stream) {
    std::vector<NormalizePlan> plans;
    std::vector<typename Uploaded::PlanTables::Places> places;
    TableBytes bytes;
    for (const Region &region : regions) {
      params_.region = region;
      plans.push_back(make_normalize_plan(params_));
      places.push_back(Uploaded::append(bytes, source_of<Uploaded>(plans.back())));
    }
    regions_.clear();  // until they are there
    slots_.clear();
    const uint8_t *block = tables_.upload(bytes, stream);
    for (size_t i = 0; i < plans.size(); ++i)
      slots_.add(plans[i], Uploaded(typename Uploaded::PlanTables(places[i].in(block)),
                                    source_of<Uploaded>(plans[i])));
    regions_ = regions;
  }

  NormalizeParams params_;  // of a slot; the region is that of the last one
  CudaDevice &device_;
  Slots<Uploaded> slots_;
  ChangingTables tables_;
  std::vector<Region> regions_;  // that the slots are for
  std::vector<ConstImage> pictures_;
};

}  // namespace

std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, CudaDevice &device) {
  const NormalizePlan plan = make_normalize_plan(params);
  const ImageDesc &in = params.source.image;
  if (plan.fixed) return std::make_unique<Normalize<UploadedYuv444>>(in, plan, device);
  return std::make_unique<Normalize<UploadedResample>>(in, plan, device);
}

std::unique_ptr<ImagesToTensor> make_normalize_batch(const std::vector<Source> &sources,
                                                     const NormalizeParams &params,
                                                     CudaDevice &device) {
  const std::vector<NormalizePlan> plans = make_normalize_plans(sources, params);
  std::vector<ImageDesc> in;
  for (const Source &source : sources) in.push_back(source.image);
  if (plans[0].fixed)
    return std::make_unique<NormalizeBatch<UploadedYuv444>>(std::move(in), params.out, plans,
                                                            device);
  return std::make_unique<NormalizeBatch<UploadedResample>>(std::move(in), params.out, plans,
                                                            device);
}

std::unique_ptr<RegionsToTensor> make_normalize_regions(const NormalizeParams &params,
                                                        CudaDevice &device) {
  const NormalizePlan whole = make_normalize_plan(one_slot(params));
  if (whole.fixed) return std::make_unique<NormalizeRegions<UploadedYuv444>>(params, whole, device);
  return std::make_unique<NormalizeRegions<UploadedResample>>(params, whole, device);
}

}  // namespace cudatensor::cuda
