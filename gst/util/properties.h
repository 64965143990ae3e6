// SPDX-License-Identifier: LGPL-2.1-or-later
// A property table that binds each GParamSpec to a member of a settings struct.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "gst/util/values.h"
#include "kernels/immortal.h"

namespace cudatensor {

/// When a changed property takes effect: at the next frame, in some cases only after the caps of
/// that frame have been negotiated again.
enum class Effect { next_frame, renegotiates };

inline void read(const GValue *v, bool &to) { to = g_value_get_boolean(v); }
inline void read(const GValue *v, int &to) { to = g_value_get_int(v); }
inline void read(const GValue *v, guint &to) { to = g_value_get_uint(v); }
inline void read(const GValue *v, guint64 &to) { to = g_value_get_uint64(v); }
inline void read(const GValue *v, double &to) { to = g_value_get_double(v); }
void read(const GValue *v, std::string &to);
void read(const GValue *v, std::vector<double> &to);
void read(const GValue *v, std::vector<int> &to);
void read(const GValue *v, std::vector<std::string> &to);
template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
void read(const GValue *v, E &to) {
  to = static_cast<E>(g_value_get_enum(v));
}

inline void write(GValue *v, bool from) { g_value_set_boolean(v, from); }
inline void write(GValue *v, int from) { g_value_set_int(v, from); }
inline void write(GValue *v, guint from) { g_value_set_uint(v, from); }
inline void write(GValue *v, guint64 from) { g_value_set_uint64(v, from); }
inline void write(GValue *v, double from) { g_value_set_double(v, from); }
inline void write(GValue *v, const std::string &from) { g_value_set_string(v, from.c_str()); }
void write(GValue *v, const std::vector<double> &from);
void write(GValue *v, const std::vector<int> &from);
void write(GValue *v, const std::vector<std::string> &from);
template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
void write(GValue *v, E from) {
  g_value_set_enum(v, static_cast<gint>(from));
}

/// These functions make GParamSpecs of properties that may change in the PLAYING state. Numbers,
/// booleans and enums are also controllable.
GParamSpec *uint_property(const char *name, const char *nick, const char *blurb, guint min,
                          guint max, guint initial);
GParamSpec *int_property(const char *name, const char *nick, const char *blurb, int min, int max,
                         int initial);
GParamSpec *uint64_property(const char *name, const char *nick, const char *blurb, guint64 max,
                            guint64 initial);
GParamSpec *double_property(const char *name, const char *nick, const char *blurb, double initial,
                            double min = -G_MAXFLOAT, double max = G_MAXFLOAT);
GParamSpec *bool_property(const char *name, const char *nick, const char *blurb, bool initial);
GParamSpec *enum_property(const char *name, const char *nick, const char *blurb, GType type,
                          int initial);
/// The default of these properties is the empty string.
GParamSpec *string_property(const char *name, const char *nick, const char *blurb);
GParamSpec *double_list_property(const char *name, const char *nick, const char *blurb);
GParamSpec *int_list_property(const char *name, const char *nick, const char *blurb);
GParamSpec *string_list_property(const char *name, const char *nick, const char *blurb);

/// Changes a new GParamSpec to one of a property that may change in the READY state only.
GParamSpec *until_ready(GParamSpec *spec);

/// The property table of one element. `S` is a default-constructible settings struct.
template <class S>
class Properties {
 public:
  struct Entry {
    GParamSpec *spec;
    Effect effect;
    std::function<void(S &, const GValue *)> set;
    std::function<void(S &, GValue *)> get;
  };

  /// `member` takes the settings and returns a reference to the member that the property sets.
  template <class Member>
  void add(GParamSpec *spec, Effect effect, Member member) {
    entries_.push_back({spec, effect, [member](S &s, const GValue *v) { read(v, member(s)); },
                        [member](S &s, GValue *v) { write(v, member(s)); }});
  }

  void install(GObjectClass *klass, guint first_id) const {
    for (size_t i = 0; i < entries_.size(); ++i)
      g_object_class_install_property(klass, first_id + static_cast<guint>(i), entries_[i].spec);
  }

  size_t size() const { return entries_.size(); }
  const Entry &operator[](size_t i) const { return entries_[i]; }

  /// Returns the properties that have this effect with their values, for example "width=640,
  /// height=640".
  std::string text(const S &s, Effect effect) const {
    std::string all;
    S copy = s;
    for (const Entry &entry : entries_) {
      if (entry.effect != effect) continue;
      GValue value = G_VALUE_INIT;
      g_value_init(&value, entry.spec->value_type);
      entry.get(copy, &value);
      all += (all.empty() ? "" : ", ") + std::string(entry.spec->name) + "=" + text_of(&value);
      g_value_unset(&value);
    }
    return all;
  }

  /// Sets a property. Returns no effect if the value does not change, which is common with a
  /// GstControlBinding.
  std::optional<Effect> set(S &s, size_t i, const GValue *value) const {
    const Entry &entry = entries_[i];
    GValue current = G_VALUE_INIT;
    g_value_init(&current, entry.spec->value_type);
    entry.get(s, &current);
    const bool same = g_param_values_cmp(entry.spec, &current, value) == 0;
    g_value_unset(&current);
    if (same) return std::nullopt;
    entry.set(s, value);
    return entry.effect;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace cudatensor
