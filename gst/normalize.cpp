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
#include "tensorsettings.h"
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

const Properties<TensorSettings> &properties() {
  static const Properties<TensorSettings> table = [] {
    Properties<TensorSettings> t;
    add_tensor_properties(t);
    return t;
  }();
  return table;
}

class Normalize final : public FilterWith<TensorSettings> {
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
  const TensorSettings &s = latched();
  // Not in set_caps, which is not called where another layout reads the same in the caps.
  out_ = desc_of(dimensions_of(out_), s.dtype, s.layout);
  geometry_ = s.geometry(source_.image, out_);
  operation_ = backend.normalize(s.params(source_, out_));
}

/// Appends the pictures that a tensor can be made of: any size, any format that has the colours.
void append_pictures(GstCaps *caps, const TensorSettings &s, const GstStructure *tensor) {
  GstStructure *picture = gst_structure_new_empty("video/x-raw");
  copy_framerate(picture, tensor);
  gst_caps_append_structure(caps, picture);
  if (s.color == Color::yuv) gst_structure_set_value(picture, "format", yuv_formats());
}

GstCaps *Normalize::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const TensorSettings s = settings();
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *structure = gst_caps_get_structure(caps, i);
    GstCaps *others = gst_caps_new_empty();
    if (direction == GST_PAD_SRC)
      append_pictures(others, s, structure);
    else if (has_colors(s, structure))
      append_tensors(others, s, 1, structure);
    else
      GST_WARNING_OBJECT(element(), "color=yuv needs a YUV input, not %" GST_PTR_FORMAT, structure);
    // Keeps the order: the tensors of four dimensions come before those of three.
    result = gst_caps_merge(result, others);
  }
  return result;
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
  const TensorSettings s = settings();
  const GstVideoInfo in = parse_video_caps(caps);
  if (s.color == Color::rgb || s.color == Color::bgr) check_matrix(in);
  OwnedCaps wanted(ask_downstream(element(), offered.get()));
  return choose_tensor(wanted.get(), s, 1, in.width, in.height);
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
