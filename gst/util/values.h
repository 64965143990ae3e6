// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers for GValues that hold arrays and lists.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

namespace cudatensor {

/// Appends the numbers of a container to a GST_TYPE_ARRAY. `type` is the GType of the items, and
/// `set` its g_value_set_… function.
template <class Numbers, class Set>
void append_numbers(GValue *array, const Numbers &numbers, GType type, Set set) {
  for (const auto number : numbers) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, type);
    set(&item, number);
    gst_value_array_append_and_take_value(array, &item);
  }
}

/// Sets a field to a GST_TYPE_ARRAY of the numbers.
template <class Numbers, class Set>
void set_array(GstStructure *s, const char *field, const Numbers &numbers, GType type, Set set) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  append_numbers(&array, numbers, type, set);
  gst_structure_take_value(s, field, &array);
}

/// Returns the numbers of a GST_TYPE_ARRAY of a field. Returns no value if there is no such field, or
/// if an item is not a number.
std::optional<std::vector<double>> numbers_of(const GstStructure *s, const char *field);

/// Return a value or caps in gst-launch syntax.
std::string text_of(const GValue *value);
std::string text_of(const GstCaps *caps);

/// Returns the strings that a field allows, from a single string or a list; empty if there is no
/// such field.
std::vector<std::string> allowed_strings(const GstStructure *s, const char *field);

}  // namespace cudatensor
