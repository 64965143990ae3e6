// SPDX-License-Identifier: LGPL-2.1-or-later
// A C interface to the CPU backend's operations, so that a benchmark script can time them in the
// same process as their peers.
#include <exception>

#include "imagenet.h"

using namespace cudatensor;

namespace {

struct Nv12ToTensor {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ImageToTensor> operation;
  ImageDesc in;
  TensorDesc out;
};

}  // namespace

extern "C" {

/// width × height NV12 to a letterboxed size × size NCHW float32 tensor; null where that fails.
__attribute__((visibility("default"))) void *nv12_to_tensor_new(int width, int height, int size,
                                                                unsigned threads) try {
  const NormalizeParams params = imagenet_letterbox(width, height, size);
  auto bench = std::make_unique<Nv12ToTensor>();
  bench->backend = open_cpu_backend(threads);
  bench->operation = bench->backend->normalize(params);
  bench->in = params.source.image;
  bench->out = params.out;
  return bench.release();
} catch (const std::exception &) {
  return nullptr;
}

__attribute__((visibility("default"))) void nv12_to_tensor_run(void *handle, const uint8_t *nv12,
                                                               float *tensor) {
  auto *bench = static_cast<Nv12ToTensor *>(handle);
  const ptrdiff_t stride = bench->in.width;
  bench->operation->run(
      {bench->in, {{nv12, stride}, {nv12 + stride * bench->in.height, stride}, {}}},
      {bench->out, tensor});
}

__attribute__((visibility("default"))) void nv12_to_tensor_free(void *handle) {
  delete static_cast<Nv12ToTensor *>(handle);
}
}
