// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/tensorlist.h"

#include <algorithm>
#include <optional>

#include "gst/caps/tensorcaps.h"
#include "gst/util/ref.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

gsize multiply(gsize a, gsize b) {
  gsize product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > G_MAXINT64)
    throw Error(Error::Code::settings, "the size of a tensor overflows");
  return product;
}

[[noreturn]] void refuse(const std::string &cause) {
  throw Error(Error::Code::settings, "caps of tensors " + cause);
}

/// Splits a list at its commas, and removes spaces around the items.
std::vector<std::string> split(const char *text) {
  const Ref<gchar *> parts(g_strsplit(text, ",", -1));
  std::vector<std::string> items;
  for (gchar **part = parts.get(); *part != nullptr; ++part) items.emplace_back(g_strstrip(*part));
  return items;
}

template <class Items, class Text>
std::string join(const Items &items, const Text &text) {
  std::string all;
  for (const auto &item : items) {
    if (&item != &items.front()) all += ",";
    all += text(item);
  }
  return all;
}

std::string field_text(const GstStructure *s, const char *field) {
  const char *text = gst_structure_get_string(s, field);
  return std::string(field) + "=" + (text != nullptr ? text : "(none)");
}

/// Returns the items of a list with one for each tensor.
std::vector<std::string> items_of(const GstStructure *s, const char *field, size_t count) {
  const char *text = gst_structure_get_string(s, field);
  if (text == nullptr) refuse(std::string("have no ") + field);
  std::vector<std::string> items = split(text);
  if (items.size() != count)
    refuse("with num_tensors=" + std::to_string(count) + " have " + field_text(s, field));
  return items;
}

std::vector<TensorShape> shapes_of(const GstStructure *s, size_t count) {
  const std::vector<std::string> types = items_of(s, "types", count);
  const std::vector<std::string> dimensions = items_of(s, "dimensions", count);
  std::vector<TensorShape> shapes;
  for (size_t i = 0; i < count; ++i) {
    const auto type = parse_element_type(types[i].c_str());
    if (!type) refuse("have " + field_text(s, "types") + ", with an unknown type");
    shapes.push_back({*type, split_dimensions(dimensions[i].c_str())});
    if (shapes.back().dimensions.empty())
      refuse("have " + field_text(s, "dimensions") + ", which is no list of dimensions");
    shapes.back().bytes();
  }
  return shapes;
}

size_t count_of(const GstStructure *s, bool is_flexible) {
  int count = 0;
  if (!gst_structure_get_int(s, "num_tensors", &count)) {
    if (is_flexible) return 0;
    refuse("have no num_tensors");
  }
  if (count < 1 || static_cast<size_t>(count) > kMaxTensors)
    refuse("have num_tensors=" + std::to_string(count));
  return static_cast<size_t>(count);
}

std::vector<std::string> names_of(const GstStructure *s, size_t count) {
  const char *text = gst_structure_get_string(s, "names");
  if (text == nullptr) return {};
  std::vector<std::string> names = split(text);
  if (names.size() != count) names.clear();
  return names;
}

bool can_be_listed(const std::string &name) {
  return !name.empty() && name.find(',') == std::string::npos;
}

}  // namespace

gsize TensorShape::elements() const {
  if (std::count(dimensions.begin(), dimensions.end(), 0) != 0) return 0;
  gsize product = 1;
  for (const int64_t dimension : dimensions)
    product = multiply(product, static_cast<gsize>(dimension));
  return product;
}

gsize TensorShape::bytes() const { return multiply(elements(), size_of(type)); }

bool operator==(const TensorShape &a, const TensorShape &b) {
  return a.type == b.type && a.dimensions == b.dimensions;
}

std::string dimensions_text(const TensorShape &shape) { return text_of(shape.dimensions); }

std::string text_of(const TensorShape &shape) {
  return std::string(type_text(shape.type)) + " " + dimensions_text(shape);
}

TensorList parse_tensor_list(const GstStructure *s) {
  if (!gst_structure_has_name(s, kTensorMedia))
    refuse(std::string("are ") + gst_structure_get_name(s));
  const char *format = gst_structure_get_string(s, "format");
  TensorList list;
  list.is_flexible = g_strcmp0(format, "flexible") == 0;
  if (!list.is_flexible && g_strcmp0(format, "static") != 0)
    refuse("have " + field_text(s, "format"));
  list.count = count_of(s, list.is_flexible);
  if (!list.is_flexible) list.shapes = shapes_of(s, list.count);
  list.names = names_of(s, list.count);
  gst_structure_get_fraction(s, "framerate", &list.fps_n, &list.fps_d);
  return list;
}

GstStructure *new_tensor_list(const TensorList &list) {
  GstStructure *s = gst_structure_new(kTensorMedia, "format", G_TYPE_STRING,
                                      list.is_flexible ? "flexible" : "static", "framerate",
                                      GST_TYPE_FRACTION, list.fps_n, list.fps_d, nullptr);
  if (list.count > 0)
    gst_structure_set(s, "num_tensors", G_TYPE_INT, static_cast<int>(list.count), nullptr);
  const auto set = [s](const char *field, const std::string &text) {
    gst_structure_set(s, field, G_TYPE_STRING, text.c_str(), nullptr);
  };
  if (!list.is_flexible) {
    set("types", join(list.shapes, [](const TensorShape &t) { return type_text(t.type); }));
    set("dimensions", join(list.shapes, [](const TensorShape &t) { return dimensions_text(t); }));
  }
  if (!list.names.empty() && std::all_of(list.names.begin(), list.names.end(), can_be_listed))
    set("names", join(list.names, [](const std::string &name) { return name; }));
  return s;
}

}  // namespace cudatensor
