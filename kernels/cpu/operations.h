// SPDX-License-Identifier: LGPL-2.1-or-later
// The operations of the CPU backend, one file each.
#pragma once

#include "kernels/cpu/workers.h"
#include "kernels/ops.h"

namespace cudatensor::cpu {

std::unique_ptr<ImageToImage> make_yuv444(const Yuv444Params &params, Workers &workers);
std::unique_ptr<ImageToImage> make_letterbox(const LetterboxParams &params, Workers &workers);
std::unique_ptr<ImageToTensor> make_normalize(const NormalizeParams &params, Workers &workers);
std::unique_ptr<ImagesToTensor> make_normalize_batch(const std::vector<Source> &sources,
                                                     const NormalizeParams &params,
                                                     Workers &workers);
std::unique_ptr<RegionsToTensor> make_normalize_regions(const NormalizeParams &params,
                                                        Workers &workers);
std::unique_ptr<HistogramOperation> make_histogram(const HistogramParams &params, Workers &workers);
std::unique_ptr<TensorToTensor> make_pixelshuffle(const PixelShuffleParams &params,
                                                  Workers &workers);
std::unique_ptr<TensorToImage> make_pixelshuffle(const PixelShuffleToVideoParams &params,
                                                 Workers &workers);

}  // namespace cudatensor::cpu
