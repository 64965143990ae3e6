// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that make one output pixel a thread. A Sampler says what the pixel is, a Sink where it
// goes; both are types without state, their Args travel as kernel parameters.
#pragma once

#include "kernels/color.h"
#include "kernels/image.h"
#include "kernels/letterbox.h"
#include "kernels/normalize.h"
#include "launch.cuh"
#include "tuning.h"

namespace cudatensor::cuda {

template <class Sampler, class Sink>
__global__ void __launch_bounds__(kPixelBlockWidth *kPixelBlockHeight)
    per_pixel(const __grid_constant__ typename Sampler::Args in,
              const __grid_constant__ typename Sink::Args out, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * kPixelBlockWidth + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kPixelBlockHeight + threadIdx.y);
  if (x < width && y < height)
    Sink::template store<Sampler::kProduced>(out, x, y, Sampler::sample(in, x, y));
}

/// Launches per_pixel: what an operation keeps of the Sampler and the Sink that it was made with.
template <class SamplerArgs, class SinkArgs>
using Launcher = void (*)(const char *name, const SamplerArgs &in, const SinkArgs &out, int width,
                          int height, cudaStream_t stream);

template <class Sampler, class Sink>
void launch_per_pixel(const char *name, const typename Sampler::Args &in,
                      const typename Sink::Args &out, int width, int height, cudaStream_t stream) {
  const dim3 block(kPixelBlockWidth, kPixelBlockHeight);
  const dim3 grid(blocks_for(width, kPixelBlockWidth), blocks_for(height, kPixelBlockHeight));
  launch(name, per_pixel<Sampler, Sink>, grid, block, stream, in, out, width, height);
}

/// What all samplers of pictures read, by component.
struct Samples {
  const uint8_t *data[3];
  int64_t stride[3];
};

inline Samples samples_of(const ConstImage &image, const FormatLayout &layout, int components) {
  Samples samples = {};
  for (int c = 0; c < components; ++c) {
    samples.data[c] = image.row(layout.component[c], 0);
    samples.stride[c] = image.planes[layout.component[c].plane].stride;
  }
  return samples;
}

__device__ __forceinline__ float component_of(const Pixel &p, int c) {
  return c == 0 ? p.c0 : c == 1 ? p.c1 : p.c2;
}

struct TensorArgs {
  void *data;
  int64_t pixel, row;  // elements from one to the next
  int64_t channel[3];  // by component
  ChannelScale scale[3];
  bool round;
};

template <class T>
struct TensorSink {
  using Args = TensorArgs;

  template <int kComponents>
  static __device__ void store(const Args &out, int x, int y, const Pixel &p) {
    T *at = static_cast<T *>(out.data) + y * out.row + x * out.pixel;
#pragma unroll
    for (int c = 0; c < kComponents; ++c) {
      float v = component_of(p, c);
      if (out.round) v = round_half_up(v);
      at[out.channel[c]] = to_element<T>(normalize(out.scale[c], v));
    }
  }
};

struct PictureArgs {
  uint8_t *data[3];  // by component
  uint8_t *opaque;   // the x or A bytes, null where there are none
  int64_t stride[3];
  int step;
};

struct PictureSink {
  using Args = PictureArgs;

  template <int kComponents>
  static __device__ void store(const Args &out, int x, int y, const Pixel &p) {
    const int64_t at = static_cast<int64_t>(x) * out.step;
#pragma unroll
    for (int c = 0; c < kComponents; ++c)
      out.data[c][y * out.stride[c] + at] = to_sample(component_of(p, c));
    if (out.opaque != nullptr) out.opaque[y * out.stride[0] + at] = 255;
  }
};

inline PictureArgs picture_args(const Image &image, const FormatLayout &layout) {
  PictureArgs args = {};
  for (int c = 0; c < layout.components; ++c) {
    args.data[c] = image.row(layout.component[c], 0);
    args.stride[c] = image.planes[layout.component[c].plane].stride;
  }
  args.step = layout.component[0].step;
  if (args.step == 4) args.opaque = image.planes[0].data + layout.padding_offset;
  return args;
}

}  // namespace cudatensor::cuda
