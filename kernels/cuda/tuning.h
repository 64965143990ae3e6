// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers that only speed depends on.
#pragma once

namespace cudatensor::cuda {

/// Threads of a block of the kernels that make one output pixel a thread: 32 neighbours of a row
/// read and write whole sectors; 8 rows share the cached source rows.
constexpr int kPixelBlockWidth = 32;
constexpr int kPixelBlockHeight = 8;

/// Threads of a block that counts, and blocks on each multiprocessor. Every block adds up to 256
/// bins to the total: on an H200 two blocks of 512 took 8.15 µs for random 1080p luma, of which
/// 2.3 were that (flat: 5.82).
constexpr int kHistogramThreads = 1024;
constexpr int kHistogramBlocksPerSm = 1;

/// Threads of a block of the pixel shuffle.
constexpr int kShuffleThreads = 256;

}  // namespace cudatensor::cuda
