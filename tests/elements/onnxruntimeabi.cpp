// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that gst/onnxruntime/api.h declares the same as the header of ONNX Runtime that this file is
// compiled with. The compiler checks everything here.
#include <gtest/gtest.h>
#include <onnxruntime_c_api.h>

#include <cstddef>
#include <type_traits>

#include "gst/onnxruntime/api.h"

// The types of their functions have attributes that types of templates do not keep.
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace cudatensor::ort {
namespace {

/// Maps a type of their header to ours.
template <class T>
struct Ours {
  using type = T;
};
template <class T>
using OursOf = typename Ours<T>::type;
template <class T>
struct Ours<const T> {
  using type = const OursOf<T>;
};
template <class T>
struct Ours<T *> {
  using type = OursOf<T> *;
};
template <class T>
struct Ours<T *const> {
  using type = OursOf<T> *const;
};
template <class Result, class... Args>
struct Ours<Result(Args...)> {
  using type = OursOf<Result>(OursOf<Args>...);
};
template <class Result, class... Args>
struct Ours<Result(Args...) noexcept> {
  using type = OursOf<Result>(OursOf<Args>...);
};

#define MAP(theirs, ours) \
  template <>             \
  struct Ours<theirs> {   \
    using type = ours;    \
  }
MAP(OrtAllocator, Allocator);
MAP(OrtCUDAProviderOptionsV2, CUDAProviderOptionsV2);
MAP(OrtEnv, Env);
MAP(OrtIoBinding, IoBinding);
MAP(OrtMemoryInfo, MemoryInfo);
MAP(OrtRunOptions, RunOptions);
MAP(OrtSession, Session);
MAP(OrtSessionOptions, SessionOptions);
MAP(OrtStatus, Status);
MAP(OrtTensorRTProviderOptionsV2, TensorRTProviderOptionsV2);
MAP(OrtTensorTypeAndShapeInfo, TensorTypeAndShapeInfo);
MAP(OrtTypeInfo, TypeInfo);
MAP(OrtValue, Value);
MAP(OrtErrorCode, ErrorCode);
MAP(OrtLoggingLevel, LoggingLevel);
MAP(::GraphOptimizationLevel, ort::GraphOptimizationLevel);
MAP(OrtAllocatorType, AllocatorType);
MAP(OrtMemType, MemoryType);
MAP(ONNXType, OnnxType);
MAP(ONNXTensorElementDataType, ElementDataType);
#undef MAP

template <class Function>
constexpr bool is_at(Entry<Function> entry, size_t offset) {
  return entry.position * sizeof(void *) == offset;
}

#define SAME(name)                                                                        \
  static_assert(is_at(k##name, offsetof(OrtApi, name)), #name " is at another position"); \
  static_assert(std::is_same_v<std::remove_const_t<decltype(k##name)>,                    \
                               Entry<OursOf<decltype(OrtApi::name)>>>,                    \
                #name " has another type")
SAME(GetErrorCode);
SAME(GetErrorMessage);
SAME(CreateEnvWithCustomLogger);
SAME(CreateSession);
SAME(CreateSessionOptions);
SAME(SetSessionGraphOptimizationLevel);
SAME(SetIntraOpNumThreads);
SAME(SessionGetInputCount);
SAME(SessionGetOutputCount);
SAME(SessionGetInputTypeInfo);
SAME(SessionGetOutputTypeInfo);
SAME(SessionGetInputName);
SAME(SessionGetOutputName);
SAME(CreateRunOptions);
SAME(RunOptionsSetTerminate);
SAME(CreateTensorWithDataAsOrtValue);
SAME(GetTensorMutableData);
SAME(CastTypeInfoToTensorInfo);
SAME(GetOnnxTypeFromTypeInfo);
SAME(GetTensorElementType);
SAME(GetDimensionsCount);
SAME(GetDimensions);
SAME(GetSymbolicDimensions);
SAME(GetTensorTypeAndShape);
SAME(CreateMemoryInfo);
SAME(AllocatorFree);
SAME(GetAllocatorWithDefaultOptions);
SAME(GetAvailableProviders);
SAME(ReleaseAvailableProviders);
SAME(AddSessionConfigEntry);
SAME(RunWithBinding);
SAME(CreateIoBinding);
SAME(BindInput);
SAME(BindOutput);
SAME(BindOutputToDevice);
SAME(GetBoundOutputValues);
SAME(ClearBoundInputs);
SAME(ClearBoundOutputs);
SAME(AddRunConfigEntry);
SAME(SessionOptionsAppendExecutionProvider_TensorRT_V2);
SAME(CreateTensorRTProviderOptions);
SAME(UpdateTensorRTProviderOptions);
SAME(SessionOptionsAppendExecutionProvider_CUDA_V2);
SAME(CreateCUDAProviderOptions);
SAME(UpdateCUDAProviderOptions);
SAME(UpdateTensorRTProviderOptionsWithValue);
SAME(UpdateCUDAProviderOptionsWithValue);
SAME(SessionOptionsAppendExecutionProvider_OpenVINO_V2);
#undef SAME

#define RELEASES(name, function)                                              \
  static_assert(is_at(kRelease<name>, offsetof(OrtApi, function)),            \
                #function " is at another position");                         \
  static_assert(std::is_same_v<std::remove_const_t<decltype(kRelease<name>)>, \
                               Entry<OursOf<decltype(OrtApi::function)>>>,    \
                #function " has another type")
RELEASES(Status, ReleaseStatus);
RELEASES(MemoryInfo, ReleaseMemoryInfo);
RELEASES(Session, ReleaseSession);
RELEASES(Value, ReleaseValue);
RELEASES(RunOptions, ReleaseRunOptions);
RELEASES(TypeInfo, ReleaseTypeInfo);
RELEASES(TensorTypeAndShapeInfo, ReleaseTensorTypeAndShapeInfo);
RELEASES(SessionOptions, ReleaseSessionOptions);
RELEASES(IoBinding, ReleaseIoBinding);
RELEASES(TensorRTProviderOptionsV2, ReleaseTensorRTProviderOptions);
RELEASES(CUDAProviderOptionsV2, ReleaseCUDAProviderOptions);
#undef RELEASES

static_assert(offsetof(OrtApiBase, GetApi) == offsetof(ApiBase, get_api));
static_assert(offsetof(OrtApiBase, GetVersionString) == offsetof(ApiBase, get_version_string));
static_assert(ORT_API_VERSION >= kApiVersion);

template <class Theirs, class Own>
constexpr bool equals(Theirs theirs, Own own) {
  return static_cast<int>(theirs) == static_cast<int>(own);
}
static_assert(equals(ORT_EP_FAIL, ErrorCode::ep_fail));
static_assert(equals(ORT_INVALID_PROTOBUF, ErrorCode::invalid_protobuf));
static_assert(equals(ORT_NO_SUCHFILE, ErrorCode::no_such_file));
static_assert(equals(ORT_LOGGING_LEVEL_FATAL, LoggingLevel::fatal));
static_assert(equals(ORT_ENABLE_ALL, ort::GraphOptimizationLevel::all));
static_assert(equals(OrtDeviceAllocator, AllocatorType::device));
static_assert(equals(OrtMemTypeDefault, MemoryType::normal));
static_assert(equals(ONNX_TYPE_TENSOR, OnnxType::tensor));
static_assert(equals(ONNX_TYPE_OPTIONAL, OnnxType::optional));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ElementDataType::float32));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, ElementDataType::int64));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, ElementDataType::boolean));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, ElementDataType::float16));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, ElementDataType::float64));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, ElementDataType::uint64));
static_assert(equals(ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, ElementDataType::bfloat16));

TEST(OnnxruntimeAbi, IsThatOfTheHeader) { SUCCEED(); }

}  // namespace
}  // namespace cudatensor::ort
