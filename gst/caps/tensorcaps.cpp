// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/tensorcaps.h"

#include <algorithm>

#include "kernels/error.h"

namespace cudatensor {
namespace {

struct ElementOfTensor {
  DType dtype;
  ElementType type;
};

constexpr ElementOfTensor kElements[] = {{DType::float32, ElementType::float32},
                                         {DType::float16, ElementType::float16},
                                         {DType::uint8, ElementType::uint8},
                                         {DType::int8, ElementType::int8},
                                         {DType::bfloat16, ElementType::bfloat16}};

/// Returns all dimensions, innermost first.
std::vector<int64_t> all_dimensions_of(const TensorDesc &t) {
  const Dimensions d = dimensions_of(t);
  std::vector<int64_t> all(d.begin(), d.end());
  if (t.layout == Layout::ncthw) all.push_back(1);
  return all;
}

/// Parses one number of a list of dimensions. Returns 0 if it is invalid.
gint64 parse_dimension(const char *text) {
  gint64 number = 0;
  const gboolean valid = g_ascii_string_to_signed(text, 10, 1, G_MAXINT32, &number, nullptr);
  return valid ? number : 0;
}

}  // namespace

std::vector<int64_t> split_dimensions(const char *text) {
  std::vector<int64_t> numbers;
  gchar **parts = g_strsplit(text, ":", -1);
  for (gchar **part = parts; *part != nullptr; ++part)
    numbers.push_back(parse_dimension(g_strstrip(*part)));
  g_strfreev(parts);
  if (std::count(numbers.begin(), numbers.end(), 0) != 0) numbers.clear();
  return numbers;
}

std::optional<Dimensions> parse_dimensions(const char *text) {
  const std::vector<int64_t> numbers = split_dimensions(text);
  if (numbers.empty()) return std::nullopt;
  Dimensions dimensions = {1, 1, 1, 1};
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i < dimensions.size())
      dimensions[i] = numbers[i];
    else if (numbers[i] != 1)
      return std::nullopt;
  }
  return dimensions;
}

std::string dimensions_text(const TensorDesc &t) { return text_of(all_dimensions_of(t)); }

Dimensions dimensions_of(const TensorDesc &t) {
  switch (t.layout) {
    case Layout::nchw: return {t.w, t.h, t.c, t.n};
    case Layout::nhwc: return {t.c, t.w, t.h, t.n};
    case Layout::ncthw: return {t.w, t.h, t.n, t.c};
  }
  return {};
}

TensorDesc desc_of(const Dimensions &d, DType dtype, Layout layout) {
  switch (layout) {
    case Layout::nchw: return {dtype, layout, d[3], d[2], d[1], d[0]};
    case Layout::nhwc: return {dtype, layout, d[3], d[0], d[2], d[1]};
    case Layout::ncthw: return {dtype, layout, d[2], d[3], d[1], d[0]};
  }
  return {};
}

std::string text_of(const std::vector<int64_t> &lengths) {
  std::string text;
  for (const int64_t length : lengths) text += (text.empty() ? "" : ":") + std::to_string(length);
  return text;
}

const char *type_text(DType dtype) {
  for (const ElementOfTensor &element : kElements)
    if (element.dtype == dtype) return type_text(element.type);
  return nullptr;
}

std::optional<DType> parse_type(const char *text) {
  const auto type = parse_element_type(text);
  for (const ElementOfTensor &element : kElements)
    if (type && element.type == *type) return element.dtype;
  return std::nullopt;
}

GstCaps *make_tensor_template_caps(std::initializer_list<DType> types) {
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (const DType dtype : types) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_static_string(&item, type_text(dtype));
    gst_value_list_append_and_take_value(&list, &item);
  }
  GstCaps *caps = gst_caps_new_simple(kTensorMedia, "format", G_TYPE_STRING, "static",
                                      "num_tensors", G_TYPE_INT, 1, nullptr);
  gst_caps_set_value(caps, "types", &list);
  g_value_unset(&list);
  return caps;
}

GstStructure *new_tensor_structure(const GstStructure *other) {
  GstStructure *s = gst_structure_new(kTensorMedia, "format", G_TYPE_STRING, "static",
                                      "num_tensors", G_TYPE_INT, 1, nullptr);
  copy_framerate(s, other);
  return s;
}

void copy_framerate(GstStructure *s, const GstStructure *from) {
  const GValue *framerate = gst_structure_get_value(from, "framerate");
  if (framerate != nullptr)
    gst_structure_set_value(s, "framerate", framerate);
  else
    gst_structure_set(s, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
}

void append_with_dimensions(GstCaps *caps, GstStructure *s, const TensorDesc &desc) {
  std::vector<int64_t> all = all_dimensions_of(desc);
  gst_structure_set(s, "dimensions", G_TYPE_STRING, text_of(all).c_str(), nullptr);
  GstStructure *second = all.back() == 1 ? gst_structure_copy(s) : nullptr;
  gst_caps_append_structure(caps, s);
  if (second == nullptr) return;
  all.pop_back();
  gst_structure_set(second, "dimensions", G_TYPE_STRING, text_of(all).c_str(), nullptr);
  gst_caps_append_structure(caps, second);
}

bool fits_cuda_memory(const GstStructure *s) {
  const char *dimensions_field = gst_structure_get_string(s, "dimensions");
  const char *types_field = gst_structure_get_string(s, "types");
  if (dimensions_field == nullptr || types_field == nullptr) return true;
  const auto dimensions = parse_dimensions(dimensions_field);
  const auto dtype = parse_type(types_field);
  if (!dimensions || !dtype) return true;
  auto bytes = static_cast<double>(size_of(*dtype));
  for (const int64_t side : *dimensions) bytes *= static_cast<double>(side);
  return bytes <= G_MAXINT;
}

TensorDesc parse_tensor_caps(const GstCaps *caps, Layout layout) {
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *dimensions_field = gst_structure_get_string(s, "dimensions");
  const char *types_field = gst_structure_get_string(s, "types");
  const auto dimensions =
      dimensions_field ? parse_dimensions(dimensions_field) : std::optional<Dimensions>();
  const auto dtype = types_field ? parse_type(types_field) : std::optional<DType>();
  if (!dimensions || !dtype)
    throw Error(Error::Code::settings, std::string("tensor caps with dimensions=") +
                                           (dimensions_field ? dimensions_field : "(none)") +
                                           " and types=" + (types_field ? types_field : "(none)") +
                                           " do not describe one tensor of a known type");
  const TensorDesc desc = desc_of(*dimensions, *dtype, layout);
  check_tensor_size(desc);
  return desc;
}

}  // namespace cudatensor
