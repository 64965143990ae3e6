// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaletterbox
 * @title: cudaletterbox
 * @see_also: cudanormalize, cudarestore
 *
 * Scales a picture to fit the size that downstream requires, preserves its aspect ratio, pads the
 * remaining area or crops the picture, and converts to RGB or gray, in one pass. Each buffer carries
 * a GstCudaTensorGeometryMeta, which maps detections in the output back to the source.
 *
 * With keep-input=true each buffer also holds the frame that it was made from. After a detector,
 * cudarestore replaces the buffer by that frame and maps the detections back to the frame.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,width=1280,height=720 ! cudaletterbox resize-mode=ultralytics ! video/x-raw,format=RGB,width=640,height=640 ! videoconvert ! autovideosink
 * ]|
 * Fits a 16:9 picture into 640×640 pixels, with 140 gray rows above and below.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,width=1280,height=720 ! cudaletterbox resize-mode=torchvision shortest-edge=256 antialias=true ! video/x-raw,format=RGB,width=224,height=224 ! videoconvert ! autovideosink
 * ]|
 * Resizes 720 rows to 256 as Pillow does, and takes 224×224 pixels from the center, as torchvision
 * does for classifiers.
 *
 * Since: 0.1
 */
#include "gst/base/directedelement.h"
#include "gst/base/imageelement.h"
#include "gst/base/interlacing.h"
#include "gst/base/metadata.h"
#include "gst/base/resizeproperties.h"
#include "gst/elements/elements.h"
#include "gst/meta/inputmeta.h"
#include "gst/util/ref.h"

GST_DEBUG_CATEGORY_STATIC(cudaletterbox_debug);

struct GstCudaLetterbox {
  GstCudaTensorTransform parent;
};
struct GstCudaLetterboxClass {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE_WITH_CODE(GstCudaLetterbox, gst_cuda_letterbox, GST_TYPE_CUDA_TENSOR_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_VIDEO_DIRECTION, nullptr))
GST_ELEMENT_REGISTER_DEFINE(cudaletterbox, "cudaletterbox", GST_RANK_NONE,
                            gst_cuda_letterbox_get_type())

namespace cudatensor {
namespace {

struct Settings {
  Settings() { resize.mode = ResizeMode::affine; }
  Resize resize;
  Interlaced interlaced = Interlaced::refuse;
  bool keep_input = false;
  DirectionSettings direction;
};

const Properties<Settings> &properties() {
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    t.add(enum_property("resize-mode", "Resize mode", "Placement of the picture in the output",
                        letterbox_mode_get_type(), static_cast<int>(ResizeMode::affine)),
          Effect::next_frame, [](Settings &s) -> ResizeMode & { return s.resize.mode; });
    add_resize_properties(t, [](Settings &s) -> Resize & { return s.resize; });
    add_interlaced_property(t, [](Settings &s) -> Interlaced & { return s.interlaced; });
    t.add(bool_property("keep-input", "Keep input",
                        "Attach the input frame to the output, for cudarestore", false),
          Effect::next_frame, [](Settings &s) -> bool & { return s.keep_input; });
    add_direction_property(t);
    return t;
  });
  return table;
}

class Letterbox final : public DirectedElement<ImageElement<Settings>> {
 public:
  explicit Letterbox(GstBaseTransform *element) : DirectedElement(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) override;
  GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) override;

  void set_caps(GstCaps *in, GstCaps *out) override {
    const GstVideoInfo info = parse_video_caps(in);
    const GstVideoInfo result = parse_video_caps(out);
    if (!GST_VIDEO_INFO_IS_GRAY(&result)) check_matrix(info);
    ImageElement::set_caps(in, out);
    source_ = in_.source;
    in_caps_.reset(gst_caps_ref(in));
  }

  std::string caps_warning() const override { return hdr_warning(in_.info); }

  GstEvent *take_event(GstEvent *event) override;

  void prepare(Backend &backend) override {
    source_.direction = latched().direction.direction();
    send_tags(latched().direction.method);
    operation_ = backend.letterbox({source_, image_desc_of(out_), latched().resize});
  }

  void process(Session &session, GstBuffer *in, GstBuffer *out) override {
    check_interlacing(in_.info, in, latched().interlaced);
    follow_source(session, in);
    ImageElement::process(session, in, out);
    // An element after cudarestore may write into the surface.
    if (latched().keep_input && in_.in_nvmm) session.synchronize();
    clear_fields(in_.info, out);
    attach_geometry(in, out, operation_->geometry());
    if (latched().keep_input)
      attach_input(out,
                   {Ref<GstBuffer>(gst_buffer_ref(in)), Ref<GstCaps>(gst_caps_ref(in_caps_.get())),
                    box_map_of(operation_->geometry()), inverse_of(carried_), kept_orientation()});
  }

 private:
  /// Recreates the operation if the source has changed: surfaces of the same caps may differ in
  /// matrix and range.
  void follow_source(Session &session, GstBuffer *in) {
    Source source = source_of(in_, in);
    source.direction = source_.direction;
    if (source == source_) return;
    source_ = source;
    prepare(session.backend());
  }

  /// Returns the orientation in the tags that the sent ones replace.
  std::optional<Direction> kept_orientation() const {
    const DirectionSettings &direction = latched().direction;
    return direction.method == GST_VIDEO_ORIENTATION_IDENTITY ? std::nullopt : direction.tag();
  }
  GstEvent *sent_tags(GstEvent *event, GstVideoOrientationMethod method) const;
  void send_tags(GstVideoOrientationMethod method);

  Source source_ = {};
  Ref<GstCaps> in_caps_;
  GstVideoOrientationMethod tags_method_ = GST_VIDEO_ORIENTATION_IDENTITY;  // of the tags sent last
};

/// Returns the tags for a picture made with this method. The identity passes the tag on; all others
/// have applied it, or give another direction in its place. Takes ownership of `event`.
GstEvent *Letterbox::sent_tags(GstEvent *event, GstVideoOrientationMethod method) const {
  return method == GST_VIDEO_ORIENTATION_IDENTITY ? event
                                                  : with_orientation(event, Direction::identity);
}

/// Follows the orientation in tags. Tags that follow a change of the method, before the next frame,
/// are those of the new method; the earlier ones are sent again.
GstEvent *Letterbox::take_event(GstEvent *event) {
  follow(event);
  if (GST_EVENT_TYPE(event) != GST_EVENT_TAG) return event;
  send_tags(settings().direction.method);
  return sent_tags(event, tags_method_);
}

/// Sends all tags again if the method has changed since.
void Letterbox::send_tags(GstVideoOrientationMethod method) {
  if (std::exchange(tags_method_, method) == method) return;
  for (guint i = 0;; ++i) {
    GstEvent *tags = gst_pad_get_sticky_event(element()->sinkpad, GST_EVENT_TAG, i);
    if (tags == nullptr) return;
    gst_pad_push_event(element()->srcpad, sent_tags(tags, method));
  }
}

GstCaps *Letterbox::transform_caps(GstPadDirection direction, GstCaps *caps) {
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    GstStructure *s = new_open_structure(gst_caps_get_structure(caps, i));
    if (direction == GST_PAD_SINK)
      gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, "interlace-mode",
                        G_TYPE_STRING, "progressive", nullptr);
    result = gst_caps_merge_structure(result, s);
  }
  return result;
}

GstCaps *Letterbox::fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) {
  Ref<GstCaps> result(gst_caps_make_writable(gst_caps_truncate(othercaps)));
  const auto in = video_info_of(caps);
  if (gst_caps_is_empty(result.get()) || !in) return gst_caps_fixate(result.release());
  GstStructure *s = gst_caps_get_structure(result.get(), 0);
  const ImageDesc picture =
      seen(ImageDesc{{}, in->width, in->height}, settings().direction.direction());
  fixate_size(s, picture.width, picture.height);
  if (!gst_structure_fixate_field_string(s, "format", GST_VIDEO_INFO_NAME(&*in)))
    gst_structure_fixate_field(s, "format");
  if (direction == GST_PAD_SINK) set_result_colorimetry(s, *in);
  return gst_caps_fixate(result.release());
}

TransformElement *create(GstBaseTransform *element) { return new Letterbox(element); }

}  // namespace
}  // namespace cudatensor

static void gst_cuda_letterbox_class_init(GstCudaLetterboxClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudaletterbox_debug, "cudaletterbox", 0, "cudaletterbox");
  cudatensor::set_metadata(
      GST_ELEMENT_CLASS(klass),
      {"cudaletterbox", "CUDA letterbox", "Filter/Converter/Video/Scaler",
       "Scales pictures to fit a fixed size, preserving the aspect ratio, and pads or crops the "
       "rest"});
  cudatensor::install_transform(
      &klass->parent_class, cudaletterbox_debug,
      cudatensor::make_video_template_caps(cudatensor::input_formats()),
      cudatensor::make_video_template_caps(CUDATENSOR_PACKED_RGB ", RGBP, BGRP, GRAY8"),
      cudatensor::create);
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_letterbox_init(GstCudaLetterbox *) {}
