// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels that fill the slots of a tensor. There are hundreds, which take minutes to compile,
// so each element type has its own source file.
#pragma once

#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/resample.cuh"
#include "kernels/cuda/yuv444.cuh"

namespace cudatensor::cuda {

/// The kernels for a plan. `Uploaded` is the plan on the device; kSlots is the maximum number of
/// slots per launch.
template <class Uploaded, int kSlots>
struct TensorKernels {
  using Work = PixelWork<typename Uploaded::Args, typename Uploaded::Out, kSlots>;

  Launcher<Work> words;    ///< for pictures in the plan's format with aligned words
  Launcher<Work> sharing;  ///< for the same pictures, with samples that pixels share; or null
  Launcher<Work> any;      ///< for all pictures
};

/// Picks the kernels that write elements of type T: float, Half, BFloat16, uint8_t or
/// int8_t.
template <class T, class Uploaded, int kSlots>
TensorKernels<Uploaded, kSlots> pick_kernels(const typename Uploaded::Plan &plan);

template <class Uploaded, int kSlots>
TensorKernels<Uploaded, kSlots> pick_kernels(DType dtype, const typename Uploaded::Plan &plan) {
  switch (dtype) {
    case DType::float32: return pick_kernels<float, Uploaded, kSlots>(plan);
    case DType::float16: return pick_kernels<Half, Uploaded, kSlots>(plan);
    case DType::uint8: return pick_kernels<uint8_t, Uploaded, kSlots>(plan);
    case DType::int8: return pick_kernels<int8_t, Uploaded, kSlots>(plan);
    case DType::bfloat16: return pick_kernels<BFloat16, Uploaded, kSlots>(plan);
  }
  return {};
}

}  // namespace cudatensor::cuda
