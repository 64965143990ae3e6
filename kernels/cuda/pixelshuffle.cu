// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "kernels/cuda/operations.h"
#include "kernels/cuda/perpixel.cuh"
#include "kernels/pixelshuffle.h"

namespace cudatensor::cuda {
namespace {

constexpr int kVector = 16;  // bytes per store

struct ShuffleArgs {
  const void *in;
  void *out;
  int64_t planes;    // number of output planes
  int64_t lines;     // rows per output plane
  int64_t width;     // elements per input row
  int64_t in_plane;  // elements per input plane
  int factor;
};

/// `kCount` elements, loaded and stored with instructions as wide as possible.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < kVector ? sizeof(T) * kCount : kVector) Vector {
  T value[kCount];
};

/// The number of input columns per thread, chosen so that it writes whole vectors.
template <class T, int factor>
constexpr int columns_of_thread() {
  constexpr int vector = kVector / static_cast<int>(sizeof(T));
  return vector % factor == 0 ? vector / factor : vector;
}

/// Each thread processes a few columns of one input row, from each of the `factor` planes that are
/// interleaved in an output row. Rows must be aligned to vectors.
template <class T, int factor>
struct Interleave {
  static constexpr int kColumns = columns_of_thread<T, factor>();

  static __device__ void run(const ShuffleArgs &, const T *in, int64_t stride, T *out,
                             int64_t column) {
    Vector<T, kColumns> planes[factor];
#pragma unroll
    for (int p = 0; p < factor; ++p)
      planes[p] = *reinterpret_cast<const Vector<T, kColumns> *>(in + p * stride + column);
    Vector<T, kColumns * factor> result;
#pragma unroll
    for (int i = 0; i < kColumns * factor; ++i)
      result.value[i] = planes[i % factor].value[i / factor];
    *reinterpret_cast<Vector<T, kColumns * factor> *>(out + column * factor) = result;
  }
};

/// Works with any factor and alignment. Each thread processes one input column.
template <class T>
struct InterleaveAny {
  static constexpr int kColumns = 1;

  static __device__ void run(const ShuffleArgs &a, const T *in, int64_t stride, T *out,
                             int64_t column) {
    for (int p = 0; p < a.factor; ++p) out[column * a.factor + p] = in[p * stride + column];
  }
};

template <class T, class Step>
__global__ void __launch_bounds__(kShuffleThreads) shuffle(const __grid_constant__ ShuffleArgs a) {
  const int64_t column =
      (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Step::kColumns;
  if (column >= a.width) return;
  wait_for_previous_kernel();
  const int64_t out_width = a.width * a.factor;
  for (int64_t plane = blockIdx.z; plane < a.planes; plane += gridDim.z) {
    for (int64_t line = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; line < a.lines;
         line += static_cast<int64_t>(gridDim.y) * blockDim.y) {
      const int64_t row = line / a.factor, turn = line % a.factor;
      const T *in = static_cast<const T *>(a.in) +
                    (plane * a.factor + turn) * a.factor * a.in_plane + row * a.width;
      T *out = static_cast<T *>(a.out) + (plane * a.lines + line) * out_width;
      Step::run(a, in, a.in_plane, out, column);
    }
  }
}

struct ShuffleKernel {
  void (*kernel)(ShuffleArgs);
  int columns;  // per thread
};

template <class T, class Step>
ShuffleKernel kernel_of() {
  return {shuffle<T, Step>, Step::kColumns};
}

template <class T>
ShuffleKernel aligned_kernel(int factor) {
  switch (factor) {
    case 1: return kernel_of<T, Interleave<T, 1>>();
    case 2: return kernel_of<T, Interleave<T, 2>>();
    case 3: return kernel_of<T, Interleave<T, 3>>();
    case 4: return kernel_of<T, Interleave<T, 4>>();
    default: return kernel_of<T, InterleaveAny<T>>();
  }
}

template <class T>
ShuffleKernel pick(const ShuffleArgs &a) {
  const ShuffleKernel fast = aligned_kernel<T>(a.factor);
  const auto aligned = [&](const void *data) {
    return reinterpret_cast<uintptr_t>(data) % kVector == 0;
  };
  // These conditions align every row of every input and output plane to vectors.
  const bool fits = a.width % fast.columns == 0 && aligned(a.in) && aligned(a.out);
  return fits ? fast : kernel_of<T, InterleaveAny<T>>();
}

ShuffleKernel pick(size_t element, const ShuffleArgs &a) {
  if (element == 4) return pick<uint32_t>(a);
  if (element == 2) return pick<uint16_t>(a);
  return pick<uint8_t>(a);
}

void launch_shuffle(const ShuffleKernel &k, const ShuffleArgs &a, const Queue &queue) {
  constexpr int64_t kMaxBlocks = 65535;  // grid size along y and z
  const int64_t threads = (a.width + k.columns - 1) / k.columns;
  // A block processes several rows of narrow pictures.
  unsigned across = 32;
  while (across < threads && across < kShuffleThreads) across *= 2;
  const dim3 block(across, kShuffleThreads / across);
  const dim3 grid(blocks_for(threads, block.x),
                  static_cast<unsigned>(std::min(
                      kMaxBlocks, (a.lines + block.y - 1) / static_cast<int64_t>(block.y))),
                  static_cast<unsigned>(std::min(kMaxBlocks, a.planes)));
  launch("pixelshuffle kernel", k.kernel, {grid, block}, queue, a);
}

class PixelShuffle final : public TensorToTensor {
 public:
  PixelShuffle(const PixelShuffleParams &params, const TensorDesc &out, const CudaDevice &device)
      : TensorToTensor(params.in, out), device_(device), factor_(params.factor) {}

 private:
  void execute(const ConstTensor &in, const Tensor &out, Stream stream) override {
    const ShuffleArgs args = {in.data,    out.data,  out.desc.n * out.desc.c,
                              out.desc.h, in.desc.w, in.desc.h * in.desc.w,
                              factor_};
    queue_on(device_, stream, [&](const Queue &queue) {
      launch_shuffle(pick(size_of(in.desc.dtype), args), args, queue);
    });
  }

  const CudaDevice &device_;
  int factor_;
};

struct ShuffledArgs {
  const void *data;
  int64_t width, plane;  // width and plane size of the input, in elements
  uint32_t height, factor;
  SampleScale scale;
};

/// The index of a sample in a plane, and which of the `factor` interleaved planes has it.
struct Turn {
  uint32_t at, turn;
};

template <class T, int kComponents>
struct ShuffledSampler {
  using Args = ShuffledArgs;
  using Column = Turn;
  using Line = Turn;
  using Value = SamplePixel;
  static constexpr int kProduced = kComponents;
  static constexpr BlockShape kBlock = kPixelBlock;
  template <class Sink>
  static constexpr int kRows = Sink::kRows;
  template <class Sink>
  static constexpr int kBlocksPerSm = Sink::kBlocksPerSm;
  template <int kColumns, int kRows>
  using Patch = ColumnByColumn<ShuffledSampler, kColumns, kRows>;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, uint32_t x,
                                                 Column (&columns)[kColumns]) {
#pragma unroll
    for (uint32_t k = 0; k < kColumns; ++k) columns[k] = turn(in, x + k, in.width);
  }
  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, uint32_t y, Line (&lines)[kLines]) {
#pragma unroll
    for (uint32_t i = 0; i < kLines; ++i) lines[i] = turn(in, y + i, in.height);
  }

  template <int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int, int, const Column &column,
                                                const Line (&line)[kRows], Value (&p)[kRows]) {
    const int64_t channel = static_cast<int64_t>(in.factor) * in.factor * in.plane;
    T element[kRows][kComponents];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const T *at = static_cast<const T *>(in.data) +
                    (line[i].turn * in.factor + column.turn) * in.plane + line[i].at * in.width +
                    column.at;
#pragma unroll
      for (int c = 0; c < kComponents; ++c) element[i][c] = at[c * channel];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      int32_t sample[3] = {};
      for (int c = 0; c < kComponents; ++c)
        sample[c] = to_video_sample(to_float(element[i][c]), in.scale);
      p[i] = {sample[0], sample[1], sample[2]};
    }
  }

 private:
  /// Returns the Turn of output coordinate `at`, clamped to the last column or row.
  static __device__ __forceinline__ Turn turn(const Args &in, uint32_t at, int64_t samples) {
    at = min(at, static_cast<uint32_t>(samples * in.factor - 1));
    return {at / in.factor, at % in.factor};
  }
};

using VideoWork = PixelWork<ShuffledArgs, PictureArgs, 1>;

template <class T>
Launcher<VideoWork> pick_video(int components) {
  if (components == 1) return launch_per_pixel<ShuffledSampler<T, 1>, PictureSink, 1>;
  return launch_per_pixel<ShuffledSampler<T, 3>, PictureSink, 1>;
}

Launcher<VideoWork> pick_video(DType dtype, int components) {
  switch (dtype) {
    case DType::float16: return pick_video<Half>(components);
    case DType::float32: return pick_video<float>(components);
    default: return pick_video<uint8_t>(components);
  }
}

class PixelShuffleToVideo final : public TensorToImage {
 public:
  PixelShuffleToVideo(const PixelShuffleToVideoParams &params, const CudaDevice &device)
      : TensorToImage(params.in, params.out),
        device_(device),
        factor_(params.factor),
        scale_(make_sample_scale(params)),
        layout_(layout_of(params.out.format)),
        launch_(pick_video(params.in.dtype, layout_.components)) {}

 private:
  void execute(const ConstTensor &in, const Image &out, Stream stream) override {
    const auto factor = static_cast<uint32_t>(factor_);
    const VideoWork work = {{{in.data, in.desc.w, in.desc.h * in.desc.w,
                              static_cast<uint32_t>(in.desc.h), factor, scale_}},
                            picture_args(out, layout_),
                            out.desc.width,
                            out.desc.height};
    queue_on(device_, stream,
             [&](const Queue &queue) { launch_("pixelshuffle kernel", queue, work, 1); });
  }

  const CudaDevice &device_;
  int factor_;
  SampleScale scale_;
  FormatLayout layout_;
  Launcher<VideoWork> launch_;
};

}  // namespace

std::unique_ptr<TensorToTensor> make(const PixelShuffleParams &params, CudaDevice &device) {
  return std::make_unique<PixelShuffle>(params, shuffled(params), device);
}

std::unique_ptr<TensorToImage> make(const PixelShuffleToVideoParams &params, CudaDevice &device) {
  return std::make_unique<PixelShuffleToVideo>(params, device);
}

}  // namespace cudatensor::cuda
