// SPDX-License-Identifier: LGPL-2.1-or-later
// The execution providers of ONNX Runtime, which run a network.
#pragma once

#include <string>

#include "gst/onnxruntime/library.h"
#include "gst/util/enums.h"

namespace cudatensor::ort {

struct ProviderOptions {
  Provider provider = Provider::cpu;  ///< not automatic
  int device = 0;                     ///< CUDA, TensorRT: the index of the GPU
  void *stream = nullptr;             ///< CUDA, TensorRT: the cudaStream_t of all work
  std::string cache;                  ///< TensorRT, OpenVINO: the folder of compiled engines
};

/// Whether a provider works on memory of a GPU.
constexpr bool is_on_gpu(Provider provider) {
  return provider == Provider::cuda || provider == Provider::tensorrt;
}

/// Throws an Error if the library was built without a provider. It may still lack the libraries that
/// the provider needs.
void check_provider(const Library &library, Provider provider);

/// Adds a provider to a session's options, and opens the libraries that it needs. Throws an Error
/// that names what is missing.
void add_provider(const Library &library, SessionOptions *session, const ProviderOptions &options);

}  // namespace cudatensor::ort
