// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/modelconfig.h"
#include "gst/modelconfig/numbertext.h"
#include "gst/util/enums.h"

namespace cudatensor {
namespace {

std::string nick_of(GType type, int value) {
  auto *klass = static_cast<GEnumClass *>(g_type_class_ref(type));
  const GEnumValue *found = g_enum_get_value(klass, value);
  const std::string nick = found != nullptr ? found->value_nick : std::to_string(value);
  g_type_class_unref(klass);
  return nick;
}

class Line {
 public:
  explicit Line(const std::string &element) : text(element) {}

  void add(const char *name, const std::optional<int> &v) {
    if (v) append(name, std::to_string(*v));
  }
  void add(const char *name, const std::optional<bool> &v) {
    if (v) append(name, *v ? "true" : "false");
  }
  void add(const char *name, const std::optional<double> &v) {
    if (v) append(name, modelconfig::number_text(*v));
  }
  void add(const char *name, const std::optional<std::vector<double>> &v) {
    if (!v) return;
    std::string list;
    for (const double number : *v)
      list += (list.empty() ? "" : ",") + modelconfig::number_text(number);
    append(name, "\"<" + list + ">\"");
  }
  template <class E>
  void add(const char *name, const std::optional<E> &v, GType type) {
    if (v) append(name, nick_of(type, static_cast<int>(*v)));
  }

  std::string text;

 private:
  void append(const char *name, const std::string &value) {
    text += std::string(" ") + name + "=" + value;
  }
};

}  // namespace

std::string launch_line(const std::string &element, const ModelConfig &c) {
  Line line(element);
  line.add("width", c.width);
  line.add("height", c.height);
  line.add("resize-mode", c.resize_mode, resize_mode_get_type());
  line.add("shortest-edge", c.shortest_edge);
  line.add("method", c.method, scale_method_get_type());
  line.add("antialias", c.antialias);
  line.add("pad-value", c.pad_value);
  line.add("pad-normalized", c.pad_normalized);
  line.add("color", c.color, color_get_type());
  line.add("layout", c.layout, layout_get_type());
  line.add("dtype", c.dtype, dtype_get_type());
  line.add("normalization", c.normalization, normalization_get_type());
  line.add("scale", c.scale);
  line.add("mean", c.mean);
  line.add("std", c.std);
  line.add("alpha", c.alpha);
  line.add("beta", c.beta);
  line.add("round", c.round);
  if (element != "cudatensormux") line.add("frames-per-tensor", c.frames);
  return line.text;
}

}  // namespace cudatensor
