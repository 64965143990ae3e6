// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that make output pixels from tables of columns and rows. A Sampler says what a pixel is,
// a Sink where it goes; both are types without state, their Args travel as kernel parameters.
#pragma once

#include "kernels/color.h"
#include "kernels/error.h"
#include "kernels/image.h"
#include "kernels/letterbox.h"
#include "kernels/normalize.h"
#include "launch.cuh"
#include "tuning.h"

namespace cudatensor::cuda {

template <class SamplerArgs, class SinkArgs, int kFrames>
struct PixelWork {
  SamplerArgs in[kFrames];  // the grid's z
  SinkArgs out;
  int width, height;
};

/// Where a thread's pixels go: `columns` by `rows` of them are in the output.
struct Place {
  unsigned frame;
  int x, y, columns, rows;
};

/// A thread makes a few pixels below each other, in as many neighbouring columns as suit the Sink: what
/// it reads of a column's and of a row's table serves all of them, and the samples of a column are on
/// the way at the same time.
template <class Sampler, class Sink, int kFrames>
__global__ void
__launch_bounds__(kPixelBlockWidth *kPixelBlockHeight, Sink::kBlocksPerSm) per_pixel(
    const __grid_constant__ PixelWork<typename Sampler::Args, typename Sink::Args, kFrames> work) {
  constexpr int kColumns = Sink::kColumns, kRows = Sink::kRows;
  const int x = static_cast<int>((blockIdx.x * kPixelBlockWidth + threadIdx.x) * kColumns);
  const int y = static_cast<int>((blockIdx.y * kPixelBlockHeight + threadIdx.y) * kRows);
  if (x >= work.width || y >= work.height) return;
  const unsigned frame = kFrames == 1 ? 0 : blockIdx.z;
  const typename Sampler::Args &in = work.in[frame];
  typename Sampler::Column column[kColumns];
  Sampler::columns(in, x, column);
  typename Sampler::Line line[kRows];
  Sampler::lines(in, y, line);

  wait_for_previous_kernel();
  const Place place = {frame, x, y, min(work.width - x, kColumns), min(work.height - y, kRows)};
  typename Sink::template Collected<Sampler::kProduced> collected;
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    typename Sampler::Value p[kRows];
    Sampler::template sample<kColumns == 1>(in, x + k, y, column[k], line, p);
    collected.add(work.out, p);
  }
  collected.store(work.out, place);
}

/// Frames that a launch takes at most.
constexpr int kBatchFrames = 64;

/// Launches per_pixel: what an operation keeps of the Sampler and the Sink that it was made with.
template <class Work>
using Launcher = void (*)(const char *name, const Queue &queue, const Work &work, size_t frames);

template <class Sampler, class Sink, int kFrames>
void launch_per_pixel(const char *name, const Queue &queue,
                      const PixelWork<typename Sampler::Args, typename Sink::Args, kFrames> &work,
                      size_t frames) {
  const dim3 block(kPixelBlockWidth, kPixelBlockHeight);
  const dim3 grid(blocks_for(work.width, kPixelBlockWidth * Sink::kColumns),
                  blocks_for(work.height, kPixelBlockHeight * Sink::kRows),
                  static_cast<unsigned>(frames));
  launch(name, per_pixel<Sampler, Sink, kFrames>, grid, block, queue, work);
}

/// A pixel of whole samples.
struct SamplePixel {
  int32_t c0, c1, c2;
};

template <class AnyPixel>
__device__ __forceinline__ auto component_of(const AnyPixel &p, int c) {
  return c == 0 ? p.c0 : c == 1 ? p.c1 : p.c2;
}

/// A sample of the output, in the lowest byte.
__device__ __forceinline__ uint32_t sample_of(float component) {
  return rounded_in_low_byte(component);
}
__device__ __forceinline__ uint32_t sample_of(int32_t component) { return component; }

/// 2^23, whose float has the bits of a byte below its own.
constexpr float kBias = 8388608.0f;
constexpr uint32_t kBiasBits = 0x4b000000;

__device__ __forceinline__ float value_of(float component) { return component; }
__device__ __forceinline__ float value_of(int32_t component) {
  return bit_cast<float>(component | kBiasBits) - kBias;
}

struct TensorArgs {
  uint8_t *data;
  int64_t frame, channel[3];  // bytes from one to the next; to a component's channel
  uint32_t row, pixel;        // likewise
  ChannelScale scale[3];
  bool round;
};

template <class T>
struct TensorSink {
  using Args = TensorArgs;
  static constexpr int kColumns = 1, kRows = kTensorRows, kBlocksPerSm = kTensorBlocksPerSm;

  template <int kComponents>
  struct Collected {
    float value[kRows][kComponents];

    template <class AnyPixel>
    __device__ __forceinline__ void add(const Args &out, const AnyPixel (&p)[kRows]) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < kComponents; ++c) value[i][c] = value_of(component_of(p[i], c));
      if (!out.round) return;
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < kComponents; ++c) value[i][c] = round_half_up(value[i][c]);
    }

    __device__ __forceinline__ void store(const Args &out, const Place &to) const {
      uint8_t *const at =
          advance(advance(out.data + to.frame * out.frame, to.y, out.row), to.x, out.pixel);
      uint8_t *channel[kComponents];
#pragma unroll
      for (int c = 0; c < kComponents; ++c) channel[c] = at + out.channel[c];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i >= to.rows) return;
        for (int c = 0; c < kComponents; ++c)
          store_global(reinterpret_cast<T *>(advance(channel[c], i, out.row)),
                       to_element<T>(normalize(out.scale[c], value[i][c])));
      }
    }
  };
};

struct PictureArgs {
  uint8_t *data[3];  // by component; of a packed pixel the first byte
  uint32_t stride[3];
  uint32_t step;   // bytes of a pixel
  uint32_t order;  // for __byte_perm: how the components of a packed pixel lie
  bool words;      // rows can be written word by word
};

/// Four pixels of a row at once, in words where the picture is aligned.
struct PictureSink {
  using Args = PictureArgs;
  static constexpr int kColumns = 4, kRows = kPictureRows, kBlocksPerSm = 1;

  template <int kComponents>
  struct Collected {
    uint32_t samples[kRows][kComponents] = {};  // of the four pixels, the last in the highest byte

    template <class AnyPixel>
    __device__ __forceinline__ void add(const Args &, const AnyPixel (&p)[kRows]) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < kComponents; ++c)
          samples[i][c] = __byte_perm(samples[i][c], sample_of(component_of(p[i], c)), 0x4321);
    }

    __device__ __forceinline__ void store(const Args &out, const Place &to) const {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i >= to.rows) return;
        if (out.step == 1)
          store_planes<kComponents>(out, to, i, samples[i]);
        else if constexpr (kComponents == 3)
          store_packed(out, to, i, samples[i]);
      }
    }
  };

 private:
  static __device__ __forceinline__ uint8_t *at(const Args &out, int c, const Place &to, int i) {
    return advance(advance(out.data[c], to.y + i, out.stride[c]), to.x, out.step);
  }
  static __device__ __forceinline__ bool in_words(const Args &out, const Place &to) {
    return out.words && to.columns == kColumns;
  }

  template <int kComponents>
  static __device__ __forceinline__ void store_planes(const Args &out, const Place &to, int i,
                                                      const uint32_t (&samples)[kComponents]) {
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      uint8_t *const row = at(out, c, to, i);
      if (in_words(out, to))
        store_global(reinterpret_cast<uint32_t *>(row), samples[c]);
      else
        store_bytes(row, samples[c], to.columns);
    }
  }

  static __device__ __forceinline__ void store_packed(const Args &out, const Place &to, int i,
                                                      const uint32_t (&samples)[3]) {
    uint4 pixel;  // the x and A bytes are 255
    uint32_t *const pixels[kColumns] = {&pixel.x, &pixel.y, &pixel.z, &pixel.w};
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const uint32_t two = __byte_perm(samples[0], samples[1], 0x0040 + 0x11 * k);
      const uint32_t third = (samples[2] >> 8 * k) | 0xffffff00u;
      *pixels[k] = __byte_perm(two, third, out.order);
    }
    uint8_t *const row = at(out, 0, to, i);
    if (!in_words(out, to)) {
      for (int k = 0; k < to.columns; ++k, pixel.x = pixel.y, pixel.y = pixel.z, pixel.z = pixel.w)
        store_bytes(row + k * out.step, pixel.x, out.step);
    } else if (out.step == 4) {
      store_global(reinterpret_cast<uint4 *>(row), pixel);
    } else {
      auto *const words = reinterpret_cast<uint32_t *>(row);
      store_global(words, __byte_perm(pixel.x, pixel.y, 0x4210));
      store_global(words + 1, __byte_perm(pixel.y, pixel.z, 0x5421));
      store_global(words + 2, __byte_perm(pixel.z, pixel.w, 0x6542));
    }
  }

  static __device__ __forceinline__ void store_bytes(uint8_t *at, uint32_t word, int count) {
#pragma unroll 1
    for (int k = 0; k < count; ++k, word >>= 8) store_global(at + k, static_cast<uint8_t>(word));
  }
};

/// A stride as kernels take it.
inline uint32_t stride_of(ptrdiff_t stride) {
  if (stride <= UINT32_MAX) return static_cast<uint32_t>(stride);
  throw Error(Error::Code::input,
              "a stride of " + std::to_string(stride) + " bytes is beyond 32 bits");
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
  // Bytes 0, 1 and 4 are the components, byte 5 is 255.
  const uint32_t place[3] = {0, 1, 4};
  args.order = 0x5555;
  for (int c = 0; args.step > 1 && c < 3; ++c) {
    const unsigned shift = 4u * layout.component[c].offset;
    args.order = (args.order & ~(0xfu << shift)) | place[c] << shift;
  }
  return args;
}

}  // namespace cudatensor::cuda
