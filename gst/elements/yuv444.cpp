// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudanv12toyuv444
 * @title: cudanv12toyuv444
 * @see_also: cudanormalize
 *
 * Converts 4:2:0 pictures to planar 4:4:4 with a resize and a crop in Q13.18 fixed-point
 * arithmetic. The output is the rectangle at (crop-x, crop-y) of the resized frame. Chroma is
 * replicated to full resolution before it is resized, so that without a resize each output sample
 * equals an input sample.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! cudanv12toyuv444 resize-width=640 resize-height=360 crop-x=160 ! video/x-raw,width=320,height=360 ! videoconvert ! autovideosink
 * ]|
 * Outputs the middle half of a picture resized to 640×360.
 *
 * Since: 0.1
 */

#include "gst/base/imageelement.h"
#include "gst/base/interlacing.h"
#include "gst/base/metadata.h"
#include "gst/elements/elements.h"
#include "gst/util/ref.h"

GST_DEBUG_CATEGORY_STATIC(cudanv12toyuv444_debug);

struct GstCudaNv12ToYuv444 {
  GstCudaTensorTransform parent;
};
struct GstCudaNv12ToYuv444Class {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE(GstCudaNv12ToYuv444, gst_cuda_nv12_to_yuv444, GST_TYPE_CUDA_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudanv12toyuv444, "cudanv12toyuv444", GST_RANK_NONE,
                            gst_cuda_nv12_to_yuv444_get_type())

namespace cudatensor {
namespace {

/// One axis of resize and crop, in pixels.
struct AxisSettings {
  int resize = 0;
  int crop = 0;

  /// The maximum output size. A crop outside the resized frame is reported when a frame is
  /// processed.
  int longest() const { return resize > crop ? resize - crop : kMaxImageSize; }
  /// The output size if downstream does not fix it.
  int preferred(int input) const { return resize != 0 ? resize - crop : input; }
  int resized(int output) const { return resize != 0 ? resize : output; }
};

struct Settings {
  AxisSettings x, y;
  Interlaced interlaced = Interlaced::refuse;
};

const Properties<Settings> &properties() {
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    t.add(
        int_property("resize-width", "Resize width",
                     "Width of the resized frame before cropping, in pixels; 0 = the output width",
                     0, kMaxImageSize, 0),
        Effect::renegotiates, [](Settings &s) -> int & { return s.x.resize; });
    t.add(int_property(
              "resize-height", "Resize height",
              "Height of the resized frame before cropping, in pixels; 0 = the output height", 0,
              kMaxImageSize, 0),
          Effect::renegotiates, [](Settings &s) -> int & { return s.y.resize; });
    t.add(int_property("crop-x", "Crop x", "Left edge of the crop in the resized frame, in pixels",
                       0, kMaxImageSize, 0),
          Effect::renegotiates, [](Settings &s) -> int & { return s.x.crop; });
    t.add(int_property("crop-y", "Crop y", "Top edge of the crop in the resized frame, in pixels",
                       0, kMaxImageSize, 0),
          Effect::renegotiates, [](Settings &s) -> int & { return s.y.crop; });
    add_interlaced_property(t, [](Settings &s) -> Interlaced & { return s.interlaced; });
    return t;
  });
  return table;
}

class Nv12ToYuv444 final : public ImageElement<Settings> {
 public:
  explicit Nv12ToYuv444(GstBaseTransform *element) : ImageElement(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) override;
  GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) override;

  void prepare(Backend &backend) override {
    const Settings &s = latched();
    operation_ = backend.yuv444({in_.source.image, image_desc_of(out_), s.x.resized(out_.width),
                                 s.y.resized(out_.height), s.x.crop, s.y.crop});
  }

  void process(Session &session, GstBuffer *in, GstBuffer *out) override {
    check_interlacing(in_.info, in, latched().interlaced);
    ImageElement::process(session, in, out);
    clear_fields(in_.info, out);
    propagate_geometry(in, out, operation_->geometry());
  }
};

GstCaps *Nv12ToYuv444::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const Settings settings = this->settings();
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *from = gst_caps_get_structure(caps, i);
    GstStructure *s = new_open_structure(from);
    if (direction == GST_PAD_SINK) {
      limit_size(s, settings.x.longest(), settings.y.longest());
      gst_structure_set(s, "interlace-mode", G_TYPE_STRING, "progressive", nullptr);
    }
    result = gst_caps_merge_structure(result, s);
  }
  return result;
}

GstCaps *Nv12ToYuv444::fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) {
  Ref<GstCaps> result(gst_caps_make_writable(gst_caps_truncate(othercaps)));
  const auto in = video_info_of(caps);
  if (gst_caps_is_empty(result.get()) || direction != GST_PAD_SINK || !in)
    return gst_caps_fixate(result.release());
  const Settings settings = this->settings();
  GstStructure *s = gst_caps_get_structure(result.get(), 0);
  fixate_size(s, settings.x.preferred(in->width), settings.y.preferred(in->height));
  int width = 0, height = 0;
  gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  fixate_pixel_aspect_ratio(s, *in, settings.x.resized(width), settings.y.resized(height));
  set_own_colorimetry(s, *in);
  return gst_caps_fixate(result.release());
}

TransformElement *create(GstBaseTransform *element) { return new Nv12ToYuv444(element); }

}  // namespace
}  // namespace cudatensor

static void gst_cuda_nv12_to_yuv444_class_init(GstCudaNv12ToYuv444Class *klass) {
  GST_DEBUG_CATEGORY_INIT(cudanv12toyuv444_debug, "cudanv12toyuv444", 0, "cudanv12toyuv444");
  cudatensor::set_metadata(
      GST_ELEMENT_CLASS(klass),
      {"cudanv12toyuv444", "CUDA NV12 to YUV 4:4:4", "Filter/Converter/Video/Scaler",
       "Converts 4:2:0 to 4:4:4 with a resize and crop in Q13.18 fixed-point arithmetic"});
  cudatensor::install_transform(&klass->parent_class, cudanv12toyuv444_debug,
                                cudatensor::make_video_template_caps(CUDATENSOR_YUV420),
                                cudatensor::make_video_template_caps("Y444"), cudatensor::create);
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_nv12_to_yuv444_init(GstCudaNv12ToYuv444 *) {}
