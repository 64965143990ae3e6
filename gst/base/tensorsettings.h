// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudanormalize and cudatensormux that say what a tensor holds, and the caps that
// follow from them.
#pragma once

#include "gst/base/resizeproperties.h"
#include "gst/caps/tensorcaps.h"
#include "kernels/normalize.h"

namespace cudatensor {

struct TensorSettings {
  int width = 0, height = 0;
  Layout layout = Layout::nchw;
  DType dtype = DType::float32;
  NormalizeParams normalize;
};

/// The dimensions of `n` pictures of a size.
Dimensions dimensions_for(const TensorSettings &s, int64_t n, int width, int height);

/// Appends what the settings make of `n` pictures, with a structure's framerate; the dimensions stay
/// open where the settings leave the size to downstream.
void append_tensors(GstCaps *caps, const TensorSettings &s, int64_t n, const GstStructure *picture);

/// The first tensor of `n` pictures among the caps that the settings can give, fixed. A size that
/// settings and caps leave open is width × height. Throws Error, which names what `downstream`
/// takes, where there is none.
GstCaps *choose_tensor(const GstCaps *caps, const GstCaps *downstream, const TensorSettings &s,
                       int64_t n, int width, int height);

/// The formats that have the colours, as a field of caps.
const GValue *yuv_formats();
/// Throws Error where caps allow no format that has the colours.
void check_colors(const TensorSettings &s, const GstCaps *caps);
/// Whether a picture's structure allows a format that has the colours.
bool has_colors(const TensorSettings &s, const GstStructure *picture);

/// `S` is a TensorSettings.
template <class S>
void add_shape_properties(Properties<S> &t) {
  t.add(int_property("width", "Width",
                     "Width of the tensor, in pixels; 0 = what downstream's dimensions fix, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](S &s) -> int & { return s.width; });
  t.add(int_property("height", "Height",
                     "Height of the tensor, in pixels; 0 = what downstream's dimensions fix, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](S &s) -> int & { return s.height; });
  t.add(enum_property("color", "Color", "What the channels hold, and in which order",
                      color_get_type(), static_cast<int>(Color::rgb)),
        Effect::renegotiates, [](S &s) -> Color & { return s.normalize.color; });
  t.add(enum_property("layout", "Layout", "Order of the tensor's dimensions", layout_get_type(),
                      static_cast<int>(Layout::nchw)),
        Effect::renegotiates, [](S &s) -> Layout & { return s.layout; });
  t.add(enum_property("dtype", "Data type", "Type of the tensor's elements", dtype_get_type(),
                      static_cast<int>(DType::float32)),
        Effect::renegotiates, [](S &s) -> DType & { return s.dtype; });
}

template <class S>
void add_normalization_properties(Properties<S> &t) {
  t.add(enum_property("normalization", "Normalization", "The formula for each channel",
                      normalization_get_type(), static_cast<int>(Normalization::mean_std)),
        Effect::next_frame, [](S &s) -> Normalization & { return s.normalize.normalization; });
  t.add(double_property("scale", "Scale",
                        "mean-std: factor on sample values of 0 to 255; 0 = 1/255 for float "
                        "types, 1 for integer types",
                        0.0),
        Effect::next_frame, [](S &s) -> double & { return s.normalize.scale; });
  t.add(double_list_property("mean", "Mean",
                             "mean-std: one value, or one for each channel, subtracted after the "
                             "scale (default <0>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.mean; });
  t.add(double_list_property("std", "Standard deviation",
                             "mean-std: one value, or one for each channel, divided by, not 0 "
                             "(default <1>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.std; });
  t.add(double_list_property("alpha", "Alpha",
                             "alpha-beta: factor on sample values of 0 to 255, one value or one "
                             "for each channel (default <1/255>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.alpha; });
  t.add(double_list_property("beta", "Beta",
                             "alpha-beta: added after alpha, one value or one for each channel "
                             "(default <0>)"),
        Effect::next_frame, [](S &s) -> std::vector<double> & { return s.normalize.beta; });
  t.add(bool_property("round", "Round",
                      "Round resized samples to whole values before normalising, as a picture "
                      "between two elements would be",
                      false),
        Effect::next_frame, [](S &s) -> bool & { return s.normalize.round; });
}

/// All of them.
template <class S>
void add_tensor_properties(Properties<S> &t) {
  add_shape_properties(t);
  t.add(enum_property("resize-mode", "Resize mode",
                      "Stretch, or one of the letterbox modes of cudaletterbox",
                      resize_mode_get_type(), static_cast<int>(ResizeMode::stretch)),
        Effect::next_frame, [](S &s) -> ResizeMode & { return s.normalize.resize.mode; });
  add_resize_properties(t, [](S &s) -> Resize & { return s.normalize.resize; });
  add_normalization_properties(t);
}

}  // namespace cudatensor
