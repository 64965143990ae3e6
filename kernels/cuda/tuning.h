// SPDX-License-Identifier: LGPL-2.1-or-later
// Constants that affect only performance. The measurements were made on an H200; "a frame" is 1080p
// NV12 converted to a letterboxed 640×640 tensor, and "a batch" is 64 of these.
#pragma once

namespace cudatensor::cuda {

/// Block size of the per-pixel kernels. Neighbors along x access whole memory sectors, and all
/// threads of a warp have the same rows, so branches do not diverge. With blocks of 32 or 64
/// threads the rate of block launches is the bottleneck (the 1600 blocks of a frame take at least
/// 1.95 µs). Blocks of 256 threads finish unevenly: a batch takes 2.04 µs per frame instead of
/// 1.88.
struct BlockShape {
  int width, height;
};
constexpr BlockShape kPixelBlock = {32, 4};

/// Rows per thread for tensors. The thread reads the tables once for all its rows, and their loads
/// are in flight at the same time. In a batch, 1 row takes 2.4 µs per frame, 2 take 2.2, 4
/// take 1.88 and 8 take 1.91; with 8, a single frame takes 4.3 µs instead of 4.0 because there are
/// too few blocks.
constexpr int kTensorRows = 4;

/// Minimum blocks per multiprocessor, which limits the registers per thread: to 56, of which 48 are
/// used, and to 40 for one- and two-byte elements. With 40 registers a float16 batch takes 1.40 µs
/// per frame instead of 1.46, but in float32 a batch of 4K takes 2.37 instead of 2.32 and a single
/// 4K frame 4.9 instead of 4.6.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kTensorBlocksPerSm = 8;  // with 1024 threads each
constexpr int kSmallTensorBlocksPerSm = 8;
#else
constexpr int kTensorBlocksPerSm = 9;
constexpr int kSmallTensorBlocksPerSm = 11;
#endif

/// Side of a tile of a transposed picture, in pixels, which is also the number of threads that read
/// neighboring samples, and the warps of its block.
constexpr int kTileSide = 32;
constexpr int kTileWarps = 8;

/// Minimum blocks per multiprocessor for tiles. A float16 batch turned by 90° takes 2.59 µs per frame
/// with 3, 2.19 with 4, 2.02 with 5, and 1.94 with 6, which spill one register.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kTileBlocksPerSm = 4;  // with 1024 threads in all
#else
constexpr int kTileBlocksPerSm = 6;
#endif

/// Block size, rows per thread and minimum blocks per multiprocessor of the kernels for slots by a
/// matrix. Threads of a warp read along a slope, so that nothing is gained by 32 neighbors along x,
/// and 112 pixels are whole blocks of 16. 64 slots of 112×112 take 8.7 µs with kPixelBlock and four
/// rows, 8.1 with blocks of 16×4, 7.9 with 16×16, and 7.75 with 16×8 and 8 to 10 of them per
/// multiprocessor; 64 slots of 640×640 take 199 µs instead of 193 with kPixelBlock.
constexpr BlockShape kMatrixBlock = {16, 8};
constexpr int kMatrixRows = 2;
constexpr int kMatrixBlocksPerSm = 8;

/// Minimum blocks per multiprocessor of kernels whose rows share samples. For 640×480 to 1280×1280,
/// a frame in a batch takes 6.5 µs; with 8 it takes 6.7, and with 10 it takes 6.9, because
/// registers are spilled.
constexpr int kSharedBlocksPerSm = kTensorBlocksPerSm;

/// Rows per thread for pictures, with four columns each. For 4K NV12 with centered chroma to 1080p
/// BGR, 1 row takes 10.9 µs, 2 take 10.0 and 4 take 11.0. For 4K BGR to 1080p BGR, which is less
/// common, they take 12.8, 15.1 and 18.1.
constexpr int kPictureRows = 2;

/// Minimum blocks per multiprocessor for pictures that are not resized. For 4K NV12 to BGR, 8
/// take 17.9 µs and 10 take 18.2; without a limit (71 registers) it takes 18.4.
constexpr int kUnscaledBlocksPerSm = 8;

/// Block size of the kernel that converts 4:2:0 to 4:4:4 without a resize.
constexpr int kReplicateBlockWidth = 32;
constexpr int kReplicateBlockHeight = 8;

/// Threads per block and blocks per multiprocessor of the histogram kernel. Each block adds 256
/// bins to the totals, so there are as few blocks as possible. Two blocks of 512 threads take 0.5
/// to 0.8 µs longer for random 1080p luma, and one block of 512 threads takes 6.2 µs for 4K instead
/// of 5.0.
constexpr int kHistogramThreads = 1024;
constexpr int kHistogramBlocksPerSm = 1;

/// Distance between the sectors of the totals, in totals. In a CUDA graph, random 1080p luma
/// takes 3.23 µs with adjacent sectors (4), 2.97 with 16, 2.58 with 32, 2.48 with 64, and 2.42 with
/// 128, which needs twice the memory.
constexpr unsigned kHistogramSectorDistance = 64;

/// The constants of the kernel of antialiased resizes: columns of a tile, warps of a block and, for
/// that many warps, blocks per multiprocessor, registers per thread, and bytes of shared memory per
/// block.
constexpr int kFilterTileWidth = 32;
constexpr int kFilterWarps = 8;
constexpr int kFilterBlocksPerSm = 3;
constexpr int kFilterRegisters = 80;
constexpr int kFilterSharedBytes = 74 * 1024;

/// Maximum warps of a block, for single frames with few blocks. For one block per multiprocessor,
/// 1080p NV12 to 224×224 with torchvision's crop takes 8.7 µs with 16 warps and 9.7 with 8. Without
/// the limit of registers it takes 7.8, but two blocks would not fit.
constexpr int kMostFilterWarps = 16;

/// Threads per block of the pixel shuffle kernels.
constexpr int kShuffleThreads = 256;

}  // namespace cudatensor::cuda
