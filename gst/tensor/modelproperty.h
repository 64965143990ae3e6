// SPDX-License-Identifier: LGPL-2.1-or-later
// The property model-config, which sets other properties from the file of a model.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gst/modelconfig/modelconfig.h"
#include "gst/util/properties.h"
#include "kernels/error.h"

namespace cudatensor {

constexpr const char *kModelConfig = "model-config";

/// The properties that the user has set. A control binding sets the same ones for each frame.
class GivenProperties {
 public:
  /// `name` is the name in a GParamSpec, which is never freed.
  void add(const char *name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
  bool has(const char *name) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const char *each) { return std::strcmp(each, name) == 0; });
  }

 private:
  std::vector<const char *> names_;
};

/// The state of the property, in the settings of an element.
struct ModelState {
  std::string path;            ///< empty: no file
  std::optional<Error> error;  ///< why the file has no effect
  SourceRule rule;             ///< the file's rule for sources
  std::string open_size;       ///< why the file has no size; empty if it has one
  std::string open_layout;     ///< why the file has no layout; empty if it has one
  bool has_layout = false;     ///< whether the file has a layout
  bool has_dtype = false;      ///< whether the file has a type of elements
  GivenProperties given;       ///< properties that win over the file
};

struct LoadedModel {
  ModelConfig config;
  std::string path;
  std::optional<Error> error;
};

/// Reads a file; an empty path means no file. Logs a warning if the file has no effect, otherwise
/// the equivalent launch line. Must be called without the object lock.
LoadedModel load_model(GstElement *element, GstDebugCategory *category, const std::string &path);

/// Throws the error of the file, if there is one, or an Error if the file leaves a property open
/// that the user has not set.
void check_model(const ModelState &model);
/// Throws Error if the file asks for another tensor than the element makes of a picture of this
/// size.
void check_model_source(const ModelState &model, double src_width, double src_height, int dst_width,
                        int dst_height);

struct TensorSettings;
void apply_model(const ModelConfig &config, TensorSettings &settings);

/// Sets a property and records that the user has set it. `S` is derived from TensorSettings.
template <class S>
std::optional<Effect> set_given(S &s, const Properties<S> &table, guint index,
                                const GValue *value) {
  s.model.given.add(table[index].spec->name);
  return table.set(s, index, value);
}

/// Sets all properties that the user never set to the values of the file, or to their defaults.
template <class S>
Effect set_model(S &s, const Properties<S> &table, const LoadedModel &model) {
  S base;
  apply_model(model.config, base);
  Effect effect = Effect::next_frame;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto &entry = table[i];
    if (s.model.given.has(entry.spec->name)) continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, entry.spec->value_type);
    entry.get(base, &value);
    if (table.set(s, i, &value) == Effect::renegotiates) effect = Effect::renegotiates;
    g_value_unset(&value);
  }
  s.model.path = model.path;
  s.model.error = model.error;
  s.model.rule = model.config.rule;
  s.model.open_size = model.config.open_size;
  s.model.open_layout = model.config.open_layout;
  s.model.has_layout = model.config.layout.has_value();
  s.model.has_dtype = model.config.dtype.has_value();
  return effect;
}

/// Implements Configurable::prepare_change(): reads the model's file, which is slow, without the
/// object lock. Returns null if the property is not model-config.
template <class S>
std::function<std::optional<Effect>()> change_of_model(GstElement *element,
                                                       GstDebugCategory *category, S &pending,
                                                       const Properties<S> &table, guint index,
                                                       const GValue *value) {
  if (std::strcmp(table[index].spec->name, kModelConfig) != 0) return nullptr;
  std::string path;
  read(value, path);
  const LoadedModel model = load_model(element, category, path);
  return [&pending, &table, model] { return set_model(pending, table, model); };
}

}  // namespace cudatensor
