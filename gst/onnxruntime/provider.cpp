// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/provider.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "gst/onnxruntime/libraryfiles.h"
#include "gst/util/errors.h"
#include "gst/util/log.h"

namespace cudatensor::ort {
namespace {

using Texts = std::vector<std::pair<const char *, std::string>>;

/// ONNX Runtime's name of a provider.
const char *name_of(Provider provider) {
  switch (provider) {
    case Provider::cuda: return "CUDAExecutionProvider";
    case Provider::tensorrt: return "TensorrtExecutionProvider";
    case Provider::openvino: return "OpenVINOExecutionProvider";
    default: return "CPUExecutionProvider";
  }
}

const char *nick_of(Provider provider) {
  switch (provider) {
    case Provider::cuda: return "cuda";
    case Provider::tensorrt: return "tensorrt";
    case Provider::openvino: return "openvino";
    default: return "cpu";
  }
}

[[noreturn]] void refuse(const Library &library, Provider provider, const std::string &cause) {
  throw CodedError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                   std::string("provider=") + nick_of(provider) + " cannot be used with " +
                       library.path() + " (ONNX Runtime " + library.version() + "): " + cause);
}

/// Opens NVIDIA's libraries beside a wheel. The loader then takes them for those that the provider
/// needs, which it would not find there. They are never closed.
void preload_nvidia(const Library &library) {
  for (const std::string &file : nvidia_files(library.path()))
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) GST_INFO("%s", dlerror());
}

/// Calls a function with options as two arrays of texts.
template <class Function>
void pass(const Texts &texts, const Function &function) {
  std::vector<const char *> keys, values;
  for (const auto &[key, value] : texts) {
    keys.push_back(key);
    values.push_back(value.c_str());
  }
  function(keys.data(), values.data(), texts.size());
}

/// The functions that make, fill and add the options of one of NVIDIA's providers.
template <class Options>
struct Functions {
  Call<Options **> create;
  Call<Options *, const char *const *, const char *const *, size_t> update;
  Call<Options *, const char *, void *> update_with_value;
  Call<SessionOptions *, const Options *> append;
};

template <class Options>
void add_nvidia(const Api &api, SessionOptions *session, const Functions<Options> &functions,
                const Texts &texts, void *stream) {
  const Owned<Options> owned = make<Options>(api, functions.create);
  Options *options = owned.get();
  pass(texts, [&](auto... arrays) { api.call(functions.update, options, arrays...); });
  if (stream != nullptr)
    api.call(functions.update_with_value, options, "user_compute_stream", stream);
  api.call(functions.append, session, options);
}

void add_cuda(const Api &api, SessionOptions *session, const ProviderOptions &options) {
  add_nvidia<CUDAProviderOptionsV2>(
      api, session,
      {kCreateCUDAProviderOptions, kUpdateCUDAProviderOptions, kUpdateCUDAProviderOptionsWithValue,
       kSessionOptionsAppendExecutionProvider_CUDA_V2},
      {{"device_id", std::to_string(options.device)}, {"cudnn_conv_algo_search", "HEURISTIC"}},
      options.stream);
}

/// CUDA's provider comes after it, and runs what TensorRT cannot.
void add_tensorrt(const Api &api, SessionOptions *session, const ProviderOptions &options) {
  add_nvidia<TensorRTProviderOptionsV2>(
      api, session,
      {kCreateTensorRTProviderOptions, kUpdateTensorRTProviderOptions,
       kUpdateTensorRTProviderOptionsWithValue, kSessionOptionsAppendExecutionProvider_TensorRT_V2},
      {{"device_id", std::to_string(options.device)},
       {"trt_engine_cache_enable", "1"},
       {"trt_engine_cache_path", options.cache},
       {"trt_timing_cache_enable", "1"},
       {"trt_timing_cache_path", options.cache}},
      options.stream);
  add_cuda(api, session, options);
}

void add_openvino(const Api &api, SessionOptions *session, const ProviderOptions &options) {
  pass({{"cache_dir", options.cache}}, [&](auto... arrays) {
    api.call(kSessionOptionsAppendExecutionProvider_OpenVINO_V2, session, arrays...);
  });
}

}  // namespace

void check_provider(const Library &library, Provider provider) {
  const std::vector<std::string> names = library.providers();
  if (std::find(names.begin(), names.end(), name_of(provider)) != names.end()) return;
  std::string all;
  for (const std::string &name : names) all += (all.empty() ? "" : ", ") + name;
  refuse(library, provider, "it has " + all + " only");
}

void add_provider(const Library &library, SessionOptions *session, const ProviderOptions &options) {
  if (options.provider == Provider::cpu) return;
  check_provider(library, options.provider);
  if (is_on_gpu(options.provider)) preload_nvidia(library);
  const bool compiles = options.provider != Provider::cuda;
  if (compiles && !options.cache.empty()) g_mkdir_with_parents(options.cache.c_str(), 0700);
  try {
    if (options.provider == Provider::cuda) add_cuda(library.api(), session, options);
    if (options.provider == Provider::tensorrt) add_tensorrt(library.api(), session, options);
    if (options.provider == Provider::openvino) add_openvino(library.api(), session, options);
  } catch (const Failure &failure) {
    refuse(library, options.provider, failure.what());
  }
}

}  // namespace cudatensor::ort
