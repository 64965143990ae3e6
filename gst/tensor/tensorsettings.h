// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudanormalize and cudatensormux that define the output tensor, and the caps
// derived from them.
#pragma once

#include <optional>

#include "gst/base/interlacing.h"
#include "gst/base/resizeproperties.h"
#include "gst/caps/tensorcaps.h"
#include "gst/tensor/modelproperty.h"
#include "gst/tensor/regions.h"
#include "kernels/normalize.h"

namespace cudatensor {

struct TensorSettings {
  int width = 0, height = 0;
  Layout layout = Layout::nchw;
  DType dtype = DType::float32;
  Interlaced interlaced = Interlaced::refuse;
  NormalizeParams normalize;
  RegionSettings regions;
  ModelState model;
};

/// What the caps of a network tell of its input. They have the field `layout`; those of other
/// elements do not, and nothing is taken from them.
struct NetworkInput {
  std::optional<Layout> layout;
  std::optional<DType> dtype;
};

/// Returns what the first structure with a layout tells.
NetworkInput network_input_of(const GstCaps *caps);
/// Sets the layout and the type of the network where neither the user nor the file of a model has
/// set them.
void adopt(TensorSettings &s, const NetworkInput &network);

/// Appends the caps of a tensor of `n` pictures, with the framerate of `picture`. The dimensions
/// are omitted if the settings leave the size to downstream.
void append_tensors(GstCaps *caps, const TensorSettings &s, int64_t n, const GstStructure *picture);

/// Appends the same caps without dimensions.
void append_open_tensors(GstCaps *caps, const TensorSettings &s, const GstStructure *picture);

/// Returns the first caps that describe a tensor of `n` pictures which the settings can produce,
/// fixated. If neither settings nor caps define the size, it is width × height, unless the file of
/// a model has left it open. If there is no such tensor, throws an Error that names the caps of
/// `downstream`.
GstCaps *choose_tensor(const GstCaps *caps, const GstCaps *downstream, const TensorSettings &s,
                       int64_t n, int width, int height);

/// Returns the YUV formats, as a value for the `format` field of caps.
const GValue *yuv_formats();
/// Throws Error if the caps allow no format that `color` can be produced from.
void check_colors(const TensorSettings &s, const GstCaps *caps);
/// Returns whether a picture's structure allows a format that `color` can be produced from.
bool has_colors(const TensorSettings &s, const GstStructure *picture);

/// Throws Error if the settings exclude this frame.
void check_frame(const TensorSettings &s, const GstVideoInfo &info, GstBuffer *frame);

/// Adds the tensor properties to a table. `S` is derived from TensorSettings.
template <class S>
void add_shape_properties(Properties<S> &t) {
  t.add(int_property("width", "Width",
                     "Width of the tensor, in pixels; 0 = the width in downstream's caps, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](S &s) -> int & { return s.width; });
  t.add(int_property("height", "Height",
                     "Height of the tensor, in pixels; 0 = the height in downstream's caps, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](S &s) -> int & { return s.height; });
  t.add(enum_property("color", "Color", "Color channels of the tensor and their order",
                      color_get_type(), static_cast<int>(Color::rgb)),
        Effect::renegotiates, [](S &s) -> Color & { return s.normalize.color; });
  t.add(enum_property("layout", "Layout",
                      "Order of the tensor's dimensions: nchw (planar), nhwc (interleaved) or, for "
                      "a clip of cudanormalize, ncthw",
                      layout_get_type(), static_cast<int>(Layout::nchw)),
        Effect::renegotiates, [](S &s) -> Layout & { return s.layout; });
  t.add(enum_property("dtype", "Data type", "Type of the tensor's elements", dtype_get_type(),
                      static_cast<int>(DType::float32)),
        Effect::renegotiates, [](S &s) -> DType & { return s.dtype; });
}

template <class S>
void add_normalization_properties(Properties<S> &t) {
  t.add(enum_property("normalization", "Normalization",
                      "Normalization formula, applied to each channel", normalization_get_type(),
                      static_cast<int>(Normalization::mean_std)),
        Effect::next_frame, [](S &s) -> Normalization & { return s.normalize.normalization; });
  t.add(double_property("scale", "Scale",
                        "mean-std: factor for sample values from 0 to 255; 0 = 1/255 for float "
                        "types, 1 for integer types",
                        0.0),
        Effect::next_frame, [](S &s) -> double & { return s.normalize.scale; });
  t.add(double_list_property(
            "mean", "Mean",
            "mean-std: one value, or one per channel, subtracted after scaling (default <0>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.mean; });
  t.add(double_list_property(
            "std", "Standard deviation",
            "mean-std: divisor, one value or one per channel; must not be 0 (default <1>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.std; });
  t.add(double_list_property("alpha", "Alpha",
                             "alpha-beta: factor for sample values from 0 to 255, one value or one "
                             "per channel (default <1/255>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.alpha; });
  t.add(double_list_property("beta", "Beta",
                             "alpha-beta: offset added after multiplying by alpha, one value or "
                             "one per channel (default <0>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.beta; });
  t.add(bool_property("round", "Round",
                      "Round resized samples to integers before normalization, as if a picture "
                      "were passed between two elements",
                      false),
        Effect::next_frame, [](S &s) -> bool & { return s.normalize.round; });
}

template <class S>
void add_model_property(Properties<S> &t) {
  t.add(string_property(kModelConfig, "Model config",
                        "File that a model comes with, from which the properties take their "
                        "values: preprocessor_config.json, config.json of timm, an ONNX model or "
                        "metadata.yaml of Ultralytics, .modelinfo, or a configuration of "
                        "DeepStream. The file is read when this property is set; other "
                        "properties that are set win over it"),
        Effect::next_frame, [](S &s) -> std::string & { return s.model.path; });
}

/// Adds all tensor properties. The element determines which properties of regions change its caps.
template <class S>
void add_tensor_properties(Properties<S> &t, const char *max_batch_blurb) {
  add_shape_properties(t);
  t.add(enum_property("resize-mode", "Resize mode",
                      "Placement of the picture in the tensor: stretched, or as cudaletterbox "
                      "does",
                      resize_mode_get_type(), static_cast<int>(ResizeMode::stretch)),
        Effect::next_frame, [](S &s) -> ResizeMode & { return s.normalize.resize.mode; });
  add_resize_properties(t, [](S &s) -> Resize & { return s.normalize.resize; });
  t.add(bool_property("pad-normalized", "Pad normalized",
                      "Elements of the tensor outside the picture are 0, instead of the normalized "
                      "pad-value; only for float types, not with resize-mode=affine",
                      false),
        Effect::next_frame, [](S &s) -> bool & { return s.normalize.pad_normalized; });
  add_interlaced_property(t, [](S &s) -> Interlaced & { return s.interlaced; });
  add_normalization_properties(t);
  add_model_property(t);
  add_region_properties(t, max_batch_blurb);
}

}  // namespace cudatensor
