// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that compute output pixels from tables of columns and rows. A Sampler computes the value
// of a pixel and a Sink stores it. Both are stateless types; their Args are kernel parameters. A
// Sampler's Patch covers the neighboring columns and rows of one thread. Its constructor reads only
// the tables; read() loads the samples. Then column() returns one column at a time, or pad()
// returns the pad value if the patch contains nothing else.
#pragma once

#include "kernels/color.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tuning.h"
#include "kernels/error.h"
#include "kernels/image.h"
#include "kernels/normalize.h"

namespace cudatensor::cuda {

/// The arguments of a launch's slots, indexed by the grid's z.
template <class SamplerArgs, int kSlots>
struct ArgsOfSlots {
  using Type = SamplerArgs[kSlots];
};

template <class SamplerArgs, class SinkArgs, int kSlots>
struct PixelWork {
  typename ArgsOfSlots<SamplerArgs, kSlots>::Type in;
  SinkArgs out;
  int width, height;
};

/// The position of a thread's pixels. `columns` by `rows` of them are inside the output.
struct Place {
  unsigned frame;
  int x, y, columns, rows;
};

/// The Patch of samplers whose columns share no samples.
template <class Sampler, int kColumns, int kRows>
class ColumnByColumn {
 public:
  using Args = typename Sampler::Args;

  __device__ __forceinline__ ColumnByColumn(const Args &in, int x, int y) : in_(in), x_(x), y_(y) {
    Sampler::columns(in, x, column_);
    Sampler::lines(in, y, line_);
  }

  __device__ __forceinline__ bool read() { return true; }
  __device__ __forceinline__ void pad(typename Sampler::Value (&)[kRows]) const {}
  __device__ __forceinline__ void column(int k, typename Sampler::Value (&p)[kRows]) const {
    Sampler::sample(in_, x_ + k, y_, column_[k], line_, p);
  }

 private:
  const Args &in_;
  int x_, y_;
  typename Sampler::Column column_[kColumns];
  typename Sampler::Line line_[kRows];
};

/// The blocks per multiprocessor of a Sampler and Sink, and the threads of a block. Compilers do not
/// accept a template member in __launch_bounds__.
template <class Sampler, class Sink>
constexpr int kBlocksPerSm = Sampler::template kBlocksPerSm<Sink>;
template <class Sampler>
constexpr int kThreads = Sampler::kBlock.width *Sampler::kBlock.height;

/// Computes a few rows of pixels per thread, in as many neighboring columns as the Sink prefers.
/// The table entries of a column and of a row are then read once for all of them, and the loads of
/// a column are in flight at the same time.
template <class Sampler, class Sink, int kSlots>
__global__ void __launch_bounds__(kThreads<Sampler>, kBlocksPerSm<Sampler, Sink>) per_pixel(
    const __grid_constant__ PixelWork<typename Sampler::Args, typename Sink::Args, kSlots> work) {
  constexpr int kColumns = Sink::kColumns, kRows = Sampler::template kRows<Sink>;
  constexpr BlockShape kBlock = Sampler::kBlock;
  const int x = static_cast<int>((blockIdx.x * kBlock.width + threadIdx.x) * kColumns);
  const int y = static_cast<int>((blockIdx.y * kBlock.height + threadIdx.y) * kRows);
  if (x >= work.width || y >= work.height) return;
  const unsigned frame = kSlots == 1 ? 0 : blockIdx.z;
  typename Sampler::template Patch<kColumns, kRows> patch(work.in[frame], x, y);

  wait_for_previous_kernel();
  typename Sink::template Collected<Sampler::kProduced, kRows> collected;
  typename Sampler::Value p[kRows];
  if (patch.read()) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      patch.column(k, p);
      collected.add(work.out, k, p);
    }
  } else {
    patch.pad(p);
#pragma unroll
    for (int k = 0; k < kColumns; ++k) collected.add(work.out, k, p);
  }
  collected.store(work.out,
                  {frame, x, y, min(work.width - x, kColumns), min(work.height - y, kRows)});
}

/// The maximum number of slots per launch.
constexpr int kBatchSlots = 64;

/// Launches the kernel for one Sampler and Sink. Operations store this function pointer.
template <class Work>
using Launcher = void (*)(const char *name, const Queue &queue, const Work &work, size_t slots);

template <class Sampler, class Sink, int kSlots>
void launch_per_pixel(const char *name, const Queue &queue,
                      const PixelWork<typename Sampler::Args, typename Sink::Args, kSlots> &work,
                      size_t slots) {
  constexpr BlockShape kBlock = Sampler::kBlock;
  const dim3 block(kBlock.width, kBlock.height);
  const dim3 grid(blocks_for(work.width, kBlock.width * Sink::kColumns),
                  blocks_for(work.height, kBlock.height * Sampler::template kRows<Sink>),
                  static_cast<unsigned>(slots));
  launch(name, per_pixel<Sampler, Sink, kSlots>, {grid, block}, queue, work);
}

/// A pixel with integer components.
struct SamplePixel {
  int32_t c0, c1, c2;
};

template <class AnyPixel>
__device__ __forceinline__ auto component_of(const AnyPixel &p, int c) {
  return c == 0 ? p.c0 : c == 1 ? p.c1 : p.c2;
}

/// 2^23, the float whose lowest mantissa bits are free for a byte.
constexpr float kBias = 8388608.0f;
constexpr uint32_t kBiasBits = 0x4b000000;

__device__ __forceinline__ float value_of(float component) { return component; }
__device__ __forceinline__ float value_of(int32_t component) {
  return bit_cast<float>(component | kBiasBits) - kBias;
}

struct TensorArgs {
  uint8_t *data;
  int64_t frame,
      channel[3];       // bytes from frame to frame, and from a frame's start to each component's
                        // channel
  uint32_t row, pixel;  // likewise
  ChannelScale scale[3];
  DType dtype;  // used only by kernels that have no template parameter for it
  bool round;
  bool pad_is_zero;  // the Sampler gives NaN for pixels that become 0
};

template <class T>
struct TensorSink {
  using Args = TensorArgs;
  static constexpr bool kHasTiles = true;
  static constexpr int kColumns = 1, kRows = kTensorRows;
  static constexpr int kBlocksPerSm = sizeof(T) <= 2 ? kSmallTensorBlocksPerSm : kTensorBlocksPerSm;
  static constexpr bool kSaturates = false;  // whether the Sink clamps values to 0..255

  template <int kComponents, int kRows>
  struct Collected {
    float value[kRows][kComponents];

    template <class AnyPixel>
    __device__ __forceinline__ void add(const Args &out, int, const AnyPixel (&p)[kRows]) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < kComponents; ++c) value[i][c] = value_of(component_of(p[i], c));
      if (!out.round) return;
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < kComponents; ++c) value[i][c] = round_component(value[i][c]);
    }

    __device__ __forceinline__ void store(const Args &out, const Place &to) const {
      uint8_t *const at = advance(out.data + to.frame * out.frame, to.x, out.pixel);
      uint8_t *channel[kComponents];
#pragma unroll
      for (int c = 0; c < kComponents; ++c) channel[c] = at + out.channel[c];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i >= to.rows) return;
        for (int c = 0; c < kComponents; ++c) {
          store_global(reinterpret_cast<T *>(advance(channel[c], to.y + i, out.row)),
                       element(out, c, value[i][c]));
        }
      }
    }
  };

  /// A tile in shared memory, which threads fill by columns and store by rows.
  template <int kComponents>
  struct Tile {
    // A row has an odd number of words, so that neither order has bank conflicts.
    T element[kComponents][kTileSide][kTileSide + 4 / sizeof(T)];

    template <class AnyPixel, int kCount>
    __device__ __forceinline__ void set(const Args &out, int row, int column,
                                        const AnyPixel (&p)[kCount]) {
      Collected<kComponents, kCount> collected;
      collected.add(out, 0, p);
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        for (int c = 0; c < kComponents; ++c)
          element[c][row][column + i] = TensorSink::element(out, c, collected.value[i][c]);
    }

    /// Stores column `column` of the rows first, first + kTileWarps and so on.
    __device__ __forceinline__ void store(const Args &out, const Place &to, int first,
                                          int column) const {
      if (column >= to.columns) return;
      uint8_t *const at = advance(out.data + to.frame * out.frame, to.x + column, out.pixel);
#pragma unroll
      for (int c = 0; c < kComponents; ++c)
        for (int row = first; row < to.rows; row += kTileWarps)
          store_global(reinterpret_cast<T *>(advance(at + out.channel[c], to.y + row, out.row)),
                       element[c][row][column]);
    }
  };

 private:
  static __device__ __forceinline__ T element(const Args &out, int c, float value) {
    const float normalized = normalize(out.scale[c], value);
    // NaN marks a pixel outside the picture.
    const bool is_zero = out.pad_is_zero && normalized != normalized;
    return to_element<T>(is_zero ? 0.0f : normalized);
  }
};

/// Computes a tile of pixels per block for a Sampler of the transposed picture. Threads that are
/// neighbors along x read neighboring samples of a stored row, which are a column of the tile, and
/// store neighboring elements of a row.
template <class Sampler, class Sink, int kSlots>
__global__ void __launch_bounds__(kTileSide *kTileWarps, kTileBlocksPerSm) per_tile(
    const __grid_constant__ PixelWork<typename Sampler::Args, typename Sink::Args, kSlots> work) {
  constexpr int kColumns = kTileSide / kTileWarps;
  __shared__ typename Sink::template Tile<Sampler::kProduced> tile;
  const unsigned frame = kSlots == 1 ? 0 : blockIdx.z;
  const int x = static_cast<int>(blockIdx.x * kTileSide);
  const int y = static_cast<int>(blockIdx.y * kTileSide);
  const int row = static_cast<int>(threadIdx.x), column = static_cast<int>(threadIdx.y) * kColumns;
  // Threads beyond the output repeat its last pixels.
  const int last_column = (work.width - 1) / kColumns * kColumns;
  typename Sampler::template Patch<1, kColumns> patch(work.in[frame], min(y + row, work.height - 1),
                                                      min(x + column, last_column));

  wait_for_previous_kernel();
  typename Sampler::Value p[kColumns];
  patch.column(0, p);
  tile.set(work.out, row, column, p);
  __syncthreads();
  tile.store(work.out,
             {frame, x, y, min(work.width - x, kTileSide), min(work.height - y, kTileSide)},
             static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.x));
}

template <class Sampler, class Sink, int kSlots>
void launch_per_tile(const char *name, const Queue &queue,
                     const PixelWork<typename Sampler::Args, typename Sink::Args, kSlots> &work,
                     size_t slots) {
  const dim3 grid(blocks_for(work.width, kTileSide), blocks_for(work.height, kTileSide),
                  static_cast<unsigned>(slots));
  launch(name, per_tile<Sampler, Sink, kSlots>, {grid, dim3(kTileSide, kTileWarps)}, queue, work);
}

/// Rounds a component to an integer without clamping it to a sample. Negative values stay negative
/// but change their magnitude. The product with the smallest subnormal float is rounded down to a
/// multiple of it, and the bits of such a subnormal float, apart from the sign, are that integer.
__device__ __forceinline__ int32_t to_integer(float component) {
  return bit_cast<int32_t>(__fmul_rd(component + 0.5f, 0x1p-149f));
}
__device__ __forceinline__ int32_t to_integer(int32_t component) { return component; }

/// Packs a and b, clamped to bytes, into the low 16 bits, with b in the lowest byte, and high into
/// the upper 16 bits.
__device__ __forceinline__ uint32_t pack_saturated(int32_t a, int32_t b, uint32_t high) {
  uint32_t packed;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(packed) : "r"(a), "r"(b), "r"(high));
  return packed;
}

struct PictureArgs {
  uint8_t *data[3];  // per component; for packed formats, the first byte of the pixel
  uint32_t stride[3];
  uint32_t step;       // bytes per pixel
  uint32_t order;      // selector for __byte_perm: the component order of a packed pixel
  uint32_t triple[3];  // the same for the three words that hold four three-byte pixels
  bool words;          // whether rows are aligned and can be written in words
};

/// Stores four pixels of a row at once, in words if the picture is aligned.
struct PictureSink {
  using Args = PictureArgs;
  static constexpr bool kHasTiles = false;
  static constexpr int kColumns = 4, kRows = kPictureRows, kBlocksPerSm = 1;
  static constexpr bool kSaturates = true;

  template <int kComponents, int kRows>
  class Collected {
   public:
    template <class AnyPixel>
    __device__ __forceinline__ void add(const Args &, int k, const AnyPixel (&p)[kRows]) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const int32_t c2 = kComponents == 3 ? to_integer(p[i].c2) : 0,
                      c1 = kComponents == 3 ? to_integer(p[i].c1) : 0;
        pixels_[i][k] = pack_saturated(c1, to_integer(p[i].c0), pack_saturated(255, c2, 0));
      }
    }

    __device__ __forceinline__ void store(const Args &out, const Place &to) const {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i >= to.rows) return;
        if (kComponents == 1 || out.step == 1)
          store_planes<kComponents>(out, to, i, pixels_[i]);
        else
          store_packed(out, to, i, pixels_[i]);
      }
    }

   private:
    uint32_t pixels_[kRows]
                    [kColumns];  // the components, with the first in the lowest byte, then 255
  };

 private:
  using Pixels = uint32_t[kColumns];

  static __device__ __forceinline__ uint8_t *at(const Args &out, int c, const Place &to, int i) {
    return advance(advance(out.data[c], to.y + i, out.stride[c]), to.x, out.step);
  }
  static __device__ __forceinline__ bool in_words(const Args &out, const Place &to) {
    return out.words && to.columns == kColumns;
  }

  template <int kComponents>
  static __device__ __forceinline__ void store_planes(const Args &out, const Place &to, int i,
                                                      const Pixels &p) {
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      const uint32_t select = 0x0040 + 0x11 * c;
      const uint32_t samples =
          __byte_perm(__byte_perm(p[0], p[1], select), __byte_perm(p[2], p[3], select), 0x5410);
      uint8_t *const row = at(out, c, to, i);
      if (in_words(out, to))
        store_global(reinterpret_cast<uint32_t *>(row), samples);
      else
        store_bytes(row, samples, to.columns);
    }
  }

  static __device__ __forceinline__ void store_packed(const Args &out, const Place &to, int i,
                                                      const Pixels &p) {
    uint8_t *const row = at(out, 0, to, i);
    if (in_words(out, to) && out.step == 3) {
      auto *const words = reinterpret_cast<uint32_t *>(row);
#pragma unroll
      for (int k = 0; k < 3; ++k)
        store_global(words + k, __byte_perm(p[k], p[k + 1], out.triple[k]));
      return;
    }
    uint4 pixel = {ordered(out, p[0]), ordered(out, p[1]), ordered(out, p[2]), ordered(out, p[3])};
    if (in_words(out, to)) {
      store_global(reinterpret_cast<uint4 *>(row), pixel);
      return;
    }
    for (int k = 0; k < to.columns; ++k, pixel.x = pixel.y, pixel.y = pixel.z, pixel.z = pixel.w)
      store_bytes(row + k * out.step, pixel.x, out.step);
  }

  static __device__ __forceinline__ uint32_t ordered(const Args &out, uint32_t pixel) {
    return __byte_perm(pixel, 0, out.order);
  }

  static __device__ __forceinline__ void store_bytes(uint8_t *at, uint32_t word, int count) {
#pragma unroll 1
    for (int k = 0; k < count; ++k, word >>= 8) store_global(at + k, static_cast<uint8_t>(word));
  }
};

/// Converts a stride to the 32 bits that kernels use.
inline uint32_t stride_of(ptrdiff_t stride) {
  if (stride >= 0 && stride <= UINT32_MAX) return static_cast<uint32_t>(stride);
  throw Error(Error::Code::input,
              "expected a stride of 0 to 2^32 - 1 bytes, got " + std::to_string(stride));
}

/// The __byte_perm selector for word k of four three-byte pixels, which consists of bytes of pixels
/// k and k + 1.
inline uint32_t triple_order(uint32_t order, unsigned k) {
  uint32_t select = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const unsigned at = 4 * k + byte;  // index among the twelve bytes
    const uint32_t component = order >> 4 * (at % 3) & 0xf;
    select |= (component + (at / 3 == k ? 0 : 4)) << 4 * byte;
  }
  return select;
}

inline PictureArgs picture_args(const Image &image, const FormatLayout &layout) {
  PictureArgs args = {};
  args.step = layout.component[0].step;
  args.words = true;
  const size_t word = args.step == 4 ? 16 : 4;
  for (int c = 0; c < layout.components; ++c) {
    const auto &plane = image.planes[layout.component[c].plane];
    args.data[c] = plane.data;
    args.stride[c] = stride_of(plane.stride);
    args.words &= reinterpret_cast<uintptr_t>(plane.data) % word == 0 && plane.stride % word == 0;
  }
  args.order = 0x3333;  // byte 3 is 255
  for (uint32_t c = 0; args.step > 1 && c < 3; ++c) {
    const unsigned shift = 4u * layout.component[c].offset;
    args.order = (args.order & ~(0xfu << shift)) | c << shift;
  }
  for (unsigned k = 0; args.step == 3 && k < 3; ++k) args.triple[k] = triple_order(args.order, k);
  return args;
}

}  // namespace cudatensor::cuda
