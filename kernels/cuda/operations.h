// SPDX-License-Identifier: LGPL-2.1-or-later
// Factories of the CUDA backend's operations, which are in one file each.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/ops.h"

namespace cudatensor::cuda {

/// Throws Error::not_found if this build has no code for the current device. Returns whether that
/// code supports programmatic dependent launch, so that a kernel may start before the previous one
/// has finished; this requires compute capability 9.0.
bool check_code();

std::unique_ptr<ImageToImage> make(const Yuv444Params &params, CudaDevice &device);
std::unique_ptr<ImageToImage> make(const LetterboxParams &params, CudaDevice &device);
std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         CudaDevice &device);
std::unique_ptr<HistogramOperation> make(const HistogramParams &params, CudaDevice &device);
std::unique_ptr<TensorToTensor> make(const PixelShuffleParams &params, CudaDevice &device);
std::unique_ptr<TensorToImage> make(const PixelShuffleToVideoParams &params, CudaDevice &device);
std::unique_ptr<DetectionOperation> make_detections(CudaDevice &device);

}  // namespace cudatensor::cuda
