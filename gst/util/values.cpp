// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/values.h"

namespace cudatensor {
namespace {

std::string take_text(gchar *owned) {
  const std::string text = owned != nullptr ? owned : "";
  g_free(owned);
  return text;
}

}  // namespace

std::optional<std::vector<double>> numbers_of(const GstStructure *s, const char *field) {
  const GValue *array = gst_structure_get_value(s, field);
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array)) return std::nullopt;
  std::vector<double> numbers;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    if (!g_value_transform(gst_value_array_get_value(array, i), &number)) return std::nullopt;
    numbers.push_back(g_value_get_double(&number));
  }
  return numbers;
}

std::string text_of(const GValue *value) { return take_text(gst_value_serialize(value)); }
std::string text_of(const GstCaps *caps) { return take_text(gst_caps_to_string(caps)); }

std::vector<std::string> allowed_strings(const GstStructure *s, const char *field) {
  const GValue *value = gst_structure_get_value(s, field);
  if (value == nullptr) return {};
  if (G_VALUE_HOLDS_STRING(value)) return {g_value_get_string(value)};
  std::vector<std::string> texts;
  if (!GST_VALUE_HOLDS_LIST(value)) return texts;
  for (guint i = 0; i < gst_value_list_get_size(value); ++i) {
    const GValue *item = gst_value_list_get_value(value, i);
    if (G_VALUE_HOLDS_STRING(item)) texts.emplace_back(g_value_get_string(item));
  }
  return texts;
}

}  // namespace cudatensor
