// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/tensorsettings.h"

#include "gst/caps/videocaps.h"
#include "gst/util/ref.h"
#include "gst/util/values.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Describes a tensor of `n` pictures of this size.
TensorDesc tensor_for(const TensorSettings &s, int64_t n, int width, int height) {
  return {s.dtype, s.layout, n, s.normalize.channels(), height, width};
}

/// The field of caps that only networks have.
constexpr const char *kLayoutField = "layout";

std::optional<Layout> parse_layout(const char *text) {
  if (g_strcmp0(text, "nchw") == 0) return Layout::nchw;
  if (g_strcmp0(text, "nhwc") == 0) return Layout::nhwc;
  return std::nullopt;
}

/// Returns whether the caps of a network, if they are one's, have the layout of the settings.
bool has_layout_of(const TensorSettings &s, const GstStructure *tensor) {
  const auto layout = parse_layout(gst_structure_get_string(tensor, kLayoutField));
  return !layout || *layout == s.layout;
}

/// Returns whether the settings can produce a tensor of these dimensions.
bool fits(const TensorSettings &s, int64_t n, const Dimensions &dimensions) {
  const TensorDesc t = desc_of(dimensions, s.dtype, s.layout);
  const auto side_fits = [](int64_t side, int wanted) {
    return side <= kMaxImageSize && (wanted == 0 || side == wanted);
  };
  return t.n == n && t.c == s.normalize.channels() && side_fits(t.w, s.width) &&
         side_fits(t.h, s.height);
}

/// Returns whether width or height would follow the picture although the model needs a size that
/// its file does not contain. A length that the user has set to 0 follows the picture.
bool lacks_size(const TensorSettings &s) {
  const auto lacks = [&](const char *name, int length) {
    return length == 0 && !s.model.given.has(name);
  };
  return !s.model.open_size.empty() && (lacks("width", s.width) || lacks("height", s.height));
}

/// Returns the `dimensions` strings that a structure allows. If it does not restrict them, returns
/// our own, or none if the size is not known.
std::vector<std::string> choices(const GstStructure *tensor, const TensorSettings &s,
                                 const TensorDesc &ours) {
  std::vector<std::string> texts = allowed_strings(tensor, "dimensions");
  if (texts.empty() && !lacks_size(s)) texts.push_back(dimensions_text(ours));
  return texts;
}

GstCaps *fix_dimensions(const GstCaps *caps, guint i, const std::string &text) {
  GstStructure *fixed = gst_structure_copy(gst_caps_get_structure(caps, i));
  gst_structure_set(fixed, "dimensions", G_TYPE_STRING, text.c_str(), nullptr);
  GstCaps *result = gst_caps_new_full(fixed, nullptr);
  gst_caps_set_features(result, 0, gst_caps_features_copy(gst_caps_get_features(caps, i)));
  return gst_caps_fixate(result);
}

std::string nick_of(GType type, int value) {
  auto *klass = static_cast<GEnumClass *>(g_type_class_ref(type));
  const std::string nick = g_enum_get_value(klass, value)->value_nick;
  g_type_class_unref(klass);
  return nick;
}

/// Returns the properties that determine a tensor's shape and type, with their values.
std::string shape_text(const TensorSettings &s, int64_t n) {
  return "width=" + std::to_string(s.width) + ", height=" + std::to_string(s.height) +
         ", color=" + nick_of(color_get_type(), static_cast<int>(s.normalize.color)) +
         ", layout=" + nick_of(layout_get_type(), static_cast<int>(s.layout)) +
         ", dtype=" + type_text(s.dtype) + " and a batch size of " + std::to_string(n);
}

const GstCaps *yuv_caps() {
  static const GstCaps *const caps = [] {
    GstCaps *made = make_video_template_caps(yuv_input_formats());
    GST_MINI_OBJECT_FLAG_SET(made, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return caps;
}

}  // namespace

NetworkInput network_input_of(const GstCaps *caps) {
  NetworkInput network;
  for (guint i = 0; i < gst_caps_get_size(caps) && !network.layout; ++i) {
    const GstStructure *tensor = gst_caps_get_structure(caps, i);
    network.layout = parse_layout(gst_structure_get_string(tensor, kLayoutField));
    const char *type = gst_structure_get_string(tensor, "types");
    if (network.layout && type != nullptr) network.dtype = parse_type(type);
  }
  return network;
}

void adopt(TensorSettings &s, const NetworkInput &network) {
  const auto is_set = [&](const char *name, bool by_file) {
    return by_file || s.model.given.has(name);
  };
  if (network.dtype && !is_set("dtype", s.model.has_dtype)) s.dtype = *network.dtype;
  if (!network.layout || is_set("layout", s.model.has_layout)) return;
  s.layout = *network.layout;
  s.model.open_layout.clear();
}

void append_open_tensors(GstCaps *caps, const TensorSettings &s, const GstStructure *picture) {
  GstStructure *tensor = new_tensor_structure(picture);
  gst_structure_set(tensor, "types", G_TYPE_STRING, type_text(s.dtype), nullptr);
  gst_caps_append_structure(caps, tensor);
}

void append_tensors(GstCaps *caps, const TensorSettings &s, int64_t n,
                    const GstStructure *picture) {
  if (s.width == 0 || s.height == 0) return append_open_tensors(caps, s, picture);
  GstStructure *tensor = new_tensor_structure(picture);
  gst_structure_set(tensor, "types", G_TYPE_STRING, type_text(s.dtype), nullptr);
  append_with_dimensions(caps, tensor, tensor_for(s, n, s.width, s.height));
}

GstCaps *choose_tensor(const GstCaps *caps, const GstCaps *downstream, const TensorSettings &s,
                       int64_t n, int width, int height) {
  const TensorDesc ours =
      tensor_for(s, n, s.width != 0 ? s.width : width, s.height != 0 ? s.height : height);
  std::string taken;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *tensor = gst_caps_get_structure(caps, i);
    for (const std::string &text : choices(tensor, s, ours)) {
      const auto dimensions = parse_dimensions(text.c_str());
      if (dimensions && fits(s, n, *dimensions) && has_layout_of(s, tensor))
        return fix_dimensions(caps, i, text);
      taken += (taken.empty() ? "dimensions=" : " or ") + text;
    }
  }
  if (taken.empty() && lacks_size(s) && !gst_caps_is_empty(caps))
    throw Error(Error::Code::settings, s.model.open_size + "; set width and height");
  if (taken.empty()) taken = text_of(downstream);
  throw Error(Error::Code::settings, "downstream accepts " + taken + ", but " + shape_text(s, n) +
                                         " produce " + dimensions_text(ours));
}

const GValue *yuv_formats() {
  return gst_structure_get_value(gst_caps_get_structure(yuv_caps(), 0), "format");
}

void check_colors(const TensorSettings &s, const GstCaps *caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (has_colors(s, gst_caps_get_structure(caps, i))) return;
  throw Error(Error::Code::input, "color=yuv requires YUV input, not " + text_of(caps));
}

bool has_colors(const TensorSettings &s, const GstStructure *picture) {
  if (s.normalize.color != Color::yuv) return true;
  Ref<GstCaps> own(gst_caps_new_full(gst_structure_copy(picture), nullptr));
  return gst_caps_can_intersect(own.get(), yuv_caps());
}

void check_frame(const TensorSettings &s, const GstVideoInfo &info, GstBuffer *frame) {
  const Color color = s.normalize.color;
  if (color == Color::rgb || color == Color::bgr) check_matrix(info);
  check_interlacing(info, frame, s.interlaced);
}

}  // namespace cudatensor
