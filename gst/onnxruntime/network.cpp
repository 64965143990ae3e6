// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/network.h"

#include <glib/gstdio.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>

#include "gst/util/errors.h"

namespace cudatensor::ort {
namespace {

/// Inputs or outputs of a session.
struct Ports {
  Call<const Session *, size_t *> count;
  Call<const Session *, size_t, Allocator *, char **> name;
  Call<const Session *, size_t, TypeInfo **> type;
  const char *kind;
};

constexpr Ports kInputs = {kSessionGetInputCount, kSessionGetInputName, kSessionGetInputTypeInfo,
                           "input"};
constexpr Ports kOutputs = {kSessionGetOutputCount, kSessionGetOutputName,
                            kSessionGetOutputTypeInfo, "output"};

[[noreturn]] void refuse_type(const std::string &model, const std::string &cause) {
  throw CodedError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, model + ": " + cause);
}

/// Throws the Error for a file that cannot be read.
void check_file(const std::string &model) {
  const auto refuse = [&](GstResourceError code, const std::string &cause) {
    throw CodedError(GST_RESOURCE_ERROR, code, model + ": " + cause);
  };
  if (model.empty())
    throw CodedError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                     "the property model is not set: it names the file of the network");
  GStatBuf status;
  if (g_stat(model.c_str(), &status) != 0)
    refuse(errno == ENOENT || errno == ENOTDIR ? GST_RESOURCE_ERROR_NOT_FOUND
                                               : GST_RESOURCE_ERROR_OPEN_READ,
           g_strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse(GST_RESOURCE_ERROR_OPEN_READ, "is a folder, not a model");
  if (g_access(model.c_str(), R_OK) != 0) refuse(GST_RESOURCE_ERROR_OPEN_READ, g_strerror(errno));
}

/// Returns the Error for a model of which no session can be made.
CodedError model_error(const std::string &model, const Failure &failure) {
  const bool is_none = failure.code() == ErrorCode::invalid_protobuf;
  return {GST_STREAM_ERROR, is_none ? GST_STREAM_ERROR_WRONG_TYPE : GST_STREAM_ERROR_DECODE,
          model + (is_none ? " is no whole ONNX model: " : " cannot be used: ") + failure.what()};
}

std::optional<ElementType> element_type_of(ElementDataType type) {
  switch (type) {
    case ElementDataType::float32: return ElementType::float32;
    case ElementDataType::float64: return ElementType::float64;
    case ElementDataType::float16: return ElementType::float16;
    case ElementDataType::int8: return ElementType::int8;
    case ElementDataType::int16: return ElementType::int16;
    case ElementDataType::int32: return ElementType::int32;
    case ElementDataType::int64: return ElementType::int64;
    case ElementDataType::boolean:
    case ElementDataType::uint8: return ElementType::uint8;
    case ElementDataType::uint16: return ElementType::uint16;
    case ElementDataType::uint32: return ElementType::uint32;
    case ElementDataType::uint64: return ElementType::uint64;
    default: return std::nullopt;
  }
}

const char *kind_text(OnnxType type) {
  switch (type) {
    case OnnxType::sequence: return "a sequence";
    case OnnxType::map: return "a map";
    case OnnxType::sparse_tensor: return "a sparse tensor";
    case OnnxType::optional: return "optional";
    default: return "no tensor";
  }
}

std::string unsupported_text(ElementDataType type) {
  switch (type) {
    case ElementDataType::string: return "strings";
    case ElementDataType::bfloat16: return "bfloat16";
    case ElementDataType::complex64: return "complex64";
    case ElementDataType::complex128: return "complex128";
    default: return "ONNX's type " + std::to_string(static_cast<int>(type));
  }
}

std::vector<Axis> axes_of(const Api &api, const TensorTypeAndShapeInfo *info) {
  const auto rank = get<size_t>(api, kGetDimensionsCount, info);
  std::vector<int64_t> lengths(rank);
  std::vector<const char *> symbols(rank);
  api.call(kGetDimensions, info, lengths.data(), rank);
  api.call(kGetSymbolicDimensions, info, symbols.data(), rank);
  std::vector<Axis> axes;
  for (size_t i = 0; i < rank; ++i)
    axes.push_back({lengths[i], symbols[i] != nullptr ? symbols[i] : ""});
  return axes;
}

std::string name_of(const Api &api, const Session *session, const Ports &ports, size_t i) {
  auto *allocator = get<Allocator *>(api, kGetAllocatorWithDefaultOptions);
  auto *text = get<char *>(api, ports.name, session, i, allocator);
  const std::string name = text;
  api.call(kAllocatorFree, allocator, text);
  return name;
}

/// Reads a port. Throws an Error if caps cannot describe it.
Port port_of(const Api &api, const Session *session, const Ports &ports, size_t i,
             const std::string &model) {
  Port port = {name_of(api, session, ports, i), {}, {}, {}};
  const std::string what = std::string("its ") + ports.kind + " " + port.name + " ";
  const auto type = make<TypeInfo>(api, ports.type, session, i);
  const auto kind = get<OnnxType>(api, kGetOnnxTypeFromTypeInfo, type.get());
  if (kind != OnnxType::tensor) refuse_type(model, what + "is " + kind_text(kind));
  const auto *info =
      get<const TensorTypeAndShapeInfo *>(api, kCastTypeInfoToTensorInfo, type.get());
  port.data_type = get<ElementDataType>(api, kGetTensorElementType, info);
  const auto element = element_type_of(port.data_type);
  if (!element)
    refuse_type(model,
                what + "has " + unsupported_text(port.data_type) + ", for which there are no caps");
  port.type = *element;
  port.axes = axes_of(api, info);
  return port;
}

[[noreturn]] void refuse_outputs(const std::string &cause) {
  throw CodedError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "outputs: " + cause);
}

/// Returns the indices of the outputs that are wanted.
std::vector<size_t> chosen(const std::vector<std::string> &names,
                           const std::vector<std::string> &wanted, const std::string &model) {
  std::vector<size_t> indices(wanted.empty() ? names.size() : 0);
  std::iota(indices.begin(), indices.end(), 0);
  for (const std::string &name : wanted) {
    const auto found =
        static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (found == names.size()) {
      std::string all;
      for (const std::string &each : names) all += (all.empty() ? "" : ", ") + each;
      refuse_outputs(model + " has no output " + name + "; it has " + all);
    }
    if (std::count(indices.begin(), indices.end(), found) != 0)
      refuse_outputs(name + " is named twice");
    indices.push_back(found);
  }
  if (indices.size() > kMaxTensors)
    refuse_outputs(model + " has " + std::to_string(indices.size()) +
                   " outputs, and a buffer has room for " + std::to_string(kMaxTensors) +
                   ": choose some");
  return indices;
}

Owned<SessionOptions> session_options(const Api &api, const NetworkOptions &options) {
  auto session = make<SessionOptions>(api, kCreateSessionOptions);
  api.call(kSetSessionGraphOptimizationLevel, session.get(), GraphOptimizationLevel::all);
  api.call(kSetIntraOpNumThreads, session.get(), static_cast<int>(options.threads));
  // Idle threads would take whole cores between two buffers.
  api.call(kAddSessionConfigEntry, session.get(), "session.intra_op.allow_spinning", "0");
  api.call(kAddSessionConfigEntry, session.get(), "session.inter_op.allow_spinning", "0");
  return session;
}

}  // namespace

std::string text_of(const Port &port) {
  std::string text;
  for (auto axis = port.axes.rbegin(); axis != port.axes.rend(); ++axis) {
    if (!text.empty()) text += ":";
    text += !axis->is_open()       ? std::to_string(axis->length)
            : axis->symbol.empty() ? "?"
                                   : axis->symbol;
  }
  return std::string(type_text(port.type)) + " " + (text.empty() ? "1" : text);
}

Network::Network(const Library &library, const NetworkOptions &options)
    : library_(library), options_(options) {
  check_file(options_.model);
  try {
    open_session();
    read_ports();
  } catch (const Failure &failure) {
    throw CodedError(model_error(options_.model, failure));
  }
}

void Network::open_session() {
  const Api &api = library_.api();
  const Owned<SessionOptions> session = session_options(api, options_);
  add_provider(library_, session.get(), options_.provider);
  session_ =
      make<Session>(api, kCreateSession, library_.env(), options_.model.c_str(), session.get());
  run_options_ = make<RunOptions>(api, kCreateRunOptions);
  // The stream orders what follows.
  if (is_on_gpu(options_.provider.provider))
    api.call(kAddRunConfigEntry, run_options_.get(), "disable_synchronize_execution_providers",
             "1");
}

void Network::read_ports() {
  const Api &api = library_.api();
  const Session *session = session_.get();
  const auto inputs = get<size_t>(api, kInputs.count, session);
  if (inputs == 0) refuse_type(options_.model, "has no input");
  if (inputs > 1)
    refuse_type(options_.model, "has a second input, " + name_of(api, session, kInputs, 1) +
                                    ", and networks of one input only are supported");
  input_ = port_of(api, session, kInputs, 0, options_.model);
  if (input_.axes.empty())
    refuse_type(options_.model, "its input " + input_.name + " has no shape");
  std::vector<std::string> names;
  const auto outputs = get<size_t>(api, kOutputs.count, session);
  for (size_t i = 0; i < outputs; ++i) names.push_back(name_of(api, session, kOutputs, i));
  for (const size_t i : chosen(names, options_.outputs, options_.model))
    outputs_.push_back(port_of(api, session, kOutputs, i, options_.model));
}

void Network::terminate() {
  terminated_ = true;
  try {
    library_.api().call(kRunOptionsSetTerminate, run_options_.get());
  } catch (const Failure &) {
    // The run then ends by itself.
  }
}

}  // namespace cudatensor::ort
