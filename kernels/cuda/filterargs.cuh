// SPDX-License-Identifier: LGPL-2.1-or-later
// The parameters of the kernels of antialiased resizes, and their plans in device memory.
#pragma once

#include "kernels/cuda/filtershape.h"
#include "kernels/cuda/filtertables.cuh"
#include "kernels/cuda/quadargs.h"
#include "kernels/cuda/tensorkernels.cuh"
#include "kernels/cuda/unscaled.cuh"

namespace cudatensor::cuda {

struct FilterArgs {
  ResampleArgs pixels;  ///< the source pixels that the windows read, and the pad color
  FilterTables tables;
  QuadArgs quads;     ///< for kernels that read quads
  FilterNeeds needs;  ///< used by the host only
};

/// The destination of the values: a tensor or a picture.
struct FilterOut {
  uint8_t *data;
  int64_t frame, channel[3];  ///< as in TensorArgs
  uint32_t row[3], pixel;     ///< likewise; rows by component
  ChannelScale scale[3];
  int32_t opaque;  ///< byte of a pixel that is set to 255, or -1
  DType dtype;
  bool pad_is_zero;
  bool paired;  ///< whether the values of two neighboring columns can be stored at once

  FilterOut() = default;
  explicit FilterOut(const TensorArgs &to);
  FilterOut(const Image &to, const FormatLayout &layout);

 private:
  bool can_be_paired() const;
};

inline bool FilterOut::can_be_paired() const {
  const size_t element = size_of(dtype);
  uint64_t all = reinterpret_cast<uintptr_t>(data) | static_cast<uint64_t>(frame);
  for (int c = 0; c < 3; ++c) all |= static_cast<uint64_t>(channel[c]) | row[c];
  return pixel == element && all % (2 * element) == 0;
}

inline FilterOut::FilterOut(const TensorArgs &to)
    : data(to.data),
      frame(to.frame),
      row{to.row, to.row, to.row},
      pixel(to.pixel),
      opaque(-1),
      dtype(to.dtype),
      pad_is_zero(to.pad_is_zero) {
  std::copy(to.channel, to.channel + 3, channel);
  std::copy(to.scale, to.scale + 3, scale);
  paired = can_be_paired();
}

inline FilterOut::FilterOut(const Image &to, const FormatLayout &layout) : FilterOut() {
  const bool padded = layout.family == SampleFamily::packed_rgb4;
  data = to.planes[layout.component[0].plane].data;
  frame = 0;
  pixel = layout.component[0].step;
  opaque = padded ? layout.padding_offset : -1;
  dtype = DType::uint8;
  pad_is_zero = false;
  for (int c = 0; c < 3; ++c) {
    const Component &component = layout.component[c < layout.components ? c : 0];
    const auto &plane = to.planes[component.plane];
    channel[c] = plane.data + component.offset - data;
    row[c] = stride_of(plane.stride);
    scale[c] = {1.0f, 0.0f};
  }
  paired = can_be_paired();
}

/// Does nothing: the kernels of filters know which pixels are outside the picture.
inline void mark_outside(FilterArgs &) {}

/// A plan in device memory and the kernel parameters derived from it.
class UploadedFilter {
 public:
  using Plan = FilterPlan;
  using Args = FilterArgs;
  using Out = FilterOut;

  struct DeviceTables {
    Tables<float> pixels;
    FilterTables filter;
  };

  /// The tables of a plan, in their own memory or owned by another object.
  class PlanTables {
   public:
    PlanTables(CudaDevice &device, const FilterPlan &plan) {
      if (!reads_pixels(plan)) return;
      TableBytes bytes;
      const FilterOffsets offsets(bytes, plan);
      memory_ = device.table(bytes.get().data(), bytes.get().size());
      tables_ = {offsets.pixels_in(memory_->data()), offsets.in(memory_->data())};
    }
    explicit PlanTables(const DeviceTables &tables) : tables_(tables) {}

    const DeviceTables &get() const { return tables_; }

   private:
    std::shared_ptr<const Memory> memory_;
    DeviceTables tables_ = {};
  };

  UploadedFilter(CudaDevice &device, const FilterPlan &plan)
      : UploadedFilter(PlanTables(device, plan), plan, 1) {}

  /// `slots`: the maximum number of slots per launch.
  UploadedFilter(PlanTables tables, const FilterPlan &plan, int slots)
      : tables_(std::move(tables)),
        layout_(plan.pixels.layout),
        sampled_(plan.pixels.sampled),
        direction_(plan.pixels.source.direction) {
    args_.tables = tables_.get().filter;
    args_.pixels = resample_args(plan.pixels, tables_.get().pixels);
    if (!reads_pixels(plan)) return;
    args_.needs = needs_of(plan, slots, multiprocessors());
    args_.quads = quad_args(plan).value_or(QuadArgs{});
  }

  /// Returns the parameters of quads; no value if the plan cannot be read in quads.
  static std::optional<QuadArgs> quad_args(const FilterPlan &plan) {
    if (plan.pixels.conversion != Conversion::yuv_to_rgb ||
        plan.pixels.source.direction != Direction::identity)
      return std::nullopt;
    return make_quad_args(plan.pixels.source.image, plan.pixels.sampling, plan.x.src_begin,
                          plan.y.src_begin);
  }

  /// Whether the plan has any output pixel that is not pad.
  static bool reads_pixels(const FilterPlan &plan) { return plan.x.begin < plan.x.end; }

  /// Returns a plan that is all pad. It needs no tables.
  static FilterPlan pad_plan(const TensorPlan &tensor) {
    FilterPlan plan = {};
    plan.pixels.layout = layout_of(PixelFormat::GRAY8);
    plan.pixels.sampled = 1;
    plan.pixels.produced = static_cast<int>(tensor.slot.c);
    plan.pixels.pad = tensor.pad;
    return plan;
  }

  bool fits_words(const ConstImage &in) const {
    return cuda::fits_words(in, layout_, sampled_, direction_);
  }
  bool fits_sharing(const ConstImage &in) const { return fits_quads(in, layout_); }

  FilterArgs args(const ConstImage &in, bool words) const {
    FilterArgs args = args_;
    set_samples(args.pixels, in, layout_, sampled_, words ? Reading::upright : Reading::bytes,
                direction_);
    return args;
  }
  FilterArgs pad_args(const PadColor &) const { return args_; }

 private:
  PlanTables tables_;
  FormatLayout layout_;
  int sampled_;
  Direction direction_;
  FilterArgs args_ = {};  // all arguments except the samples
};

template <>
TensorKernels<UploadedFilter, 1> pick_kernels<UploadedFilter, 1>(DType, const FilterPlan &);
template <>
TensorKernels<UploadedFilter, kBatchSlots> pick_kernels<UploadedFilter, kBatchSlots>(
    DType, const FilterPlan &);

}  // namespace cudatensor::cuda
