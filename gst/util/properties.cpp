// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/properties.h"

#include <cfloat>

#include "gst/util/values.h"

namespace cudatensor {
namespace {

constexpr auto kNotControllable = static_cast<GParamFlags>(
    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kValue = static_cast<GParamFlags>(kNotControllable | GST_PARAM_CONTROLLABLE);

gboolean accept(GParamSpec *, GValue *) { return FALSE; }

/// Replaces GParamSpecDouble's comparison, which treats NaN as equal to any value.
gint compare(GParamSpec *, const GValue *a, const GValue *b) {
  const double x = g_value_get_double(a), y = g_value_get_double(b);
  return x == y ? 0 : x < y ? -1 : 1;
}

/// A GParamSpecDouble that accepts every value, so that a value that is not finite causes an
/// element error instead of a warning that leaves the old value.
GType any_double_get_type() {
  static const GType type = [] {
    GTypeQuery parent;
    g_type_query(G_TYPE_PARAM_DOUBLE, &parent);
    GTypeInfo info = {};
    info.class_size = static_cast<guint16>(parent.class_size);
    info.instance_size = static_cast<guint16>(parent.instance_size);
    info.class_init = [](gpointer klass, gpointer) {
      G_PARAM_SPEC_CLASS(klass)->value_validate = accept;
      G_PARAM_SPEC_CLASS(klass)->values_cmp = compare;
    };
    return g_type_register_static(G_TYPE_PARAM_DOUBLE, "GstCudaTensorParamDouble", &info,
                                  static_cast<GTypeFlags>(0));
  }();
  return type;
}

/// Returns the GParamSpec of a number. Its range is only informative: elements reject values
/// outside it with an error.
GParamSpec *any_double(const char *name, const char *nick, const char *blurb, double initial,
                       double min, double max, GParamFlags flags) {
  auto *spec = static_cast<GParamSpecDouble *>(
      g_param_spec_internal(any_double_get_type(), name, nick, blurb, flags));
  spec->minimum = min;
  spec->maximum = max;
  spec->default_value = initial;
  return G_PARAM_SPEC(spec);
}

GParamSpec *list_property(const char *name, const char *nick, const char *blurb,
                          GParamSpec *element) {
  return gst_param_spec_array(name, nick, blurb, element, kNotControllable);
}

template <class T, class Get>
void read_list(const GValue *v, std::vector<T> &to, Get get) {
  to.clear();
  for (guint i = 0; i < gst_value_array_get_size(v); ++i)
    to.push_back(get(gst_value_array_get_value(v, i)));
}

}  // namespace

void read(const GValue *v, std::string &to) {
  const gchar *text = g_value_get_string(v);
  to = text != nullptr ? text : "";
}
void read(const GValue *v, std::vector<double> &to) { read_list(v, to, g_value_get_double); }
void read(const GValue *v, std::vector<int> &to) { read_list(v, to, g_value_get_int); }
void write(GValue *v, const std::vector<double> &from) {
  append_numbers(v, from, G_TYPE_DOUBLE, g_value_set_double);
}
void write(GValue *v, const std::vector<int> &from) {
  append_numbers(v, from, G_TYPE_INT, g_value_set_int);
}

void read(const GValue *v, std::vector<std::string> &to) {
  read_list(v, to, [](const GValue *item) {
    const gchar *text = g_value_get_string(item);
    return std::string(text != nullptr ? text : "");
  });
}
void write(GValue *v, const std::vector<std::string> &from) {
  for (const std::string &text : from) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_string(&item, text.c_str());
    gst_value_array_append_and_take_value(v, &item);
  }
}

GParamSpec *uint_property(const char *name, const char *nick, const char *blurb, guint min,
                          guint max, guint initial) {
  return g_param_spec_uint(name, nick, blurb, min, max, initial, kValue);
}

GParamSpec *int_property(const char *name, const char *nick, const char *blurb, int min, int max,
                         int initial) {
  return g_param_spec_int(name, nick, blurb, min, max, initial, kValue);
}

GParamSpec *uint64_property(const char *name, const char *nick, const char *blurb, guint64 max,
                            guint64 initial) {
  return g_param_spec_uint64(name, nick, blurb, 0, max, initial, kValue);
}

GParamSpec *double_property(const char *name, const char *nick, const char *blurb, double initial,
                            double min, double max) {
  return any_double(name, nick, blurb, initial, min, max, kValue);
}

GParamSpec *bool_property(const char *name, const char *nick, const char *blurb, bool initial) {
  return g_param_spec_boolean(name, nick, blurb, initial, kValue);
}

GParamSpec *enum_property(const char *name, const char *nick, const char *blurb, GType type,
                          int initial) {
  return g_param_spec_enum(name, nick, blurb, type, initial, kValue);
}

GParamSpec *string_property(const char *name, const char *nick, const char *blurb) {
  return g_param_spec_string(name, nick, blurb, "", kNotControllable);
}

GParamSpec *double_list_property(const char *name, const char *nick, const char *blurb) {
  return list_property(
      name, nick, blurb,
      any_double("value", "Value", "One value", 0.0, -FLT_MAX, FLT_MAX, kNotControllable));
}

GParamSpec *int_list_property(const char *name, const char *nick, const char *blurb) {
  return list_property(
      name, nick, blurb,
      g_param_spec_int("value", "Value", "One value", G_MININT, G_MAXINT, 0, kNotControllable));
}

GParamSpec *string_list_property(const char *name, const char *nick, const char *blurb) {
  return list_property(name, nick, blurb, string_property("text", "Text", "One text"));
}

GParamSpec *until_ready(GParamSpec *spec) {
  const auto flags = spec->flags & ~(GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
  spec->flags = static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_READY);
  return spec;
}

}  // namespace cudatensor
