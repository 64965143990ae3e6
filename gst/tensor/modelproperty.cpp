// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/modelproperty.h"

#include "gst/tensor/tensorsettings.h"

namespace cudatensor {
namespace {

template <class T>
void set(T &to, const std::optional<T> &from) {
  if (from) to = *from;
}

}  // namespace

LoadedModel load_model(GstElement *element, GstDebugCategory *category, const std::string &path) {
  LoadedModel model;
  model.path = path;
  if (path.empty()) return model;
  try {
    model.config = read_model_config(path);
    GstElementFactory *factory = gst_element_get_factory(element);
    const std::string line = launch_line(
        factory != nullptr ? GST_OBJECT_NAME(factory) : G_OBJECT_TYPE_NAME(element), model.config);
    GST_CAT_INFO_OBJECT(category, element, "model-config=%s is: %s", path.c_str(), line.c_str());
  } catch (const Error &error) {
    GST_CAT_WARNING_OBJECT(category, element, "%s", error.what());
    model.error = error;
  } catch (const std::bad_alloc &) {
    model.error = Error(Error::Code::out_of_memory, "model-config=" + path + ": out of memory");
  }
  return model;
}

void check_model(const ModelState &model) {
  if (model.error) throw Error(*model.error);
  if (!model.open_layout.empty() && !model.given.has("layout"))
    throw Error(Error::Code::settings, model.open_layout + "; set layout");
}

void check_model_source(const ModelState &model, double src_width, double src_height, int dst_width,
                        int dst_height) {
  const auto is_given = [&](const char *name) { return model.given.has(name); };
  if (is_given("resize-mode")) return;
  const bool sized = is_given("width") && is_given("height");
  if (model.rule.kind == SourceRule::Kind::least_pads && sized) return;
  check_source(model.rule, src_width, src_height, dst_width, dst_height);
}

void apply_model(const ModelConfig &config, TensorSettings &s) {
  set(s.width, config.width);
  set(s.height, config.height);
  set(s.layout, config.layout);
  set(s.dtype, config.dtype);
  NormalizeParams &n = s.normalize;
  set(n.resize.mode, config.resize_mode);
  set(n.resize.method, config.method);
  set(n.resize.antialias, config.antialias);
  set(n.resize.shortest_edge, config.shortest_edge);
  set(n.resize.pad_value, config.pad_value);
  set(n.pad_normalized, config.pad_normalized);
  set(n.color, config.color);
  set(n.normalization, config.normalization);
  set(n.scale, config.scale);
  set(n.mean, config.mean);
  set(n.std, config.std);
  set(n.alpha, config.alpha);
  set(n.beta, config.beta);
  set(n.round, config.round);
}

}  // namespace cudatensor
