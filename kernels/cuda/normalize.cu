// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <optional>

#include "kernels/cuda/filterargs.cuh"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/tensorkernels.cuh"

namespace cudatensor::cuda {
namespace {

/// Returns the arguments of a tensor without its address.
TensorArgs tensor_args(const TensorPlan &plan) {
  const TensorDesc &t = plan.slot;
  const bool planar = t.layout != Layout::nhwc;
  const auto element = static_cast<int64_t>(size_of(t.dtype));
  TensorArgs args = {};
  args.pixel = static_cast<uint32_t>((planar ? 1 : t.c) * element);
  args.row = static_cast<uint32_t>(t.w * args.pixel);
  args.frame = t.slot_step() * element;
  args.dtype = t.dtype;
  args.round = plan.round;
  args.pad_is_zero = plan.pad_is_zero;
  for (int c = 0; c < t.c; ++c) {
    const int channel = plan.swap ? 2 - c : c;
    args.channel[c] = channel * t.channel_step() * element;
    args.scale[c] = plan.channel[channel];
  }
  return args;
}

/// A range of a tensor's slots.
struct Range {
  size_t begin, end;
};

/// The slots of a launch and their positions in the tensor.
struct Batch {
  const std::vector<Slot> &slots;
  const SlotPlans &plans;
  TensorArgs tensor;  // arguments for the tensor's first slot
  int width, height;

  bool is_pad(size_t slot) const { return plans.place(slot) == SlotPlans::kPad; }
};

/// Launches the kernels for plans of one type. `Uploaded` is such a plan on the device.
template <class Uploaded, int kSlots>
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
  /// Must be called before a slot that is pad is launched.
  void set_pad(const typename Uploaded::DeviceTables &tables) {
    pad_.emplace(prepared(pad_plan_, tables));
  }

  /// Launches the kernel for a range of slots, which are pad or have plans of this kind.
  void run(const Queue &queue, const Batch &batch, Range slots) const {
    const Kernel kernel = kernel_for(batch, slots);
    Work work;
    set_slots(work.in, batch, slots, kernel.words);
    work.out = typename Uploaded::Out(batch.tensor);
    work.out.data += slots.begin * batch.tensor.frame;
    work.width = batch.width;
    work.height = batch.height;
    kernel.launcher("normalize kernel", queue, work, slots.end - slots.begin);
  }

  /// Whether a kernel reads the picture of the slot in words.
  bool has_words(const Batch &batch, size_t slot) const {
    const Prepared &prepared = of(batch, slot);
    return prepared.kernels.words != nullptr && prepared.source.fits_words(batch.slots[slot].image);
  }

 private:
  using Kernels = TensorKernels<Uploaded, kSlots>;
  using Work = typename Kernels::Work;

  struct Prepared {
    Uploaded source;
    Kernels kernels;
  };
  /// A kernel. `words`: whether it reads pictures in words.
  struct Kernel {
    Launcher<Work> launcher;
    bool words;
  };

  Prepared prepared(const Plan &plan, const typename Uploaded::DeviceTables &tables) const {
    return {Uploaded(typename Uploaded::PlanTables(tables), plan, kSlots),
            pick_kernels<Uploaded, kSlots>(tensor_.slot.dtype, plan)};
  }

  const Prepared &of(const Batch &batch, size_t slot) const {
    return *prepared_[batch.plans.place(slot)];
  }

  void set_slots(typename Uploaded::Args (&in)[kSlots], const Batch &batch, Range slots,
                 bool words) const {
    for (size_t i = slots.begin; i < slots.end; ++i) {
      auto &args = in[i - slots.begin];
      args = batch.is_pad(i) ? pad_->source.pad_args(tensor_.pad)
                             : of(batch, i).source.args(batch.slots[i].image, words);
      if (tensor_.pad_is_zero) mark_outside(args);
    }
  }

  void set_slots(OnePictureArgs &in, const Batch &batch, Range slots, bool words) const {
    in.pad = 0;
    bool has_picture = false;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      const size_t index = i - slots.begin;
      if (batch.is_pad(i)) {
        in.position[index] = {kOutside, kOutside};
        in.pad |= uint64_t{1} << index;
        continue;
      }
      const Uploaded &source = of(batch, i).source;
      in.position[index] = source.position();
      if (has_picture) continue;
      MatrixArgs args = source.args(batch.slots[i].image, words);
      if (tensor_.pad_is_zero) mark_outside(args);
      in.picture = args.picture;
      has_picture = true;
    }
  }

  /// Returns the fastest kernel that can read all pictures.
  Kernel kernel_for(const Batch &batch, Range slots) const {
    if constexpr (std::is_same_v<Uploaded, UploadedOnePicture>)
      return {of(batch, first_picture(batch, slots)).kernels.words, true};
    const Kernels *first = nullptr;
    bool share = true;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      if (batch.is_pad(i)) continue;
      const Prepared &prepared = of(batch, i);
      const Kernels &kernels = prepared.kernels;
      if (first == nullptr) first = &kernels;
      if (kernels.words != first->words || !prepared.source.fits_words(batch.slots[i].image))
        return {first->any, false};
      share &= kernels.sharing != nullptr && prepared.source.fits_sharing(batch.slots[i].image);
    }
    if (first == nullptr) return {pad_->kernels.any, false};
    return {share ? first->sharing : first->words, true};
  }

  /// Returns the first slot that is not pad.
  static size_t first_picture(const Batch &batch, Range slots) {
    while (batch.is_pad(slots.begin)) ++slots.begin;
    return slots.begin;
  }

  TensorPlan tensor_;
  Plan pad_plan_;
  std::optional<Prepared> pad_;
  std::vector<std::optional<Prepared>> prepared_;  // by place
};

/// The tables of one antialiased plan, whose size depends on the picture.
class FilterMemory {
 public:
  /// Queues the upload. Work that was queued earlier still reads the earlier tables.
  UploadedFilter::DeviceTables upload(const FilterPlan &plan, CudaDevice &device, PinnedRing &ring,
                                      Stream stream) {
    if (!UploadedFilter::reads_pixels(plan)) return {};
    TableBytes bytes;
    const FilterOffsets offsets(bytes, plan);
    const std::vector<uint8_t> &host = bytes.get();
    // The memory has room to spare, so that growing regions seldom allocate.
    if (memory_ == nullptr || memory_->size() < host.size())
      memory_ = device.allocate(host.size() + host.size() / 2);
    const auto row = static_cast<ptrdiff_t>(host.size());
    uint8_t *const pinned = ring.take(host.size());
    std::memcpy(pinned, host.data(), host.size());
    device.copy({memory_->data(), row}, {pinned, row}, host.size(), 1, stream);
    ring.in_use_until(stream);
    return {offsets.pixels_in(memory_->data()), offsets.in(memory_->data())};
  }

 private:
  std::unique_ptr<Memory> memory_;
};

/// The operation. A launch takes at most `kSlots` slots.
template <int kSlots>
class Normalize final : public NormalizeOperation {
 public:
  Normalize(const NormalizeParams &params, const TensorDesc &out, CudaDevice &device)
      : NormalizeOperation(params, out),
        device_(device),
        args_(tensor_args(plans().tensor())),
        resampled_(plans().tensor()),
        fixed_(plans().tensor()),
        filtered_(plans().tensor()),
        matrices_(plans().tensor()),
        one_picture_(plans().tensor()),
        tables_(device, table_bytes(), out.n + 2),
        filter_ring_(device),
        kinds_(out.n) {}

 private:
  /// The type of a plan's sampling, in the order of SlotPlan::sampling.
  enum class Kind : uint8_t { resampled, fixed, filtered, matrix };

  void update_params() override {
    args_ = tensor_args(plans().tensor());
    resampled_.set_tensor(plans().tensor());
    fixed_.set_tensor(plans().tensor());
    filtered_.set_tensor(plans().tensor());
    matrices_.set_tensor(plans().tensor());
    one_picture_.set_tensor(plans().tensor());
    has_pad_ = false;
  }

  /// Returns the bytes of the tables of a plan that is not antialiased. They are the same for all
  /// such plans.
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
      for (size_t begin = 0, count = kinds_.size(); begin < count;)
        begin = run_some(queue, batch, {begin, count});
    });
  }

  /// Returns the kind of a slot's launch; no value if any kind will do.
  std::optional<Kind> kind_of(const Batch &batch, size_t slot) const {
    if (!batch.is_pad(slot)) return kinds_[batch.plans.place(slot)];
    // The pad of the fixed-point path is an integer.
    return batch.tensor.pad_is_zero ? std::optional(Kind::resampled) : std::nullopt;
  }

  /// Launches as many slots as one kernel takes. Returns the index of the next slot.
  size_t run_some(const Queue &queue, const Batch &batch, Range slots) const {
    slots.end = std::min<size_t>(slots.end, slots.begin + kSlots);
    std::optional<Kind> kind;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      const std::optional<Kind> own = kind_of(batch, i);
      if (!own) continue;
      const std::optional<Kind> common = common_kind(kind.value_or(*own), *own);
      if (common)
        kind = common;
      else
        slots.end = i;
    }
    switch (kind.value_or(Kind::resampled)) {
      case Kind::resampled: resampled_.run(queue, batch, slots); break;
      case Kind::fixed: fixed_.run(queue, batch, slots); break;
      case Kind::filtered: filtered_.run(queue, batch, slots); break;
      case Kind::matrix:
        if (is_one_picture(batch, slots))
          one_picture_.run(queue, batch, slots);
        else
          matrices_.run(queue, batch, slots);
        break;
    }
    return slots.end;
  }

  /// Whether all slots are cut from one picture by matrices, or pad, and a kernel takes them.
  bool is_one_picture(const Batch &batch, Range slots) const {
    if (kSlots == 1) return false;
    const Slot *first = nullptr;
    for (size_t i = slots.begin; i < slots.end; ++i) {
      if (batch.is_pad(i)) continue;
      const Slot &slot = batch.slots[i];
      if (kinds_[batch.plans.place(i)] != Kind::matrix) return false;
      if (first == nullptr && !one_picture_.has_words(batch, i)) return false;
      if (first == nullptr) first = &slot;
      if (!(slot.source == first->source && is_same_view(slot.image, first->image))) return false;
    }
    return first != nullptr;
  }

  /// Returns the kind of a launch of both; no value if none takes both.
  static std::optional<Kind> common_kind(Kind a, Kind b) {
    if (a == b) return a;
    const auto is_floating = [](Kind k) { return k == Kind::resampled || k == Kind::matrix; };
    return is_floating(a) && is_floating(b) ? std::optional(Kind::matrix) : std::nullopt;
  }

  static Kind kind_of(const SlotPlan &plan) { return static_cast<Kind>(plan.sampling.index()); }
  /// Whether the plan has tables of a constant size.
  static bool has_tables(const SlotPlan &plan) {
    const Kind kind = kind_of(plan);
    return kind == Kind::resampled || kind == Kind::fixed;
  }

  /// Uploads the new plans. Plans in consecutive places share one upload, except antialiased ones.
  /// Plans of slots by a matrix are not uploaded.
  void prepare(const std::vector<SlotPlans::NewPlan> &plans, Stream stream) {
    for (auto begin = plans.begin(); begin != plans.end();) {
      if (!has_tables(begin->plan)) {
        set_without_tables(*begin++, stream);
        continue;
      }
      TableBytes bytes;
      std::vector<Places> places;
      auto end = begin;
      do places.push_back(append(bytes, end->plan));
      while (++end != plans.end() && end->place == std::prev(end)->place + 1 &&
             has_tables(end->plan));
      const uint8_t *block = tables_.upload(begin->place, bytes, stream);
      for (const Places &at : places) set(*begin++, at, block);
    }
  }

  /// Uploads the pad plans to the place after those of the slots' plans.
  void prepare_pad(Stream stream) {
    if (has_pad_) return;
    TableBytes bytes;
    const auto resampled = UploadedResample::append(bytes, resampled_.pad());
    const auto fixed = UploadedYuv444::append(bytes, fixed_.pad());
    const uint8_t *block = tables_.upload(kinds_.size(), bytes, stream);
    resampled_.set_pad(resampled.in(block));
    fixed_.set_pad(fixed.in(block));
    filtered_.set_pad({});
    matrices_.set_pad({});
    has_pad_ = true;
  }

  using Places = std::variant<TableOffsets<float>, TableOffsets<int32_t>>;

  static Places append(TableBytes &bytes, const SlotPlan &plan) {
    if (const auto *fixed = std::get_if<Yuv444Plan>(&plan.sampling))
      return UploadedYuv444::append(bytes, *fixed);
    return UploadedResample::append(bytes, std::get<ResamplePlan>(plan.sampling));
  }

  void set(const SlotPlans::NewPlan &made, const Places &places, const uint8_t *block) {
    kinds_[made.place] = kind_of(made.plan);
    if (const auto *fixed = std::get_if<Yuv444Plan>(&made.plan.sampling))
      return fixed_.set(made.place, *fixed, std::get<TableOffsets<int32_t>>(places).in(block));
    const auto &plan = std::get<ResamplePlan>(made.plan.sampling);
    const Tables<float> tables = std::get<TableOffsets<float>>(places).in(block);
    resampled_.set(made.place, plan, tables);
    matrices_.set(made.place, plan, tables);  // for launches that also have slots by a matrix
  }

  void set_without_tables(const SlotPlans::NewPlan &made, Stream stream) {
    kinds_[made.place] = kind_of(made.plan);
    const auto *matrix = std::get_if<MatrixPlan>(&made.plan.sampling);
    if (matrix == nullptr) return set_filtered(made, stream);
    matrices_.set(made.place, *matrix, {});
    if (kSlots > 1) one_picture_.set(made.place, *matrix, {});
  }

  void set_filtered(const SlotPlans::NewPlan &made, Stream stream) {
    const auto &plan = std::get<FilterPlan>(made.plan.sampling);
    if (filter_memory_.size() <= made.place) filter_memory_.resize(made.place + 1);
    filtered_.set(made.place, plan,
                  filter_memory_[made.place].upload(plan, device_, filter_ring_, stream));
  }

  CudaDevice &device_;
  TensorArgs args_;
  PlansOfKind<UploadedResample, kSlots> resampled_;
  PlansOfKind<UploadedYuv444, kSlots> fixed_;
  PlansOfKind<UploadedFilter, kSlots> filtered_;
  PlansOfKind<UploadedMatrix, kSlots> matrices_;
  PlansOfKind<UploadedOnePicture, kBatchSlots> one_picture_;
  PerFrameTables tables_;  // tables of plans by place, then of pad
  PinnedRing filter_ring_;
  std::vector<FilterMemory> filter_memory_;  // by place
  std::vector<Kind> kinds_;                  // by place
  bool has_pad_ = false;
};

}  // namespace

std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         CudaDevice &device) {
  if (out.n == 1) return std::make_unique<Normalize<1>>(params, out, device);
  return std::make_unique<Normalize<kBatchSlots>>(params, out, device);
}

}  // namespace cudatensor::cuda
