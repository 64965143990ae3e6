// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudanormalize
 * @title: cudanormalize
 * @see_also: cudaletterbox, cudanv12toyuv444
 *
 * Turns a picture into the tensor that a network takes, in one pass: resize or letterbox, colour
 * conversion, channel order, layout, normalisation. The tensor has NNStreamer's caps; every buffer
 * carries a GstCudaTensorGeometryMeta, with which detections are mapped back to the picture.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! cudanormalize width=640 height=640 resize-mode=ultralytics mean="<0.485,0.456,0.406>" std="<0.229,0.224,0.225>" ! fakesink silent=false -v
 * ]|
 * Letterboxed NCHW float32 tensors of 640:640:3:1, normalised as for ImageNet.
 *
 * Since: 0.1
 */
#include "elements.h"
#include "filter.h"
#include "geometrymeta.h"
#include "kernels/error.h"
#include "resizeproperties.h"
#include "tensorcaps.h"
#include "values.h"
#include "videocaps.h"

GST_DEBUG_CATEGORY_STATIC(cudanormalize_debug);
#define GST_CAT_DEFAULT cudanormalize_debug

struct GstCudaNormalize {
  GstCudaTensorFilter parent;
};
struct GstCudaNormalizeClass {
  GstCudaTensorFilterClass parent_class;
};
G_DEFINE_TYPE(GstCudaNormalize, gst_cuda_normalize, GST_TYPE_CUDA_TENSOR_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudanormalize, "cudanormalize", GST_RANK_NONE,
                            gst_cuda_normalize_get_type())

namespace cudatensor {
namespace {

struct Settings {
  int width = 0, height = 0;
  Resize resize;
  Color color = Color::rgb;
  Layout layout = Layout::nchw;
  DType dtype = DType::float32;
  Normalization normalization = Normalization::mean_std;
  double scale = 0.0;
  std::vector<double> mean = {0.0}, std = {1.0}, alpha = {1.0 / 255.0}, beta = {0.0};
  bool round = false;

  int channels() const { return color == Color::gray ? 1 : 3; }
};

void add_shape_properties(Properties<Settings> &t) {
  t.add(int_property("width", "Width",
                     "Width of the tensor, in pixels; 0 = what downstream's dimensions fix, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](Settings &s) -> int & { return s.width; });
  t.add(int_property("height", "Height",
                     "Height of the tensor, in pixels; 0 = what downstream's dimensions fix, "
                     "otherwise the input's",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](Settings &s) -> int & { return s.height; });
  t.add(enum_property("color", "Color", "What the channels hold, and in which order",
                      color_get_type(), static_cast<int>(Color::rgb)),
        Effect::renegotiates, [](Settings &s) -> Color & { return s.color; });
  t.add(enum_property("layout", "Layout", "Order of the tensor's dimensions", layout_get_type(),
                      static_cast<int>(Layout::nchw)),
        Effect::renegotiates, [](Settings &s) -> Layout & { return s.layout; });
  t.add(enum_property("dtype", "Data type", "Type of the tensor's elements", dtype_get_type(),
                      static_cast<int>(DType::float32)),
        Effect::renegotiates, [](Settings &s) -> DType & { return s.dtype; });
}

void add_normalization_properties(Properties<Settings> &t) {
  t.add(enum_property("normalization", "Normalization", "The formula for each channel",
                      normalization_get_type(), static_cast<int>(Normalization::mean_std)),
        Effect::next_frame, [](Settings &s) -> Normalization & { return s.normalization; });
  t.add(double_property("scale", "Scale",
                        "mean-std: factor on sample values of 0 to 255; 0 = 1/255 for float "
                        "types, 1 for integer types",
                        0.0),
        Effect::next_frame, [](Settings &s) -> double & { return s.scale; });
  t.add(double_list_property("mean", "Mean",
                             "mean-std: one value, or one for each channel, subtracted after the "
                             "scale (default <0>)"),
        Effect::next_frame, [](Settings &s) -> std::vector<double> & { return s.mean; });
  t.add(double_list_property("std", "Standard deviation",
                             "mean-std: one value, or one for each channel, divided by, not 0 "
                             "(default <1>)"),
        Effect::next_frame, [](Settings &s) -> std::vector<double> & { return s.std; });
  t.add(double_list_property("alpha", "Alpha",
                             "alpha-beta: factor on sample values of 0 to 255, one value or one "
                             "for each channel (default <1/255>)"),
        Effect::next_frame, [](Settings &s) -> std::vector<double> & { return s.alpha; });
  t.add(double_list_property("beta", "Beta",
                             "alpha-beta: added after alpha, one value or one for each channel "
                             "(default <0>)"),
        Effect::next_frame, [](Settings &s) -> std::vector<double> & { return s.beta; });
  t.add(bool_property("round", "Round",
                      "Round resized samples to whole values before normalising, as a picture "
                      "between two elements would be",
                      false),
        Effect::next_frame, [](Settings &s) -> bool & { return s.round; });
}

const Properties<Settings> &properties() {
  static const Properties<Settings> table = [] {
    Properties<Settings> t;
    add_shape_properties(t);
    t.add(enum_property("resize-mode", "Resize mode",
                        "Stretch, or one of the letterbox dialects of cudaletterbox",
                        resize_mode_get_type(), static_cast<int>(ResizeMode::stretch)),
          Effect::next_frame, [](Settings &s) -> ResizeMode & { return s.resize.mode; });
    add_resize_properties(t);
    add_normalization_properties(t);
    return t;
  }();
  return table;
}

class Normalize final : public FilterWith<Settings> {
 public:
  explicit Normalize(GstBaseTransform *element) : FilterWith(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) override;
  GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) override;

  void set_caps(GstCaps *in, GstCaps *out) override {
    const TensorDesc tensor = parse_tensor_caps(out, latched().layout);
    in_ = parse_video_caps(in);
    source_ = source_of(in, in_);
    out_ = tensor;
  }
  gsize input_size() const override { return in_.size; }
  gsize output_size() const override { return out_.bytes(); }

  void prepare(Backend &backend) override;
  void release() override { operation_.reset(); }

  void process(Engine &engine, GstBuffer *in, GstBuffer *out) override {
    run(engine, *operation_, in_, in, out_, out);
    transform_regions(in, out, geometry_);
    attach_geometry(in, out, geometry_);
  }

 private:
  GstVideoInfo in_ = {};
  TensorDesc out_ = {};
  Source source_ = {};
  Geometry geometry_ = {};
  std::unique_ptr<ImageToTensor> operation_;
};

void Normalize::prepare(Backend &backend) {
  const Settings &s = latched();
  // Not in set_caps, which is not called where another layout reads the same in the caps.
  out_ = desc_of(dimensions_of(out_), s.dtype, s.layout);
  const NormalizeParams params = {source_, out_,  s.resize, s.color, s.normalization, s.scale,
                                  s.mean,  s.std, s.alpha,  s.beta,  s.round};
  const ImageDesc &in = source_.image;
  geometry_ = make_geometry(s.resize.mode, in.width, in.height, static_cast<int>(out_.w),
                            static_cast<int>(out_.h), s.resize.scale_up);
  operation_ = backend.normalize(params);
}

Dimensions dimensions_for(const Settings &s, int width, int height) {
  return dimensions_of({s.dtype, s.layout, 1, s.channels(), height, width});
}

/// Whether a tensor of these dimensions is one that the settings can give.
bool fits(const Settings &s, const Dimensions &dimensions) {
  const TensorDesc t = desc_of(dimensions, s.dtype, s.layout);
  const auto side_fits = [](int64_t side, int wanted) {
    return side <= kMaxImageSize && (wanted == 0 || side == wanted);
  };
  return t.n == 1 && t.c == s.channels() && side_fits(t.w, s.width) && side_fits(t.h, s.height);
}

/// Appends what the settings make of pictures; the dimensions stay open where the settings leave
/// the size to downstream.
void append_tensors(GstCaps *caps, const Settings &s, const GstStructure *picture) {
  GstStructure *tensor = new_tensor_structure(picture);
  gst_structure_set(tensor, "types", G_TYPE_STRING, type_text(s.dtype), nullptr);
  if (s.width != 0 && s.height != 0)
    append_with_dimensions(caps, tensor, dimensions_for(s, s.width, s.height));
  else
    gst_caps_append_structure(caps, tensor);
}

/// The inputs that color=yuv takes.
OwnedCaps make_yuv_caps() {
  return OwnedCaps(make_video_template_caps(CUDATENSOR_YUV420 ", Y444"));
}

/// Appends the pictures that a tensor can be made of: any size, any format that has the colours.
void append_pictures(GstCaps *caps, const Settings &s, const GstStructure *tensor) {
  GstStructure *picture = gst_structure_new_empty("video/x-raw");
  copy_framerate(picture, tensor);
  gst_caps_append_structure(caps, picture);
  if (s.color != Color::yuv) return;
  OwnedCaps yuv = make_yuv_caps();
  gst_structure_set_value(picture, "format",
                          gst_structure_get_value(gst_caps_get_structure(yuv.get(), 0), "format"));
}

/// Whether a picture's structure allows a format that has the colours.
bool has_colors(const Settings &s, const GstStructure *picture) {
  if (s.color != Color::yuv) return true;
  OwnedCaps yuv = make_yuv_caps();
  OwnedCaps own(gst_caps_new_full(gst_structure_copy(picture), nullptr));
  return gst_caps_can_intersect(own.get(), yuv.get());
}

GstCaps *Normalize::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const Settings s = settings();
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *structure = gst_caps_get_structure(caps, i);
    GstCaps *others = gst_caps_new_empty();
    if (direction == GST_PAD_SRC)
      append_pictures(others, s, structure);
    else if (has_colors(s, structure))
      append_tensors(others, s, structure);
    else
      GST_WARNING_OBJECT(element(), "color=yuv needs a YUV input, not %" GST_PTR_FORMAT, structure);
    // Keeps the order: the tensors of four dimensions come before those of three.
    result = gst_caps_merge(result, others);
  }
  return result;
}

/// The texts for `dimensions` that a structure allows, ours first where it leaves them open.
std::vector<std::string> choices(const Settings &s, const GstStructure *tensor,
                                 const GstVideoInfo &in) {
  std::vector<std::string> texts = allowed_strings(tensor, "dimensions");
  if (!texts.empty()) return texts;
  return {dimensions_text(
      dimensions_for(s, s.width != 0 ? s.width : in.width, s.height != 0 ? s.height : in.height))};
}

/// What downstream takes of `caps`. GstBaseTransform does not ask where caps merely lack their
/// dimensions.
GstCaps *ask_downstream(GstBaseTransform *element, GstCaps *caps) {
  OwnedCaps peer(gst_pad_peer_query_caps(element->srcpad, caps));
  return gst_caps_intersect_full(peer.get(), caps, GST_CAPS_INTERSECT_FIRST);
}

GstCaps *Normalize::fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) {
  OwnedCaps offered(othercaps);
  if (direction == GST_PAD_SRC) return gst_caps_fixate(offered.release());
  const Settings s = settings();
  const GstVideoInfo in = parse_video_caps(caps);
  if (s.color == Color::rgb || s.color == Color::bgr) check_matrix(in);
  OwnedCaps wanted(ask_downstream(element(), offered.get()));
  for (guint i = 0; i < gst_caps_get_size(wanted.get()); ++i) {
    const GstStructure *tensor = gst_caps_get_structure(wanted.get(), i);
    for (const std::string &text : choices(s, tensor, in)) {
      const auto dimensions = parse_dimensions(text.c_str());
      if (!dimensions || !fits(s, *dimensions)) continue;
      GstStructure *fixed = gst_structure_copy(tensor);
      gst_structure_set(fixed, "dimensions", G_TYPE_STRING, text.c_str(), nullptr);
      GstCaps *result = gst_caps_new_full(fixed, nullptr);
      const GstCapsFeatures *memory = gst_caps_get_features(wanted.get(), i);
      gst_caps_set_features(result, 0, gst_caps_features_copy(memory));
      return gst_caps_fixate(result);
    }
  }
  throw Error(Error::Code::settings,
              "downstream takes no tensor of " + std::to_string(s.channels()) + " channels, type " +
                  type_text(s.dtype) + " and the size that width and height ask for");
}

Filter *create(GstBaseTransform *element) { return new Normalize(element); }

}  // namespace
}  // namespace cudatensor

static void gst_cuda_normalize_class_init(GstCudaNormalizeClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudanormalize_debug, "cudanormalize", 0, "cudanormalize");
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA normalize", "Filter/Converter/Video/Scaler/Hardware",
      "Turns a picture into a network's tensor: resize or letterbox, colours, layout, "
      "normalisation",
      "The gst-cudatensor developers");
  using cudatensor::DType;
  cudatensor::install_filter(&klass->parent_class, cudanormalize_debug,
                             cudatensor::make_video_template_caps(CUDATENSOR_INPUT_FORMATS),
                             cudatensor::make_tensor_template_caps(
                                 {DType::float32, DType::float16, DType::uint8, DType::int8}),
                             cudatensor::create);
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_normalize_init(GstCudaNormalize *) {}
