// SPDX-License-Identifier: LGPL-2.1-or-later
#include "onnxgraph.h"

#include <cstring>

namespace cudatensor {
namespace {

template <class T>
std::string raw(const std::vector<T> &values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string number(unsigned field_number, uint64_t value) {
  return varint(field_number << 3) + varint(value);
}

std::string shape_of(const OnnxGraph::Axes &axes) {
  std::string shape;
  for (const std::string &axis : axes) {
    const bool is_number = !axis.empty() && axis.find_first_not_of("0123456789") == axis.npos;
    std::string dim;
    if (is_number)
      dim = number(1, std::stoull(axis));
    else if (!axis.empty())
      dim = field(2, axis);
    shape += field(1, dim);
  }
  return shape;
}

std::string tensor_type(int type, const std::string &shape) {
  return field(1, number(1, static_cast<uint64_t>(type)) + shape);
}

}  // namespace

OnnxGraph &OnnxGraph::input(const std::string &name, int type, const Axes &axes) {
  inputs_ += field(11, field(1, name) + field(2, tensor_type(type, field(2, shape_of(axes)))));
  return *this;
}

OnnxGraph &OnnxGraph::output(const std::string &name, int type, const Axes &axes) {
  outputs_ += field(12, field(1, name) + field(2, tensor_type(type, field(2, shape_of(axes)))));
  return *this;
}

OnnxGraph &OnnxGraph::open_output(const std::string &name, int type) {
  outputs_ += field(12, field(1, name) + field(2, tensor_type(type, "")));
  return *this;
}

OnnxGraph &OnnxGraph::sequence_output(const std::string &name, int type) {
  outputs_ += field(12, field(1, name) + field(2, field(4, field(1, tensor_type(type, "")))));
  return *this;
}

OnnxGraph &OnnxGraph::node(const std::string &kind, const Names &inputs, const Names &outputs,
                           const std::string &attributes) {
  std::string bytes;
  for (const std::string &name : inputs) bytes += field(1, name);
  for (const std::string &name : outputs) bytes += field(2, name);
  nodes_ += field(1, bytes + field(4, kind) + attributes);
  return *this;
}

OnnxGraph &OnnxGraph::constant(const std::string &name, const std::vector<float> &values,
                               const std::vector<int> &dims) {
  std::string bytes;
  for (const int dim : dims) bytes += number(1, static_cast<uint64_t>(dim));
  constants_ += field(5, bytes + number(2, onnx_float) + field(8, name) + field(9, raw(values)));
  return *this;
}

OnnxGraph &OnnxGraph::integers(const std::string &name, const std::vector<int64_t> &values) {
  constants_ += field(
      5, number(1, values.size()) + number(2, onnx_int64) + field(8, name) + field(9, raw(values)));
  return *this;
}

std::string OnnxGraph::model(int opset) const {
  const std::string graph = nodes_ + field(2, "graph") + constants_ + inputs_ + outputs_;
  return number(1, 8) + field(7, graph) +
         field(8, field(1, "") + number(2, static_cast<uint64_t>(opset)));
}

std::string attribute(const std::string &name, int64_t value) {
  return field(5, field(1, name) + number(3, static_cast<uint64_t>(value)) + number(20, 2));
}

std::string attribute(const std::string &name, const std::vector<int64_t> &values) {
  std::string bytes = field(1, name);
  for (const int64_t value : values) bytes += number(8, static_cast<uint64_t>(value));
  return field(5, bytes + number(20, 7));
}

}  // namespace cudatensor
