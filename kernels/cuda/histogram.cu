// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram, in two stages of one launch. Each block counts in shared memory and adds its bins
// to the totals. If the bins are requested, the last block to reach a bin writes the result and
// clears the total.
#include "kernels/cuda/operations.h"
#include "kernels/cuda/samples.cuh"
#include "kernels/histogram.h"

namespace cudatensor::cuda {
namespace {

/// The number of columns of counters. Each lane of a warp has its own column, and so its own bank,
/// so that equal neighbors, which are common in flat pictures, never conflict.
constexpr int kColumns = 32;

/// A bin's pixel count since the last result. In a launch that returns the bins, the upper bits
/// count the finished blocks. Atomic additions within one memory sector are serialized, as are,
/// more slowly, those within one slice of the L2 cache, so the sectors are spaced apart.
using Total = unsigned long long;
constexpr unsigned kBlocksShift =
    54;  // enough for the pixels of 100 days of 8K at 60 frames per second
constexpr unsigned kMaxBlocks = 1 << (64 - kBlocksShift);
constexpr Total kPixelsMask = (Total{1} << kBlocksShift) - 1;
constexpr unsigned kTotalsPerSector = 32 / sizeof(Total);
constexpr size_t kTotals = kBins / kTotalsPerSector * kHistogramSectorDistance;

__device__ __forceinline__ unsigned total_index(unsigned bin) {
  return bin / kTotalsPerSector * kHistogramSectorDistance + bin % kTotalsPerSector;
}

/// Divides numbers less than 2^31 by a divisor of at least 2.
struct Divider {
  uint32_t divisor, factor, shift;

  explicit Divider(uint32_t d) : divisor(d), shift(0) {
    while ((2u << shift) < d) ++shift;  // 2^(shift + 1) is the first power of 2 that is at least d
    factor = static_cast<uint32_t>(((uint64_t{1} << (32 + shift)) + d - 1) / d);
  }
  Divider() = default;

  __device__ __forceinline__ uint32_t quotient(uint32_t i) const {
    return __umulhi(i, factor) >> shift;
  }
};

struct HistogramArgs {
  const uint8_t *data[3];  // per plane, at the top left corner of the region
  uint32_t stride[3];
  uint32_t width, height;
  Divider chunks;     // by chunks per row, plus one for unaligned pixels unless whole_chunks
  bool whole_chunks;  // whether all rows consist of whole, aligned chunks
  Total *totals;
  unsigned long long *bins;  // null: only add to the totals
};

using Counts = unsigned[kBins * kColumns];

__device__ __forceinline__ void count(Counts &counts, unsigned bin) {
  atomicAdd(&counts[bin * kColumns + threadIdx.x % kColumns], 1u);
}

// Readers. A chunk is kPixels pixels, loaded as kVectors Vectors if the first pixel is aligned to a
// Vector.

template <class Vector, int kVectors>
struct Vectors {
  Vector vector[kVectors];

  __device__ __forceinline__ int32_t byte(int i) const {
    uint32_t words[sizeof(vector) / 4];
    memcpy(words, vector, sizeof(vector));
    return static_cast<int32_t>(__byte_perm(words[i / 4], 0, 0x4440 + i % 4));
  }
};

/// One plane with `step` bytes per pixel.
template <int step>
struct OnePlane {
  using Vector = std::conditional_t<step == 3, uint32_t, uint4>;
  static constexpr int kPixels = step == 3 ? 4 : sizeof(Vector) / step;
  static constexpr int kVectors = kPixels * step / sizeof(Vector);
  using Chunk = Vectors<Vector, kVectors>;

  static __device__ __forceinline__ const uint8_t *at(const HistogramArgs &in, uint32_t row,
                                                      uint32_t x) {
    return advance(advance(in.data[0], row, in.stride[0]), x, step);
  }
  static __device__ __forceinline__ const uint8_t *vector_at(const HistogramArgs &in, int i,
                                                             uint32_t row, uint32_t x) {
    return at(in, row, x) + i * sizeof(Vector);
  }
  /// Returns the number of pixels before the first aligned one in a row; kPixels if no pixel can be
  /// aligned.
  static __device__ __forceinline__ uint32_t unaligned_pixels(const HistogramArgs &in,
                                                              uint32_t row) {
    const auto address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at(in, row, 0)));
    if (step == 3) return address % 4;  // 3 is -1, modulo 4
    return address % step != 0 ? kPixels : -address % sizeof(Vector) / step;
  }
};

/// Reads pixels whose bin is the byte at `offset`.
template <int step, int offset>
struct SampleReader : OnePlane<step> {
  using typename OnePlane<step>::Chunk;
  static __device__ __forceinline__ unsigned bin(const Chunk &chunk, int i) {
    return chunk.byte(i * step + offset);
  }
  static __device__ __forceinline__ unsigned bin_at(const HistogramArgs &in, uint32_t row,
                                                    uint32_t x) {
    return __ldg(OnePlane<step>::at(in, row, x) + offset);
  }
};

/// Reads samples whose bin is the upper eight of `bits` bits, the low bits of two bytes.
template <int bits>
struct LowBitsReader : OnePlane<2> {
  static __device__ __forceinline__ unsigned bin_of(unsigned low, unsigned high) {
    return (low >> (bits - 8) | high << (16 - bits)) & 0xff;
  }
  static __device__ __forceinline__ unsigned bin(const Chunk &chunk, int i) {
    return bin_of(chunk.byte(i * 2), chunk.byte(i * 2 + 1));
  }
  static __device__ __forceinline__ unsigned bin_at(const HistogramArgs &in, uint32_t row,
                                                    uint32_t x) {
    const uint8_t *pixel = at(in, row, x);
    return bin_of(__ldg(pixel), __ldg(pixel + 1));
  }
};

/// Reads pixels with red, green and blue at these byte offsets.
template <int step, int r, int g, int b>
struct PackedReader : OnePlane<step> {
  using typename OnePlane<step>::Chunk;
  static __device__ __forceinline__ unsigned bin(const Chunk &chunk, int i) {
    return luminance(value_of(chunk.byte(i * step + r)), value_of(chunk.byte(i * step + g)),
                     value_of(chunk.byte(i * step + b)));
  }
  static __device__ __forceinline__ unsigned bin_at(const HistogramArgs &in, uint32_t row,
                                                    uint32_t x) {
    const uint8_t *pixel = OnePlane<step>::at(in, row, x);
    return luminance(__ldg(pixel + r), __ldg(pixel + g), __ldg(pixel + b));
  }
};

/// Reads red, green and blue from separate planes.
struct PlanarReader {
  using Vector = uint4;
  static constexpr int kPixels = sizeof(Vector), kVectors = 3;
  using Chunk = Vectors<Vector, kVectors>;

  static __device__ __forceinline__ const uint8_t *vector_at(const HistogramArgs &in, int i,
                                                             uint32_t row, uint32_t x) {
    return advance(in.data[i], row, in.stride[i]) + x;
  }
  static __device__ __forceinline__ uint32_t unaligned_pixels(const HistogramArgs &in,
                                                              uint32_t row) {
    uint32_t ahead[3];
    for (int c = 0; c < 3; ++c)
      ahead[c] = -static_cast<uint32_t>(reinterpret_cast<uintptr_t>(vector_at(in, c, row, 0))) %
                 sizeof(Vector);
    return ahead[0] == ahead[1] && ahead[0] == ahead[2] ? ahead[0] : kPixels;
  }
  static __device__ __forceinline__ unsigned bin(const Chunk &chunk, int i) {
    return luminance(value_of(chunk.byte(i)), value_of(chunk.byte(kPixels + i)),
                     value_of(chunk.byte(2 * kPixels + i)));
  }
  static __device__ __forceinline__ unsigned bin_at(const HistogramArgs &in, uint32_t row,
                                                    uint32_t x) {
    return luminance(__ldg(vector_at(in, 0, row, x)), __ldg(vector_at(in, 1, row, x)),
                     __ldg(vector_at(in, 2, row, x)));
  }
};

template <class Reader>
__device__ __forceinline__ typename Reader::Chunk load_chunk(const HistogramArgs &in, uint32_t row,
                                                             uint32_t x) {
  typename Reader::Chunk chunk;
#pragma unroll
  for (int i = 0; i < Reader::kVectors; ++i)
    chunk.vector[i] =
        __ldg(reinterpret_cast<const typename Reader::Vector *>(Reader::vector_at(in, i, row, x)));
  return chunk;
}

template <class Reader>
__device__ __forceinline__ void count_chunk(Counts &counts, const typename Reader::Chunk &chunk) {
#pragma unroll
  for (int i = 0; i < Reader::kPixels; ++i) count(counts, Reader::bin(chunk, i));
}

template <class Reader>
__device__ __forceinline__ void count_pixels(Counts &counts, const HistogramArgs &in, uint32_t row,
                                             uint32_t begin, uint32_t end) {
#pragma unroll 1
  for (uint32_t x = begin; x < end; ++x) count(counts, Reader::bin_at(in, row, x));
}

/// Counts pictures whose rows are whole chunks. Loads the next chunk while counting the current
/// one.
template <class Reader>
__device__ __forceinline__ void count_chunks(Counts &counts, const HistogramArgs &in) {
  const uint32_t chunks = in.chunks.divisor * in.height;
  const uint32_t stride = gridDim.x * kHistogramThreads;
  uint32_t i = blockIdx.x * kHistogramThreads + threadIdx.x;
  const auto load = [&] {
    const uint32_t row = in.chunks.quotient(i);
    return load_chunk<Reader>(in, row, (i - row * in.chunks.divisor) * Reader::kPixels);
  };
  if (i >= chunks) return;
  for (auto chunk = load();;) {
    i += stride;
    const bool more = i < chunks;
    typename Reader::Chunk next;
    if (more) next = load();
    count_chunk<Reader>(counts, chunk);
    if (!more) return;
    chunk = next;
  }
}

/// Counts any picture: the unaligned pixels before the first chunk of a row, the chunks, and the
/// remaining pixels.
template <class Reader>
__device__ __forceinline__ void count_pieces(Counts &counts, const HistogramArgs &in) {
  const uint32_t pieces = in.chunks.divisor * in.height;
  const uint32_t stride = gridDim.x * kHistogramThreads;
#pragma unroll 1
  for (uint32_t i = blockIdx.x * kHistogramThreads + threadIdx.x; i < pieces; i += stride) {
    const uint32_t row = in.chunks.quotient(i), place = i - row * in.chunks.divisor;
    const uint32_t ahead = Reader::unaligned_pixels(in, row);
    const bool aligned = ahead < Reader::kPixels;
    const uint32_t first = aligned ? ahead : 0;
    const uint32_t begin = place == 0 ? 0 : first + (place - 1) * Reader::kPixels;
    const uint32_t end = min(place == 0 ? first : begin + Reader::kPixels, in.width);
    if (aligned && begin + Reader::kPixels == end)
      count_chunk<Reader>(counts, load_chunk<Reader>(in, row, begin));
    else
      count_pixels<Reader>(counts, in, row, begin, end);
  }
}

/// Several threads sum the columns of a bin; the first thread has the result.
__device__ __forceinline__ unsigned sum_columns(const Counts &counts, unsigned bin, unsigned part,
                                                unsigned parts) {
  constexpr unsigned kColumnsPerThread = kColumns * kBins / kHistogramThreads;
  unsigned sum = 0;
  // The order is rotated, so that the lanes of a warp read from different banks.
#pragma unroll
  for (unsigned i = 0; i < kColumnsPerThread; ++i)
    sum += counts[bin * kColumns + part * kColumnsPerThread + (i + bin) % kColumnsPerThread];
  for (unsigned distance = parts / 2; distance != 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  return sum;
}

/// Adds a block's count to a bin's total. If the bins are requested, the last block to reach a bin
/// computes the final total from the result of its own atomic addition.
__device__ __forceinline__ void add_to_total(const HistogramArgs &in, unsigned bin, unsigned sum) {
  Total *const total = in.totals + total_index(bin);
  if (in.bins == nullptr) {
    if (sum != 0) atomicAdd(total, Total{sum});
    return;
  }
  const Total before = atomicAdd(total, (Total{1} << kBlocksShift) + sum);
  if (before >> kBlocksShift != gridDim.x - 1) return;
  in.bins[bin] = (before & kPixelsMask) + sum;
  *total = 0;
}

template <class Reader>
__global__ void __launch_bounds__(kHistogramThreads)
    count_luminance(const __grid_constant__ HistogramArgs in) {
  __shared__ __align__(sizeof(uint4)) Counts counts;
  for (unsigned i = threadIdx.x; i < kBins * kColumns / 4; i += kHistogramThreads)
    reinterpret_cast<uint4 *>(counts)[i] = {0, 0, 0, 0};
  __syncthreads();
  wait_for_previous_kernel();
  if (in.whole_chunks)
    count_chunks<Reader>(counts, in);
  else
    count_pieces<Reader>(counts, in);
  __syncthreads();
  constexpr unsigned kParts = kHistogramThreads / kBins;
  const unsigned bin = threadIdx.x / kParts, part = threadIdx.x % kParts;
  const unsigned sum = sum_columns(counts, bin, part, kParts);
  if (part == 0) add_to_total(in, bin, sum);
}

struct CountKernel {
  void (*kernel)(HistogramArgs);
  uint32_t pixels;  // pixels per chunk
  size_t vector;    // bytes per load
};

template <class Reader>
CountKernel kernel_of() {
  return {count_luminance<Reader>, Reader::kPixels, sizeof(typename Reader::Vector)};
}

/// Picks the kernel for samples of two bytes. Their upper eight bits are one byte, or lie in both.
CountKernel pick_deep(const FormatLayout &layout) {
  if (counted_byte(layout)) return kernel_of<SampleReader<2, 1>>();
  return layout.bits == 10 ? kernel_of<LowBitsReader<10>>() : kernel_of<LowBitsReader<12>>();
}

CountKernel pick_packed4(int first) {
  switch (first) {
    case 0: return kernel_of<PackedReader<4, 0, 1, 2>>();
    case 1: return kernel_of<PackedReader<4, 1, 2, 3>>();
    case 2: return kernel_of<PackedReader<4, 2, 1, 0>>();
    default: return kernel_of<PackedReader<4, 3, 2, 1>>();
  }
}

CountKernel pick(const FormatLayout &layout) {
  using F = SampleFamily;
  const int first = layout.component[0].offset;
  switch (layout.family) {
    case F::gray:
    case F::planar_444:
    case F::planar_subsampled:
    case F::semiplanar: return kernel_of<SampleReader<1, 0>>();
    case F::packed_422:
      return first == 0 ? kernel_of<SampleReader<2, 0>>() : kernel_of<SampleReader<2, 1>>();
    case F::packed_rgb3:
      return first == 0 ? kernel_of<PackedReader<3, 0, 1, 2>>()
                        : kernel_of<PackedReader<3, 2, 1, 0>>();
    case F::packed_rgb4: return pick_packed4(first);
    case F::planar_rgb: return kernel_of<PlanarReader>();
    case F::deep_gray:
    case F::deep_planar:
    case F::deep_semiplanar: return pick_deep(layout);
  }
  throw_unknown_family();
}

unsigned multiprocessors() {
  int device = 0, count = 0;
  call("cudaGetDevice", cudaGetDevice, &device);
  call("cudaDeviceGetAttribute", cudaDeviceGetAttribute, &count, cudaDevAttrMultiProcessorCount,
       device);
  return static_cast<unsigned>(count);
}

class LuminanceHistogram final : public HistogramOperation {
 public:
  LuminanceHistogram(const HistogramParams &params, CudaDevice &device)
      : HistogramOperation(params.in),
        device_(device),
        layout_(layout_of(params.in.format)),
        roi_(params.roi),
        kernel_(pick(layout_)),
        blocks_(std::min(multiprocessors() * kHistogramBlocksPerSm, kMaxBlocks)),
        totals_(device.allocate(kTotals * sizeof(Total))) {
    call("cudaMemsetAsync", cudaMemsetAsync, totals_->data(), 0, totals_->size(),
         cudaStreamPerThread);
    call("cudaStreamSynchronize", cudaStreamSynchronize, cudaStreamPerThread);
  }

 private:
  void execute(const ConstImage *in, Bins *bins, Stream stream) override {
    HistogramArgs args = in == nullptr ? empty_args() : picture(*in);
    args.totals = reinterpret_cast<Total *>(totals_->data());
    args.bins = bins == nullptr ? nullptr : reinterpret_cast<unsigned long long *>(bins->data());
    queue_on(device_, stream, [&](const Queue &queue) {
      launch("histogram kernel", kernel_.kernel, {in == nullptr ? 1 : blocks_, kHistogramThreads},
             queue, args);
    });
  }

  static HistogramArgs empty_args() {
    HistogramArgs args = {};
    args.chunks = Divider(2);
    return args;
  }

  HistogramArgs picture(const ConstImage &in) const {
    HistogramArgs args = {};
    const int planes = layout_.model == ColorModel::rgb ? layout_.planes : 1;
    for (int p = 0; p < planes; ++p) {
      const Component &component = layout_.component[p];
      const auto &plane = in.planes[component.plane];
      args.data[p] =
          plane.data + plane.stride * roi_.y + static_cast<int64_t>(roi_.x) * component.step;
      args.stride[p] = stride_of(plane.stride);
    }
    args.width = static_cast<uint32_t>(roi_.width);
    args.height = static_cast<uint32_t>(roi_.height);
    merge_rows(args);
    args.whole_chunks = are_chunks(args);
    args.chunks = Divider(args.whole_chunks ? args.width / kernel_.pixels
                                            : 1 + blocks_for(args.width, kernel_.pixels));
    return args;
  }

  /// Treats contiguous rows as a single row.
  void merge_rows(HistogramArgs &args) const {
    for (int p = 0; p < 3; ++p)
      if (args.data[p] != nullptr && args.stride[p] != args.width * layout_.component[p].step)
        return;
    args.width *= args.height;
    args.height = 1;
  }

  bool are_chunks(const HistogramArgs &args) const {
    if (args.width % kernel_.pixels != 0 || args.width / kernel_.pixels < 2) return false;
    for (int p = 0; p < 3; ++p) {
      const bool row_by_row = args.height > 1 && args.stride[p] % kernel_.vector != 0;
      if (reinterpret_cast<uintptr_t>(args.data[p]) % kernel_.vector != 0 || row_by_row)
        return false;
    }
    return true;
  }

  const CudaDevice &device_;
  FormatLayout layout_;
  Rect roi_;
  CountKernel kernel_;
  unsigned blocks_;
  std::unique_ptr<Memory> totals_;
};

}  // namespace

bool check_code() {
  cudaFuncAttributes attributes = {};
  call("cudaFuncGetAttributes", [&] {
    return cudaFuncGetAttributes(
        &attributes, reinterpret_cast<const void *>(&count_luminance<SampleReader<1, 0>>));
  });
  return attributes.binaryVersion >= 90 && attributes.ptxVersion >= 90;
}

std::unique_ptr<HistogramOperation> make(const HistogramParams &params, CudaDevice &device) {
  check_histogram(params);
  return std::make_unique<LuminanceHistogram>(params, device);
}

}  // namespace cudatensor::cuda
