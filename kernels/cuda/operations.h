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

std::unique_ptr<ImageToImage> make_yuv444(const Yuv444Params &params, CudaDevice &device);
std::unique_ptr<ImageToImage> make_letterbox(const LetterboxParams &params, CudaDevice &device);
std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, CudaDevice &device);
std::unique_ptr<ImagesToTensor> make_normalize_batch(const std::vector<Source> &sources,
                                                     const NormalizeParams &params,
                                                     CudaDevice &device);
std::unique_ptr<RegionsToTensor> make_normalize_regions(const NormalizeParams &params,
                                                        CudaDevice &device);
std::unique_ptr<HistogramOperation> make_histogram(const HistogramParams &params,
                                                   CudaDevice &device);
std::unique_ptr<TensorToTensor> make_pixelshuffle(const PixelShuffleParams &params,
                                                  CudaDevice &device);
std::unique_ptr<TensorToImage> make_pixelshuffle(const PixelShuffleToVideoParams &params,
                                                 CudaDevice &device);

}  // namespace cudatensor::cuda
