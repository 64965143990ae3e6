// SPDX-License-Identifier: LGPL-2.1-or-later
#include <iterator>
#include <optional>

#include "kernels/cuda/operations.h"
#include "kernels/cuda/tensorkernels.cuh"

namespace cudatensor::cuda {
namespace {

/// All but where the tensor lies.
TensorArgs tensor_args(const TensorPlan &plan) {
  const TensorDesc &t = plan.slot;
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

/// Slots of a tensor, by number.
struct Range {
  size_t begin, end;
};

/// The slots of a launch and their positions in the tensor.
struct Batch {
  const std::vector<Slot> &slots;
  const SlotPlans &plans;
  TensorArgs tensor;  // its first slot
  int width, height;

  bool is_pad(size_t slot) const { return plans.place(slot) == SlotPlans::kPad; }
};

/// The launches for plans of one type. `Uploaded` is such a plan on the device.
template <class Uploaded, int kFrames>
class PlansOfKind {
 public:
  using Plan = typename Uploaded::Plan;

  explicit PlansOfKind(const TensorPlan &tensor) { set_tensor(tensor); }

  void set_tensor(const TensorPlan &tensor) {
    tensor_ = tensor;
    pad_plan_ = Uploaded::pad_plan(tensor);
  }

  void set(size_t place, const Plan &plan, const typename Uploaded::DeviceTables &tables) {
    if (prepared_.size() <= place) prepared_.resize(place + 1);
    prepared_[place].emplace(prepared(plan, tables));
  }

  const Plan &pad() const { return pad_plan_; }
  /// Before a slot that is pad is launched.
  void set_pad(const typename Uploaded::DeviceTables &tables) {
    pad_.emplace(prepared(pad_plan_, tables));
  }

  /// Those of the slots that are no pad have plans of this kind.
  void launch(const Queue &queue, const Batch &batch, Range slots) const {
    const Kernel kernel = kernel_for(batch, slots);
    Work work;
    for (size_t i = slots.begin; i < slots.end; ++i)
      work.in[i - slots.begin] = batch.is_pad(i)
                                     ? pad_->source.pad_args(tensor_.pad)
                                     : of(batch, i).source.args(batch.slots[i].image, kernel.words);
    work.out = batch.tensor;
    work.out.data += slots.begin * batch.tensor.frame;
    work.width = batch.width;
    work.height = batch.height;
    kernel.launch("normalize kernel", queue, work, slots.end - slots.begin);
  }

 private:
  using Kernels = TensorKernels<Uploaded, kFrames>;
  using Work = typename Kernels::Work;

  struct Prepared {
    Uploaded source;
    Kernels kernels;
  };
  /// `words`: whose pictures are read in words.
  struct Kernel {
    Launcher<Work> launch;
    bool words;
  };

  Prepared prepared(const Plan &plan, const typename Uploaded::DeviceTables &tables) const {
    return {Uploaded(typename Uploaded::PlanTables(tables), plan),
            pick_kernels<Uploaded, kFrames>(tensor_.slot.dtype, plan)};
  }

  const Prepared &of(const Batch &batch, size_t slot) const {
    return *prepared_[batch.plans.place(slot)];
  }

  /// The best that all pictures can have.
  Kernel kernel_for(const Batch &batch, Range slots) const {
    const Kernels *first = nullptr;
    bool share = true;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      if (batch.is_pad(i)) continue;
      const Prepared &prepared = of(batch, i);
      const Kernels &kernels = prepared.kernels;
      if (first == nullptr) first = &kernels;
      if (kernels.words != first->words || !prepared.source.fits_words(batch.slots[i].image))
        return {first->any, false};
      share &= kernels.sharing != nullptr;
    }
    if (first == nullptr) return {pad_->kernels.any, false};
    return {share ? first->sharing : first->words, true};
  }

  TensorPlan tensor_;
  Plan pad_plan_;
  std::optional<Prepared> pad_;
  std::vector<std::optional<Prepared>> prepared_;  // by place
};

/// A launch takes at most `kFrames` slots.
template <int kFrames>
class Normalize final : public NormalizeOperation {
 public:
  Normalize(const NormalizeParams &params, const TensorDesc &out, CudaDevice &device)
      : NormalizeOperation(params, out),
        device_(device),
        args_(tensor_args(plans().tensor())),
        resampled_(plans().tensor()),
        fixed_(plans().tensor()),
        tables_(device, table_bytes(), out.n + 2),
        is_fixed_(out.n) {}

 private:
  void update_params() override {
    args_ = tensor_args(plans().tensor());
    resampled_.set_tensor(plans().tensor());
    fixed_.set_tensor(plans().tensor());
    has_pad_ = false;
  }

  /// Of a plan, which are as many whatever is sampled.
  size_t table_bytes() const {
    TableBytes bytes;
    UploadedResample::append(bytes, resampled_.pad());
    return bytes.end();
  }

  void execute(const std::vector<Slot> &slots, const Tensor &out, Stream stream) override {
    queue_on(device_, stream, [&](const Queue &queue) {
      prepare(plans().update(slots), {queue.stream});
      if (plans().has_pad()) prepare_pad({queue.stream});
      Batch batch = {slots, plans(), args_, static_cast<int>(out.desc.w),
                     static_cast<int>(out.desc.h)};
      batch.tensor.data = static_cast<uint8_t *>(out.data);
      for (size_t begin = 0, count = is_fixed_.size(); begin < count;)
        begin = launch(queue, batch, {begin, count});
    });
  }

  /// Launches as many of the slots as one kernel takes. Returns where the others begin.
  size_t launch(const Queue &queue, const Batch &batch, Range slots) const {
    slots.end = std::min<size_t>(slots.end, slots.begin + kFrames);
    std::optional<bool> fixed;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      if (batch.is_pad(i)) continue;
      const bool is_fixed = is_fixed_[batch.plans.place(i)];
      if (!fixed) fixed = is_fixed;
      if (*fixed != is_fixed) slots.end = i;
    }
    if (fixed.value_or(false))
      fixed_.launch(queue, batch, slots);
    else
      resampled_.launch(queue, batch, slots);
    return slots.end;
  }

  /// With one upload for all places that lie behind each other.
  void prepare(const std::vector<SlotPlans::NewPlan> &plans, Stream stream) {
    for (auto begin = plans.begin(); begin != plans.end();) {
      TableBytes bytes;
      std::vector<Places> places;
      auto end = begin;
      do places.push_back(append(bytes, end->plan));
      while (++end != plans.end() && end->place == std::prev(end)->place + 1);
      const uint8_t *block = tables_.upload(begin->place, bytes, stream);
      for (const Places &at : places) set(*begin++, at, block);
    }
  }

  /// Behind the places of plans.
  void prepare_pad(Stream stream) {
    if (has_pad_) return;
    TableBytes bytes;
    const auto resampled = UploadedResample::append(bytes, resampled_.pad());
    const auto fixed = UploadedYuv444::append(bytes, fixed_.pad());
    const uint8_t *block = tables_.upload(is_fixed_.size(), bytes, stream);
    resampled_.set_pad(resampled.in(block));
    fixed_.set_pad(fixed.in(block));
    has_pad_ = true;
  }

  using Places = std::variant<TableOffsets<float>, TableOffsets<int32_t>>;

  static Places append(TableBytes &bytes, const SlotPlan &plan) {
    if (const auto *fixed = std::get_if<Yuv444Plan>(&plan.sampling))
      return UploadedYuv444::append(bytes, *fixed);
    return UploadedResample::append(bytes, std::get<ResamplePlan>(plan.sampling));
  }

  void set(const SlotPlans::NewPlan &made, const Places &places, const uint8_t *block) {
    const auto *fixed = std::get_if<Yuv444Plan>(&made.plan.sampling);
    is_fixed_[made.place] = fixed != nullptr;
    if (fixed != nullptr)
      fixed_.set(made.place, *fixed, std::get<TableOffsets<int32_t>>(places).in(block));
    else
      resampled_.set(made.place, std::get<ResamplePlan>(made.plan.sampling),
                     std::get<TableOffsets<float>>(places).in(block));
  }

  CudaDevice &device_;
  TensorArgs args_;
  PlansOfKind<UploadedResample, kFrames> resampled_;
  PlansOfKind<UploadedYuv444, kFrames> fixed_;
  PerFrameTables tables_;       // of plans by their places, then of pad
  std::vector<bool> is_fixed_;  // by place
  bool has_pad_ = false;
};

}  // namespace

std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         CudaDevice &device) {
  if (out.n == 1) return std::make_unique<Normalize<1>>(params, out, device);
  return std::make_unique<Normalize<kBatchFrames>>(params, out, device);
}

}  // namespace cudatensor::cuda
