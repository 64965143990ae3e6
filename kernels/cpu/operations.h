// SPDX-License-Identifier: LGPL-2.1-or-later
// Factories of the CPU backend's operations, which are in one file each.
#pragma once

#include "kernels/cpu/workers.h"
#include "kernels/ops.h"

namespace cudatensor::cpu {

std::unique_ptr<ImageToImage> make(const Yuv444Params &params, Workers &workers);
std::unique_ptr<ImageToImage> make(const LetterboxParams &params, Workers &workers);
std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         Workers &workers);
std::unique_ptr<HistogramOperation> make(const HistogramParams &params, Workers &workers);
std::unique_ptr<TensorToTensor> make(const PixelShuffleParams &params, Workers &workers);
std::unique_ptr<TensorToImage> make(const PixelShuffleToVideoParams &params, Workers &workers);
std::unique_ptr<DetectionOperation> make_detections(Workers &workers);

}  // namespace cudatensor::cpu
