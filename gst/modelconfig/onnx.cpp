// SPDX-License-Identifier: LGPL-2.1-or-later
// The protobuf of an ONNX model, of which only `metadata_props` is read. Protobuf's own libraries
// need the whole message in memory, with the weights.
#include <algorithm>

#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

// Fields of ModelProto and StringStringEntryProto, and their wire types, in onnx.proto.
constexpr uint64_t kMetadataProps = 14, kKey = 1, kValue = 2;
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr uint64_t kMostFields = 100000;
constexpr uint64_t kMostMetadata = 4 << 20;
constexpr size_t kChunk = 4096;

[[noreturn]] void refuse(const std::string &text) {
  throw Error(Error::Code::settings, "is no ONNX model: " + text);
}

/// The fields of a message, one after another.
class Fields {
 public:
  Fields(const File &file, uint64_t begin, uint64_t end) : file_(file), at_(begin), end_(end) {}

  /// Goes to the next field, past the bytes of this one; false at the end.
  bool next() {
    if (at_ == end_) return false;
    const uint64_t tag = varint();
    number = tag >> 3;
    is_bytes = (tag & 7) == kBytes;
    switch (tag & 7) {
      case kVarint: varint(); return true;
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

  std::string bytes() const { return file_.read(begin, size); }
  Fields message() const { return {file_, begin, begin + size}; }

  uint64_t number = 0, begin = 0, size = 0;
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

void read_entry(Fields entry, Value::Map &map) {
  std::string key, value;
  while (entry.next()) {
    if (entry.number == kKey && entry.is_bytes) key = entry.bytes();
    if (entry.number == kValue && entry.is_bytes) value = entry.bytes();
  }
  map.insert_or_assign(key, Value{value});
}

}  // namespace

Value read_onnx_metadata(const File &file) {
  Value::Map map;
  Fields model(file, 0, file.size());
  uint64_t read = 0;
  for (uint64_t count = 0; model.next(); ++count) {
    if (count > kMostFields) refuse("it has too many fields");
    if (model.number == 0) refuse("a field has the number 0");
    if (model.number != kMetadataProps || !model.is_bytes) continue;
    read += model.size;
    if (read > kMostMetadata) refuse("it has more than 4 MiB of metadata");
    read_entry(model.message(), map);
  }
  return {std::move(map)};
}

}  // namespace cudatensor::modelconfig
