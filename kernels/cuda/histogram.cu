// SPDX-License-Identifier: LGPL-2.1-or-later
// Two stages in one launch: every block counts in shared memory and adds its bins to the total; the
// block that is last hands the total over and clears it for the next frame.
#include "kernels/histogram.h"
#include "operations.h"
#include "perpixel.cuh"

namespace cudatensor::cuda {
namespace {

/// Each lane of a warp counts in a column, and so in a bank, of its own: neighbours of the same
/// value, as flat pictures have them, never wait for each other.
constexpr int kColumns = 32;

struct HistogramArgs {
  Samples samples;  // from the region's corner on
  int width, height;
  unsigned *total;           // kBins of them, 0 between launches
  unsigned *finished;        // blocks, likewise
  unsigned long long *bins;  // the result
};

using Counts = unsigned[kBins * kColumns];

__device__ __forceinline__ void count(Counts &counts, unsigned bin) {
  atomicAdd(&counts[bin * kColumns + threadIdx.x % kColumns], 1u);
}

__device__ __forceinline__ void count_word(Counts &counts, unsigned word) {
#pragma unroll
  for (int i = 0; i < 4; ++i) count(counts, (word >> (8 * i)) & 255u);
}

/// Samples that follow each other: whole aligned vectors, and the ends of each row one by one.
struct DenseRows {
  static constexpr int kVector = 16;

  static __device__ int64_t chunks(const HistogramArgs &in) {
    return (in.width + 2 * kVector - 2) / kVector;  // wherever a row begins
  }

  static __device__ void count_chunk(Counts &counts, const HistogramArgs &in, int64_t row,
                                     int64_t chunk) {
    const uint8_t *begin = in.samples.data[0] + row * in.samples.stride[0];
    const uint8_t *end = begin + in.width;
    const uint8_t *first = begin - reinterpret_cast<uintptr_t>(begin) % kVector + chunk * kVector;
    if (first >= begin && first + kVector <= end) {
      const uint4 v = __ldg(reinterpret_cast<const uint4 *>(first));
      count_word(counts, v.x);
      count_word(counts, v.y);
      count_word(counts, v.z);
      count_word(counts, v.w);
      return;
    }
    const uint8_t *last = first + kVector < end ? first + kVector : end;
    for (const uint8_t *p = first < begin ? begin : first; p < last; ++p) count(counts, *p);
  }
};

/// Samples with others between them.
template <int step>
struct SparseRows {
  static __device__ int64_t chunks(const HistogramArgs &in) { return in.width; }

  static __device__ void count_chunk(Counts &counts, const HistogramArgs &in, int64_t row,
                                     int64_t x) {
    count(counts, __ldg(in.samples.data[0] + row * in.samples.stride[0] + x * step));
  }
};

template <int step>
struct LuminanceRows {
  static __device__ int64_t chunks(const HistogramArgs &in) { return in.width; }

  static __device__ void count_chunk(Counts &counts, const HistogramArgs &in, int64_t row,
                                     int64_t x) {
    const Samples &s = in.samples;
    count(counts, luminance(__ldg(s.data[0] + row * s.stride[0] + x * step),
                            __ldg(s.data[1] + row * s.stride[1] + x * step),
                            __ldg(s.data[2] + row * s.stride[2] + x * step)));
  }
};

__device__ __forceinline__ void add_to_total(const Counts &counts, unsigned *total) {
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    // Rotated, so that the lanes of a warp read from different banks.
#pragma unroll 8
    for (unsigned i = 0; i < kColumns; ++i)
      sum += counts[bin * kColumns + (i + threadIdx.x) % kColumns];
    if (sum != 0) atomicAdd(&total[bin], sum);
  }
}

/// Whether all other blocks have added their bins.
__device__ bool is_last_block(unsigned *finished) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(finished, 1u) == gridDim.x - 1;
  __syncthreads();
  return last;
}

template <class Reader>
__global__ void __launch_bounds__(kHistogramThreads)
    count_luminance(const __grid_constant__ HistogramArgs in) {
  __shared__ Counts counts;
  for (unsigned i = threadIdx.x; i < kBins * kColumns; i += blockDim.x) counts[i] = 0;
  __syncthreads();

  const int64_t chunks = Reader::chunks(in);
  const int64_t work = chunks * in.height;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < work;
       i += stride) {
    const int64_t row =
        work <= UINT32_MAX ? static_cast<uint32_t>(i) / static_cast<uint32_t>(chunks) : i / chunks;
    Reader::count_chunk(counts, in, row, i - row * chunks);
  }
  __syncthreads();
  add_to_total(counts, in.total);

  if (!is_last_block(in.finished)) return;
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    in.bins[bin] = atomicExch(&in.total[bin], 0u);
  if (threadIdx.x == 0) *in.finished = 0;
}

using CountKernel = void (*)(HistogramArgs);

CountKernel pick(const FormatLayout &layout) {
  const int step = layout.component[0].step;
  if (layout.model == ColorModel::rgb) {
    if (step == 3) return count_luminance<LuminanceRows<3>>;
    if (step == 4) return count_luminance<LuminanceRows<4>>;
    return count_luminance<LuminanceRows<1>>;
  }
  if (step == 2) return count_luminance<SparseRows<2>>;
  return count_luminance<DenseRows>;
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
        layout_(layout_of(params.in.format)),
        roi_(params.roi),
        kernel_(pick(layout_)),
        blocks_(multiprocessors() * kHistogramBlocksPerSm),
        totals_(device.allocate((kBins + 1) * sizeof(unsigned))) {
    call("cudaMemsetAsync", cudaMemsetAsync, totals_->data(), 0, totals_->size(),
         cudaStreamPerThread);
    call("cudaStreamSynchronize", cudaStreamSynchronize, cudaStreamPerThread);
  }

 private:
  void execute(const ConstImage &in, Bins &bins, Stream stream) override {
    HistogramArgs args = {};
    const int components = layout_.model == ColorModel::rgb ? 3 : 1;
    args.samples = samples_of(in, layout_, components);
    for (int c = 0; c < components; ++c)
      args.samples.data[c] += args.samples.stride[c] * roi_.y +
                              static_cast<int64_t>(roi_.x) * layout_.component[c].step;
    args.width = roi_.width;
    args.height = roi_.height;
    args.total = reinterpret_cast<unsigned *>(totals_->data());
    args.finished = args.total + kBins;
    args.bins = reinterpret_cast<unsigned long long *>(bins.data());
    queue_on(stream, [&](cudaStream_t s) {
      launch("histogram kernel", kernel_, blocks_, kHistogramThreads, s, args);
    });
  }

  FormatLayout layout_;
  Rect roi_;
  CountKernel kernel_;
  unsigned blocks_;
  std::unique_ptr<Memory> totals_;  // and behind them the count of finished blocks
};

}  // namespace

void check_code() {
  cudaFuncAttributes attributes;
  call("cudaFuncGetAttributes", [&] {
    return cudaFuncGetAttributes(&attributes,
                                 reinterpret_cast<const void *>(&count_luminance<DenseRows>));
  });
}

std::unique_ptr<HistogramOperation> make_histogram(const HistogramParams &params,
                                                   CudaDevice &device) {
  check_histogram(params);
  return std::make_unique<LuminanceHistogram>(params, device);
}

}  // namespace cudatensor::cuda
