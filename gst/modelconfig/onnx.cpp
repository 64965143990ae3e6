// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads `metadata_props` and the graph's inputs from the protobuf of an ONNX model. Protobuf's own
// libraries need the whole message in memory, with the weights.
#include <algorithm>
#include <set>

#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

// The field numbers in onnx.proto, by message, and the wire types.
namespace model {
constexpr uint64_t kGraph = 7, kMetadataProps = 14;
}
namespace entry {
constexpr uint64_t kKey = 1, kValue = 2;
}
namespace graph {
constexpr uint64_t kInitializer = 5, kInput = 11;
}
namespace initializer {
constexpr uint64_t kName = 8;
}
namespace value_info {
constexpr uint64_t kName = 1, kType = 2;
}
namespace type {
constexpr uint64_t kTensor = 1;
}
namespace tensor {
constexpr uint64_t kElement = 1, kShape = 2;
}
namespace shape {
constexpr uint64_t kDim = 1;
}
namespace dimension {
constexpr uint64_t kValue = 1;
}
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint64_t kMostFields = 100000;
constexpr uint64_t kMostGraphFields = 1000000;  // fields of the graph and all messages in it
constexpr uint64_t kMostMetadata = 4 << 20;
constexpr uint64_t kMostName = 4096;
constexpr size_t kMostInputs = 1000, kMostDims = 16;
constexpr size_t kChunk = 4096;

[[noreturn]] void refuse(const std::string &text) {
  throw Error(Error::Code::settings, "is no ONNX model: " + text);
}

/// Iterates over the fields of a message.
class Fields {
 public:
  Fields(const File &file, uint64_t begin, uint64_t end) : file_(file), at_(begin), end_(end) {}

  /// Moves to the next field. Returns false at the end.
  bool next() {
    if (at_ == end_) return false;
    const uint64_t tag = varint();
    number = tag >> 3;
    is_bytes = (tag & 7) == kBytes;
    if (number == 0) refuse("a field has the number 0");
    switch (tag & 7) {
      case kVarint: value = varint(); return true;
      case kFixed64: size = 8; break;
      case kFixed32: size = 4; break;
      case kBytes: size = varint(); break;
      default: refuse("a field has an unknown type");
    }
    if (size > end_ - at_) refuse("it ends within a field");
    begin = at_;
    at_ += size;
    return true;
  }

  bool is_message(uint64_t wanted) const { return is_bytes && number == wanted; }
  std::string bytes() const { return file_.read(begin, size); }
  Fields message() const { return {file_, begin, begin + size}; }

  uint64_t number = 0, begin = 0, size = 0;
  uint64_t value = 0;  ///< value of a field of type varint
  bool is_bytes = false;

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = next_byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    refuse("a number is too long");
  }

  uint8_t next_byte() {
    if (at_ == end_) refuse("it ends within a field");
    if (at_ < chunk_begin_ || at_ >= chunk_begin_ + chunk_.size()) {
      chunk_ = file_.read(at_, std::min<uint64_t>(kChunk, end_ - at_));
      chunk_begin_ = at_;
      if (chunk_.empty()) refuse("it ends within a field");
    }
    return static_cast<uint8_t>(chunk_[at_++ - chunk_begin_]);
  }

  const File &file_;
  uint64_t at_, end_;
  std::string chunk_;
  uint64_t chunk_begin_ = 0;
};

void read_entry(Fields fields, Value::Map &map) {
  std::string key, value;
  while (fields.next()) {
    if (fields.is_message(entry::kKey)) key = fields.bytes();
    if (fields.is_message(entry::kValue)) value = fields.bytes();
  }
  map.insert_or_assign(key, Value{value});
}

/// Reads the inputs of a graph. It has a function for each level of ONNX's messages, so that there
/// is no recursion.
class GraphReader {
 public:
  std::vector<OnnxInput> read(Fields fields) {
    std::set<std::string> initializers;
    while (next(fields)) {
      if (fields.is_message(graph::kInitializer)) initializers.insert(initializer_name(fields));
      if (fields.is_message(graph::kInput)) inputs_.push_back(input(fields.message()));
      if (inputs_.size() > kMostInputs) refuse("it has too many inputs");
    }
    // Before version 4 of the format, weights are also inputs.
    inputs_.erase(
        std::remove_if(inputs_.begin(), inputs_.end(),
                       [&](const OnnxInput &i) { return initializers.count(i.name) > 0; }),
        inputs_.end());
    return std::move(inputs_);
  }

 private:
  bool next(Fields &fields) {
    if (++count_ > kMostGraphFields) refuse("its graph has too many fields");
    return fields.next();
  }

  std::string name(const Fields &fields) const {
    if (fields.size > kMostName) refuse("a name is too long");
    return fields.bytes();
  }

  std::string initializer_name(const Fields &weights) {
    Fields fields = weights.message();
    while (next(fields))
      if (fields.is_message(initializer::kName)) return name(fields);
    return {};
  }

  OnnxInput input(Fields fields) {
    OnnxInput result;
    while (next(fields)) {
      if (fields.is_message(value_info::kName)) result.name = name(fields);
      if (fields.is_message(value_info::kType)) read_type(result, fields.message());
    }
    return result;
  }

  void read_type(OnnxInput &result, Fields fields) {
    while (next(fields))
      if (fields.is_message(type::kTensor)) read_tensor(result, fields.message());
  }

  void read_tensor(OnnxInput &result, Fields fields) {
    while (next(fields)) {
      if (fields.number == tensor::kElement && !fields.is_bytes) result.type = fields.value;
      if (fields.is_message(tensor::kShape)) read_shape(result, fields.message());
    }
  }

  void read_shape(OnnxInput &result, Fields fields) {
    while (next(fields)) {
      if (!fields.is_message(shape::kDim)) continue;
      if (result.dims.size() == kMostDims) refuse("an input has too many dimensions");
      result.dims.push_back(dim(fields.message()));
    }
  }

  /// Returns a dimension; 0 if it is open.
  int64_t dim(Fields fields) {
    int64_t length = 0;
    while (next(fields))
      if (fields.number == dimension::kValue && !fields.is_bytes)
        length = std::max<int64_t>(0, static_cast<int64_t>(fields.value));
    return length;
  }

  std::vector<OnnxInput> inputs_;
  uint64_t count_ = 0;
};

/// Reads the inputs. Returns none if the graph is damaged: it says nothing about its inputs, and no
/// program runs it.
std::vector<OnnxInput> read_inputs(const Fields &graph) {
  try {
    return GraphReader().read(graph.message());
  } catch (const Error &) {
    return {};
  }
}

}  // namespace

OnnxModel read_onnx(const File &file) {
  OnnxModel result;
  Value::Map map;
  Fields fields(file, 0, file.size());
  uint64_t read = 0;
  for (uint64_t count = 0; fields.next(); ++count) {
    if (count > kMostFields) refuse("it has too many fields");
    if (fields.is_message(model::kGraph)) result.inputs = read_inputs(fields);
    if (!fields.is_message(model::kMetadataProps)) continue;
    read += fields.size;
    if (read > kMostMetadata) refuse("it has more than 4 MiB of metadata");
    read_entry(fields.message(), map);
  }
  result.metadata = {std::move(map)};
  return result;
}

std::optional<OnnxInput> picture_of(const OnnxModel &model) {
  std::optional<OnnxInput> found;
  for (const OnnxInput &input : model.inputs) {
    if (input.dims.size() != 4) continue;
    if (found) return std::nullopt;
    found = input;
  }
  return found;
}

std::optional<DType> dtype_of(const OnnxInput &input) {
  switch (input.type) {
    case 1: return DType::float32;
    case 2: return DType::uint8;
    case 3: return DType::int8;
    case 10: return DType::float16;
    case 16: return DType::bfloat16;
    default: return std::nullopt;
  }
}

std::string text_of(const OnnxInput &input) {
  std::string dims;
  for (const int64_t dim : input.dims)
    dims += (dims.empty() ? "" : "x") + (dim > 0 ? std::to_string(dim) : std::string("?"));
  return "the model's input " + shown(input.name) + " of " + dims;
}

}  // namespace cudatensor::modelconfig
