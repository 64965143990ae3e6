// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filter.cuh"

namespace cudatensor::cuda {
namespace {

size_t shared_limit() {
  return static_cast<size_t>(std::min(kFilterSharedBytes, shared_memory_limit()));
}

/// Allows a kernel more than the default of 48 KiB of shared memory.
template <class... Params>
void allow_shared_memory(void (*kernel)(Params...)) {
  call("cudaFuncSetAttribute", [&] {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared_limit()));
  });
}

/// Selects the kernel for a plan.
template <int kSlots>
class FilterLaunchers {
 public:
  using Work = PixelWork<FilterArgs, FilterOut, kSlots>;
  using Result = Launcher<Work>;

  static Result pick(const ResamplePlan &plan) {
    using F = SampleFamily;
    switch (plan.layout.family) {
      case F::gray: return gray_or_rgb<Single>(plan);
      case F::packed_rgb3: return gray_or_rgb<Packed3>(plan);
      case F::packed_rgb4: return gray_or_rgb<Packed4>(plan);
      case F::planar_rgb: return gray_or_rgb<Planar>(plan);
      case F::planar_444: return yuv<Planar, Single>(plan);
      case F::planar_subsampled: return yuv<PlanarSubsampled, Single>(plan);
      case F::semiplanar: return yuv<SemiPlanar, Single>(plan);
      case F::packed_422: return yuv<Packed422, SingleOf422>(plan);
      case F::deep_gray: return pick_any(plan);  // rare, so it has no kernels of its own
      case F::deep_planar: return yuv<DeepPlanar, DeepSingle>(plan);
      case F::deep_semiplanar: return yuv<DeepSemiPlanar, DeepSingle>(plan);
    }
    throw_unknown_family();
  }

  /// Returns the kernel for pictures that can be read in quads; null if the plan does not allow it.
  static Result pick_quads(const FilterPlan &plan) {
    if (!UploadedFilter::quad_args(plan)) return nullptr;
    if (plan.pixels.layout.family == SampleFamily::semiplanar) return of<QuadPixels<SemiPlanar>>();
    return of<QuadPixels<PlanarSubsampled>>();
  }

  static Result pick_any(const ResamplePlan &plan) {
    return plan.produced == 1 ? any<AnySamples, 1>() : any<AnySamples, 3>();
  }

 private:
  template <class Pixels>
  static Result of() {
    allow_shared_memory(filter<Pixels, kSlots>);
    return launch_filter<Pixels>;
  }

  template <class F, int produced>
  static Result any() {
    return of<AnyPixels<F, AnyConversion<produced>>>();
  }

  template <class Samples>
  static Result gray_or_rgb(const ResamplePlan &plan) {
    return plan.produced == 1 ? any<Samples, 1>() : any<Samples, 3>();
  }

  /// Picks the kernel of a YUV format. `Luma` reads the first component alone.
  template <class Samples, class Luma>
  static Result yuv(const ResamplePlan &plan) {
    return plan.sampled == 1 ? any<Luma, 1>() : any<Samples, 3>();
  }

  template <class Pixels>
  static void launch_filter(const char *name, const Queue &queue, const Work &work, size_t slots) {
    const FilterShape shape = shape_for(work, slots, Pixels::kProduced);
    const dim3 block(32, shape.warps);
    const dim3 grid(blocks_for(work.width, kFilterTileWidth),
                    blocks_for(work.height, shape.tile_height), static_cast<unsigned>(slots));
    const size_t shared = shared_bytes(shape, Pixels::kProduced);
    launch(name, filter<Pixels, kSlots>, {grid, block, shared}, queue, work, shape);
  }

  /// Returns a shape that fits all slots.
  static FilterShape shape_for(const Work &work, size_t slots, int components) {
    FilterNeeds most = work.in[0].needs;
    for (size_t i = 1; i < slots; ++i) {
      const FilterNeeds &needs = work.in[i].needs;
      if (most.words == 0) most.best = needs.best;
      most.words = std::max(most.words, needs.words);
      for (size_t k = 0; k < most.groups.size(); ++k)
        most.groups[k] = std::max(most.groups[k], needs.groups[k]);
    }
    return make_shape(most, components, shared_limit());
  }
};

template <int kSlots>
TensorKernels<UploadedFilter, kSlots> pick(const FilterPlan &plan) {
  using Launchers = FilterLaunchers<kSlots>;
  return {Launchers::pick(plan.pixels), Launchers::pick_quads(plan),
          Launchers::pick_any(plan.pixels)};
}

}  // namespace

template <>
TensorKernels<UploadedFilter, 1> pick_kernels<UploadedFilter, 1>(DType, const FilterPlan &plan) {
  return pick<1>(plan);
}
template <>
TensorKernels<UploadedFilter, kBatchSlots> pick_kernels<UploadedFilter, kBatchSlots>(
    DType, const FilterPlan &plan) {
  return pick<kBatchSlots>(plan);
}

}  // namespace cudatensor::cuda
