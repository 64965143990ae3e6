// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers that only speed depends on. What was measured is from an H200, "a frame" is 1080p NV12 to a
// letterboxed 640×640 tensor, "a batch" 64 of them.
#pragma once

namespace cudatensor::cuda {

/// A block of the kernels that make pixels. Neighbours along x read and write whole sectors; all
/// threads of a warp have the same rows, which keeps its branches together. Blocks of 32 or 64
/// threads are slower than the GPU starts them (1600 blocks of a frame take 1.95 µs, whatever they
/// do); blocks of 256 end unevenly: a batch 2.04 µs a frame instead of 1.88.
constexpr int kPixelBlockWidth = 32;
constexpr int kPixelBlockHeight = 4;

/// Rows that a thread makes of a tensor. Tables are read once for all, and their samples are on the
/// way together. 1: a batch takes 2.4 µs a frame, 2: 2.2, 4: 1.88; 8: 1.91, but a single frame 4.3
/// instead of 4.0, since too few blocks are left.
constexpr int kTensorRows = 4;

/// Blocks on a multiprocessor, which bounds a thread's registers: to 56, of which 48 are used, and to
/// 40 for elements of one or two bytes. With 40 a batch takes 1.40 µs a frame in float16 instead of
/// 1.46; in float32 a batch of 4K takes 2.37 instead of 2.32, one frame of it 4.9 instead of 4.6.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kTensorBlocksPerSm = 8;  // of 1024 threads
constexpr int kSmallTensorBlocksPerSm = 8;
#else
constexpr int kTensorBlocksPerSm = 9;
constexpr int kSmallTensorBlocksPerSm = 11;
#endif

/// At most so many where rows share what they read; 640×480 to 1280×1280: 6.5 µs in a batch; 8: 6.7;
/// 10: 6.9, since registers spill.
constexpr int kSharingBlocksPerSm = kTensorBlocksPerSm;

/// Rows that a thread makes of a picture, of four columns each. 4K NV12 with centred chroma to 1080p
/// BGR: 1 takes 10.9 µs, 2 10.0, 4 11.0. Against it: 4K BGR to 1080p BGR takes 12.8, 15.1 and 18.1.
constexpr int kPictureRows = 2;

/// Blocks on a multiprocessor where pictures are not resized. 4K NV12 to BGR: 8 takes 17.9 µs, 10 18.2;
/// unbound, at 71 registers, 18.4.
constexpr int kUnscaledBlocksPerSm = 8;

/// A block of the kernel that brings 4:2:0 to 4:4:4 without a resize.
constexpr int kReplicateBlockWidth = 32;
constexpr int kReplicateBlockHeight = 8;

/// Threads of a block that counts, and blocks on each multiprocessor: every block adds 256 bins to
/// the totals, so there are as few as there can be. Two blocks of 512 take 0.5 to 0.8 µs longer for
/// random 1080p luma; 512 threads alone take 6.2 µs for 4K instead of 5.0.
constexpr int kHistogramThreads = 1024;
constexpr int kHistogramBlocksPerSm = 1;

/// Totals from one sector of memory to the next. Next to each other (4) random 1080p luma takes
/// 3.23 µs in a graph, 16: 2.97, 32: 2.58, 64: 2.48, 128: 2.42 and twice the memory.
constexpr unsigned kHistogramSectorDistance = 64;

/// Threads of a block of the pixel shuffle.
constexpr int kShuffleThreads = 256;

}  // namespace cudatensor::cuda
