// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/filter.cuh"

namespace cudatensor::cuda {
namespace {

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
    if (!plan.layout.subsampled_x) return any<Planar, 3>();
    return plan.layout.component[1].step == 2 ? any<SemiPlanar, 3>() : any<PlanarSubsampled, 3>();
  }

  /// The kernel for pictures that can be read in quads; null if the plan does not allow it.
  static Result pick_quads(const ResamplePlan &plan) {
    if (!is_unscaled(plan)) return nullptr;
    using Converts = OneConversion<Conversion::yuv_to_rgb, 3, false>;
    return plan.layout.component[1].step == 2 ? launch_filter<QuadPixels<SemiPlanar, Converts>>
                                              : launch_filter<QuadPixels<PlanarSubsampled, Converts>>;
  }

  static Result pick_any(const ResamplePlan &plan) {
    return plan.produced == 1 ? any<AnySamples, 1>() : any<AnySamples, 3>();
  }

 private:
  template <class F, int produced>
  static constexpr Result any() {
    return launch_filter<AnyPixels<F, AnyConversion<produced>>>;
  }

  static Result deep(const ResamplePlan &plan) {
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
  static void launch_filter(const char *name, const Queue &queue, const Work &work,
                            size_t frames) {
    constexpr int kTileHeight = kFrames == 1 ? kSingleTileHeight : kBatchTileHeight;
    const dim3 block(32, kFilterWarps);
    const dim3 grid(blocks_for(work.width, kTileWidth), blocks_for(work.height, kTileHeight),
                    static_cast<unsigned>(frames));
    launch(name, filter<Pixels, kFrames, kTileHeight>, grid, block, queue, work);
  }
};

template <int kFrames>
TensorKernels<UploadedFilter, kFrames> pick(const FilterPlan &plan) {
  using Launchers = FilterLaunchers<kFrames>;
  return {Launchers::pick(plan.pixels), Launchers::pick_quads(plan.pixels),
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
