// SPDX-License-Identifier: LGPL-2.1-or-later
// A C interface to the operations of the CPU backend, so that a benchmark script can time them in
// the same process as other software. Each constructor returns a handle, or null if it fails.
// bench_run() takes a tensor, or a picture whose planes and rows have no gaps.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "imagenet.h"
#include "kernels/ops.h"
#include "tests/kernels/normalizecase.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace cudatensor;

namespace {

struct Bench {
  std::unique_ptr<Backend> backend;
  std::function<void(const uint8_t *in, uint8_t *out)> run;
};

/// A view of a picture without gaps.
template <class Byte>
BasicImage<Byte> dense(const ImageDesc &desc, Byte *data) {
  const FormatLayout layout = layout_of(desc.format);
  BasicImage<Byte> image = {desc, {}};
  for (int c = 0; c < layout.components; ++c) {
    const Component &component = layout.component[c];
    if (image.planes[component.plane].data != nullptr) continue;
    const PlaneSize size = plane_size(desc, component.plane);
    const auto stride = static_cast<ptrdiff_t>(size.row);
    image.planes[component.plane] = {data, stride};
    data += size.row * size.rows;
  }
  return image;
}

/// A Bench with a new backend, whose `run` is the result of prepare(backend).
template <class Prepare>
Bench *make(unsigned threads, const Prepare &prepare) try {
  auto bench = std::make_unique<Bench>();
  bench->backend = open_cpu_backend(threads);
  bench->run = prepare(*bench->backend);
  return bench.release();
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return nullptr;
}

PixelFormat format_of(const char *name) {
  for (const PixelFormat format :
       {PixelFormat::NV12, PixelFormat::BGR, PixelFormat::RGB, PixelFormat::BGRx, PixelFormat::RGBP,
        PixelFormat::YUY2, PixelFormat::Y42B, PixelFormat::P010_10LE, PixelFormat::I420_10LE})
    if (name_of(format) == std::string(name)) return format;
  return PixelFormat::GRAY8;
}

ResizeMode mode_of(const std::string &name) {
  if (name == "torchvision") return ResizeMode::torchvision;
  if (name == "transformers") return ResizeMode::transformers;
  return name == "ultralytics" ? ResizeMode::ultralytics : ResizeMode::stretch;
}

}  // namespace

/// A picture of width × height, in a direction, to a letterboxed size × size NCHW float32 tensor.
EXPORT Bench *bench_tensor(const char *format, int width, int height, int size, int direction,
                           unsigned threads) {
  return make(threads, [=](Backend &backend) {
    NormalizeCase params = imagenet_letterbox(width, height, size);
    params.source.image.format = format_of(format);
    params.source.direction = static_cast<Direction>(direction);
    params.source.colorimetry.matrix = ColorMatrix::bt601;  // OpenCV's only matrix
    return [params, op = std::shared_ptr(normalize_picture(backend, params))](const uint8_t *in,
                                                                              uint8_t *out) {
      op->run(dense(params.source.image, in), {params.out, out});
    };
  });
}

/// `slots` slots of an NV12 picture, each by six numbers of `matrices`, in an NCHW float32 tensor of
/// size × size pixels.
EXPORT Bench *bench_matrices(int width, int height, int size, int slots, const double *matrices,
                             unsigned threads) {
  return make(threads, [=](Backend &backend) {
    NormalizeCase params = imagenet_letterbox(width, height, size);
    params.out.n = slots;
    params.source.colorimetry.matrix = ColorMatrix::bt601;
    std::vector<Slot> all(static_cast<size_t>(slots), {params.source, {}});
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].matrix.emplace();
      std::copy_n(matrices + 6 * i, 6, all[i].matrix->begin());
    }
    return [params, all, op = std::shared_ptr(backend.normalize(params, params.out))](
               const uint8_t *in, uint8_t *out) mutable {
      for (Slot &slot : all) slot.image = dense(params.source.image, in);
      op->run(all, {params.out, out});
    };
  });
}

/// An antialiased resize to out_width × out_height and an NCHW tensor of float16 or float32, whose
/// elements have `bytes` bytes.
EXPORT Bench *bench_filter(const char *format, int width, int height, int out_width, int out_height,
                           const char *mode, const char *method, int shortest_edge, int bytes,
                           unsigned threads) {
  return make(threads, [=](Backend &backend) {
    NormalizeCase params = imagenet_letterbox(width, height, out_width);
    params.out.h = out_height;
    params.out.dtype = bytes == 2 ? DType::float16 : DType::float32;
    params.source.image.format = format_of(format);
    params.source.colorimetry.matrix = ColorMatrix::bt601;
    params.resize.mode = mode_of(mode);
    params.resize.antialias = true;
    params.resize.method = method == std::string("bicubic") ? Method::bicubic : Method::bilinear;
    params.resize.shortest_edge = shortest_edge;
    return [params, op = std::shared_ptr(normalize_picture(backend, params))](const uint8_t *in,
                                                                              uint8_t *out) {
      op->run(dense(params.source.image, in), {params.out, out});
    };
  });
}

/// The whole NV12 picture to Y444 of out_width × out_height.
EXPORT Bench *bench_yuv444(int width, int height, int out_width, int out_height, unsigned threads) {
  return make(threads, [=](Backend &backend) {
    const Yuv444Params params = {{PixelFormat::NV12, width, height},
                                 {PixelFormat::Y444, out_width, out_height},
                                 out_width,
                                 out_height,
                                 0,
                                 0};
    return [params, op = std::shared_ptr(backend.yuv444(params))](const uint8_t *in, uint8_t *out) {
      op->run(dense(params.in, in), dense(params.out, out));
    };
  });
}

/// The histogram of the luminance, as 256 values of uint64.
EXPORT Bench *bench_histogram(const char *format, int width, int height, unsigned threads) {
  return make(threads, [=](Backend &backend) {
    const HistogramParams params = {{format_of(format), width, height}, {0, 0, width, height}};
    return
        [params, op = std::shared_ptr(backend.histogram(params))](const uint8_t *in, uint8_t *out) {
          op->run(dense(params.in, in), *reinterpret_cast<Bins *>(out));
        };
  });
}

/// A tensor (1, c, h, w) of float16 or float32.
EXPORT Bench *bench_pixelshuffle(int bytes, int c, int h, int w, int factor, unsigned threads) {
  return make(threads, [=](Backend &backend) {
    const DType dtype = bytes == 2 ? DType::float16 : DType::float32;
    const PixelShuffleParams params = {{dtype, Layout::nchw, 1, c, h, w}, factor};
    return [params, out_desc = shuffled(params),
            op = std::shared_ptr(backend.pixelshuffle(params))](const uint8_t *in, uint8_t *out) {
      op->run({params.in, in}, {out_desc, out});
    };
  });
}

EXPORT void bench_run(Bench *bench, const uint8_t *in, uint8_t *out) { bench->run(in, out); }
EXPORT void bench_free(Bench *bench) { delete bench; }
