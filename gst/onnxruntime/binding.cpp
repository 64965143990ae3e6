// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/binding.h"

#include <algorithm>

#include "gst/util/errors.h"

namespace cudatensor::ort {
namespace {

/// Calls `body` and turns a Failure into an Error.
template <class Body>
auto with_errors(const Network &network, const Body &body) {
  try {
    return body();
  } catch (const Failure &failure) {
    throw CodedError(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                     network.options().model + ": the network cannot be run: " + failure.what());
  }
}

Owned<MemoryInfo> memory_of(const Network &network, bool on_host) {
  const ProviderOptions &provider = network.options().provider;
  const bool on_gpu = is_on_gpu(provider.provider) && !on_host;
  return make<MemoryInfo>(network.library().api(), kCreateMemoryInfo, on_gpu ? "Cuda" : "Cpu",
                          AllocatorType::device, on_gpu ? provider.device : 0, MemoryType::normal);
}

}  // namespace

Binding::Binding(Network &network, bool outputs_on_host)
    : network_(network), api_(network.library().api()) {
  with_errors(network_, [&] {
    binding_ = make<IoBinding>(api_, kCreateIoBinding, network.session());
    input_memory_ = memory_of(network, false);
    output_memory_ = memory_of(network, outputs_on_host);
  });
}

Owned<Value> Binding::value_of(const MemoryInfo *memory, const Port &port, const TensorShape &shape,
                               void *data) const {
  std::vector<int64_t> lengths(shape.dimensions.rbegin(), shape.dimensions.rend());
  // Caps have no scalars.
  if (port.axes.empty()) lengths.clear();
  return make<Value>(api_, kCreateTensorWithDataAsOrtValue, memory, data, shape.bytes(),
                     lengths.data(), lengths.size(), port.data_type);
}

void Binding::bind_input(const TensorShape &shape, void *data) {
  with_errors(network_, [&] {
    const Port &port = network_.input();
    const Owned<Value> value = value_of(input_memory_.get(), port, shape, data);
    api_.call(kBindInput, binding_.get(), port.name.c_str(), value.get());
  });
}

void Binding::bind_output(size_t i, const TensorShape &shape, void *data) {
  with_errors(network_, [&] {
    const Port &port = network_.outputs()[i];
    const Owned<Value> value = value_of(output_memory_.get(), port, shape, data);
    api_.call(kBindOutput, binding_.get(), port.name.c_str(), value.get());
  });
}

void Binding::bind_open_output(size_t i) {
  with_errors(network_, [&] {
    api_.call(kBindOutputToDevice, binding_.get(), network_.outputs()[i].name.c_str(),
              output_memory_.get());
  });
}

void Binding::run() {
  with_errors(network_, [&] {
    api_.call(kRunWithBinding, network_.session(), network_.run_options(), binding_.get());
  });
}

std::vector<Binding::Result> Binding::results() {
  return with_errors(network_, [&] {
    auto *allocator = get<Allocator *>(api_, kGetAllocatorWithDefaultOptions);
    Value **values = nullptr;
    size_t count = 0;
    api_.call(kGetBoundOutputValues, binding_.get(), allocator, &values, &count);
    values_.clear();
    for (size_t i = 0; i < count; ++i) values_.emplace_back(values[i], Releaser<Value>{&api_});
    if (values != nullptr) api_.call(kAllocatorFree, allocator, values);
    std::vector<Result> results;
    for (size_t i = 0; i < count; ++i) {
      const auto info =
          make<TensorTypeAndShapeInfo>(api_, kGetTensorTypeAndShape, values_[i].get());
      const TensorTypeAndShapeInfo *shape = info.get();
      std::vector<int64_t> lengths(get<size_t>(api_, kGetDimensionsCount, shape));
      api_.call(kGetDimensions, shape, lengths.data(), lengths.size());
      std::reverse(lengths.begin(), lengths.end());
      if (lengths.empty()) lengths.push_back(1);
      results.push_back({{network_.outputs()[i].type, std::move(lengths)},
                         get<void *>(api_, kGetTensorMutableData, values_[i].get())});
    }
    return results;
  });
}

void Binding::clear() {
  values_.clear();
  api_.function(kClearBoundInputs)(binding_.get());
  api_.function(kClearBoundOutputs)(binding_.get());
}

}  // namespace cudatensor::ort
