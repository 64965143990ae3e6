// SPDX-License-Identifier: LGPL-2.1-or-later
// ONNX Runtime's C interface, version 17, which every later library has: a table of functions whose
// positions never change. Its library is opened at run time.
//
// This file repeats the declarations that the plugin uses; tests/elements/onnxruntimeabi.cpp
// compares them with the library's header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatensor::ort {

constexpr uint32_t kApiVersion = 17;

// Objects of the library, each named after its type without the prefix Ort.
struct Allocator;
struct CUDAProviderOptionsV2;
struct Env;
struct IoBinding;
struct MemoryInfo;
struct ModelMetadata;
struct RunOptions;
struct Session;
struct SessionOptions;
struct Status;  // of a failed call; null if it succeeded
struct TensorRTProviderOptionsV2;
struct TensorTypeAndShapeInfo;
struct TypeInfo;
struct Value;

enum class ErrorCode : int {
  ok,
  fail,
  invalid_argument,
  no_such_file,
  no_model,
  engine_error,
  runtime_exception,
  invalid_protobuf,
  model_loaded,
  not_implemented,
  invalid_graph,
  ep_fail,
};
enum class LoggingLevel : int { verbose, info, warning, error, fatal };
enum class GraphOptimizationLevel : int { none = 0, all = 99 };
enum class AllocatorType : int { device = 0, arena = 1 };
enum class MemoryType : int { normal = 0 };
enum class OnnxType : int { unknown, tensor, sequence, map, opaque, sparse_tensor, optional };
/// ONNX's numbers of the types of elements.
enum class ElementDataType : int {
  undefined,
  float32,
  uint8,
  int8,
  uint16,
  int16,
  int32,
  int64,
  string,
  boolean,
  float16,
  float64,
  uint32,
  uint64,
  complex64,
  complex128,
  bfloat16,
};

using LoggingFunction = void (*)(void *param, LoggingLevel severity, const char *category,
                                 const char *logid, const char *code_location, const char *message);

/// A function of the table. `Function` is the type of the pointer.
template <class Function>
struct Entry {
  size_t position;
};

template <class... Args>
using Call = Entry<Status *(*)(Args...)>;

constexpr Entry<ErrorCode (*)(const Status *)> kGetErrorCode = {1};
constexpr Entry<const char *(*)(const Status *)> kGetErrorMessage = {2};
constexpr Call<LoggingFunction, void *, LoggingLevel, const char *, Env **>
    kCreateEnvWithCustomLogger = {4};
constexpr Call<const Env *, const char *, const SessionOptions *, Session **> kCreateSession = {7};
constexpr Call<SessionOptions **> kCreateSessionOptions = {10};
constexpr Call<SessionOptions *, GraphOptimizationLevel> kSetSessionGraphOptimizationLevel = {23};
constexpr Call<SessionOptions *, int> kSetIntraOpNumThreads = {24};
constexpr Call<const Session *, size_t *> kSessionGetInputCount = {30};
constexpr Call<const Session *, size_t *> kSessionGetOutputCount = {31};
constexpr Call<const Session *, size_t, TypeInfo **> kSessionGetInputTypeInfo = {33};
constexpr Call<const Session *, size_t, TypeInfo **> kSessionGetOutputTypeInfo = {34};
constexpr Call<const Session *, size_t, Allocator *, char **> kSessionGetInputName = {36};
constexpr Call<const Session *, size_t, Allocator *, char **> kSessionGetOutputName = {37};
constexpr Call<RunOptions **> kCreateRunOptions = {39};
constexpr Call<RunOptions *> kRunOptionsSetTerminate = {46};
constexpr Call<const MemoryInfo *, void *, size_t, const int64_t *, size_t, ElementDataType,
               Value **>
    kCreateTensorWithDataAsOrtValue = {49};
constexpr Call<Value *, void **> kGetTensorMutableData = {51};
constexpr Call<const TypeInfo *, const TensorTypeAndShapeInfo **> kCastTypeInfoToTensorInfo = {55};
constexpr Call<const TypeInfo *, OnnxType *> kGetOnnxTypeFromTypeInfo = {56};
constexpr Call<const TensorTypeAndShapeInfo *, ElementDataType *> kGetTensorElementType = {60};
constexpr Call<const TensorTypeAndShapeInfo *, size_t *> kGetDimensionsCount = {61};
constexpr Call<const TensorTypeAndShapeInfo *, int64_t *, size_t> kGetDimensions = {62};
constexpr Call<const TensorTypeAndShapeInfo *, const char **, size_t> kGetSymbolicDimensions = {63};
constexpr Call<const Value *, TensorTypeAndShapeInfo **> kGetTensorTypeAndShape = {65};
constexpr Call<const char *, AllocatorType, int, MemoryType, MemoryInfo **> kCreateMemoryInfo = {
    68};
constexpr Call<Allocator *, void *> kAllocatorFree = {76};
constexpr Call<Allocator **> kGetAllocatorWithDefaultOptions = {78};
constexpr Call<char ***, int *> kGetAvailableProviders = {125};
constexpr Call<char **, int> kReleaseAvailableProviders = {126};
constexpr Call<SessionOptions *, const char *, const char *> kAddSessionConfigEntry = {130};
constexpr Call<Session *, const RunOptions *, const IoBinding *> kRunWithBinding = {133};
constexpr Call<Session *, IoBinding **> kCreateIoBinding = {134};
constexpr Call<IoBinding *, const char *, const Value *> kBindInput = {136};
constexpr Call<IoBinding *, const char *, const Value *> kBindOutput = {137};
constexpr Call<IoBinding *, const char *, const MemoryInfo *> kBindOutputToDevice = {138};
constexpr Call<const IoBinding *, Allocator *, Value ***, size_t *> kGetBoundOutputValues = {140};
constexpr Entry<void (*)(IoBinding *)> kClearBoundInputs = {141};
constexpr Entry<void (*)(IoBinding *)> kClearBoundOutputs = {142};
constexpr Call<RunOptions *, const char *, const char *> kAddRunConfigEntry = {165};
constexpr Call<SessionOptions *, const TensorRTProviderOptionsV2 *>
    kSessionOptionsAppendExecutionProvider_TensorRT_V2 = {170};
constexpr Call<TensorRTProviderOptionsV2 **> kCreateTensorRTProviderOptions = {171};
constexpr Call<TensorRTProviderOptionsV2 *, const char *const *, const char *const *, size_t>
    kUpdateTensorRTProviderOptions = {172};
constexpr Call<SessionOptions *, const CUDAProviderOptionsV2 *>
    kSessionOptionsAppendExecutionProvider_CUDA_V2 = {204};
constexpr Call<CUDAProviderOptionsV2 **> kCreateCUDAProviderOptions = {205};
constexpr Call<CUDAProviderOptionsV2 *, const char *const *, const char *const *, size_t>
    kUpdateCUDAProviderOptions = {206};
constexpr Call<TensorRTProviderOptionsV2 *, const char *, void *>
    kUpdateTensorRTProviderOptionsWithValue = {261};
constexpr Call<CUDAProviderOptionsV2 *, const char *, void *> kUpdateCUDAProviderOptionsWithValue =
    {263};
constexpr Call<SessionOptions *, const char *const *, const char *const *, size_t>
    kSessionOptionsAppendExecutionProvider_OpenVINO_V2 = {275};

/// The function that releases an object of a type.
template <class Object>
constexpr Entry<void (*)(Object *)> kRelease = {0};
template <>
inline constexpr Entry<void (*)(Status *)> kRelease<Status> = {93};
template <>
inline constexpr Entry<void (*)(MemoryInfo *)> kRelease<MemoryInfo> = {94};
template <>
inline constexpr Entry<void (*)(Session *)> kRelease<Session> = {95};
template <>
inline constexpr Entry<void (*)(Value *)> kRelease<Value> = {96};
template <>
inline constexpr Entry<void (*)(RunOptions *)> kRelease<RunOptions> = {97};
template <>
inline constexpr Entry<void (*)(TypeInfo *)> kRelease<TypeInfo> = {98};
template <>
inline constexpr Entry<void (*)(TensorTypeAndShapeInfo *)> kRelease<TensorTypeAndShapeInfo> = {99};
template <>
inline constexpr Entry<void (*)(SessionOptions *)> kRelease<SessionOptions> = {100};
template <>
inline constexpr Entry<void (*)(IoBinding *)> kRelease<IoBinding> = {135};
template <>
inline constexpr Entry<void (*)(TensorRTProviderOptionsV2 *)> kRelease<TensorRTProviderOptionsV2> =
    {174};
template <>
inline constexpr Entry<void (*)(CUDAProviderOptionsV2 *)> kRelease<CUDAProviderOptionsV2> = {208};

/// The table. A library has at least as many entries as the largest position above.
struct Table {
  void (*functions[1])();
};

struct ApiBase {
  const Table *(*get_api)(uint32_t version);
  const char *(*get_version_string)();
};

/// The symbol of the library.
constexpr const char *kGetApiBase = "OrtGetApiBase";
using GetApiBase = const ApiBase *(*)();

}  // namespace cudatensor::ort
