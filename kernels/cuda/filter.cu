// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filter.cuh"

namespace cudatensor::cuda {
namespace {

size_t shared_limit() {
  return static_cast<size_t>(std::min(kFilterSharedBytes, shared_memory_limit()));
}

/// More than the 48 KiB that kernels have without it.
template <class... Params>
void allow_shared_memory(void (*kernel)(Params...)) {
  call("cudaFuncSetAttribute", [&] {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared_limit()));
  });
}

/// Selects the kernel for a plan.
template <int kFrames>
class FilterLaunchers {
 public:
  using Work = PixelWork<FilterArgs, FilterOut, kFrames>;
  using Result = Launcher<Work>;

  static Result pick(const ResamplePlan &plan) {
    if (plan.layout.is_deep()) return deep(plan);
    if (plan.sampled == 1) return single(plan);
    if (is_packed_422(plan.layout)) return any<Packed422, 3>();
    if (plan.layout.model == ColorModel::rgb) return rgb(plan);
    if (plan.layout.component[1].step == 2) return any<SemiPlanar, 3>();
    return plan.layout.chroma_shift_x > 0 ? any<PlanarSubsampled, 3>() : any<Planar, 3>();
  }

  /// The kernel for pictures that can be read in quads; null if the plan does not allow it.
  static Result pick_quads(const FilterPlan &plan) {
    if (!UploadedFilter::quad_args(plan)) return nullptr;
    if (plan.pixels.layout.component[1].step == 2) return of<QuadPixels<SemiPlanar>>();
    return of<QuadPixels<PlanarSubsampled>>();
  }

  static Result pick_any(const ResamplePlan &plan) {
    return plan.produced == 1 ? any<AnySamples, 1>() : any<AnySamples, 3>();
  }

 private:
  template <class Pixels>
  static Result of() {
    allow_shared_memory(filter<Pixels, kFrames>);
    return launch_filter<Pixels>;
  }

  template <class F, int produced>
  static Result any() {
    return of<AnyPixels<F, AnyConversion<produced>>>();
  }

  static Result deep(const ResamplePlan &plan) {
    if (plan.layout.model == ColorModel::gray) return pick_any(plan);
    if (plan.sampled == 1) return any<DeepSingle, 1>();
    return plan.layout.planes == 2 ? any<DeepSemiPlanar, 3>() : any<DeepPlanar, 3>();
  }

  static Result single(const ResamplePlan &plan) {
    if (is_packed_422(plan.layout)) return any<SingleOf422, 1>();
    return plan.produced == 1 ? any<Single, 1>() : any<Single, 3>();
  }

  template <class F>
  static Result rgb_of(const ResamplePlan &plan) {
    return plan.produced == 1 ? any<F, 1>() : any<F, 3>();
  }

  static Result rgb(const ResamplePlan &plan) {
    switch (plan.layout.component[0].step) {
      case 3: return rgb_of<Packed3>(plan);
      case 4: return rgb_of<Packed4>(plan);
      default: return rgb_of<Planar>(plan);
    }
  }

  template <class Pixels>
  static void launch_filter(const char *name, const Queue &queue, const Work &work, size_t frames) {
    const FilterShape shape = shape_for(work, frames, Pixels::kProduced);
    const dim3 block(32, shape.warps);
    const dim3 grid(blocks_for(work.width, kFilterTileWidth),
                    blocks_for(work.height, shape.tile_height), static_cast<unsigned>(frames));
    const size_t shared = shared_bytes(shape, Pixels::kProduced);
    launch(name, filter<Pixels, kFrames>, {grid, block, shared}, queue, work, shape);
  }

  /// One that all frames fit.
  static FilterShape shape_for(const Work &work, size_t frames, int components) {
    FilterNeeds most = work.in[0].needs;
    for (size_t i = 1; i < frames; ++i) {
      const FilterNeeds &needs = work.in[i].needs;
      if (most.words == 0) most.best = needs.best;
      most.words = std::max(most.words, needs.words);
      for (size_t k = 0; k < most.groups.size(); ++k)
        most.groups[k] = std::max(most.groups[k], needs.groups[k]);
    }
    return make_shape(most, components, shared_limit());
  }
};

template <int kFrames>
TensorKernels<UploadedFilter, kFrames> pick(const FilterPlan &plan) {
  using Launchers = FilterLaunchers<kFrames>;
  return {Launchers::pick(plan.pixels), Launchers::pick_quads(plan),
          Launchers::pick_any(plan.pixels)};
}

}  // namespace

template <>
TensorKernels<UploadedFilter, 1> pick_kernels<UploadedFilter, 1>(DType, const FilterPlan &plan) {
  return pick<1>(plan);
}
template <>
TensorKernels<UploadedFilter, kBatchFrames> pick_kernels<UploadedFilter, kBatchFrames>(
    DType, const FilterPlan &plan) {
  return pick<kBatchFrames>(plan);
}

}  // namespace cudatensor::cuda
