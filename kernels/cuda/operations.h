// SPDX-License-Identifier: LGPL-2.1-or-later
// The operations of the CUDA backend, one file each.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/ops.h"

namespace cudatensor::cuda {

/// Throws Error::not_found where this build has no code for the current device. Returns whether that
/// code waits for the kernel ahead of it, and so may begin before that has ended: from compute
/// capability 9.0 on.
bool check_code();

std::unique_ptr<ImageToImage> make(const Yuv444Params &params, CudaDevice &device);
std::unique_ptr<ImageToImage> make(const LetterboxParams &params, CudaDevice &device);
std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         CudaDevice &device);
std::unique_ptr<HistogramOperation> make(const HistogramParams &params, CudaDevice &device);
std::unique_ptr<TensorToTensor> make(const PixelShuffleParams &params, CudaDevice &device);
std::unique_ptr<TensorToImage> make(const PixelShuffleToVideoParams &params, CudaDevice &device);

}  // namespace cudatensor::cuda
