// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudapixelshuffle
 * @title: cudapixelshuffle
 *
 * Rearranges channels into pixels, the last step of most super-resolution networks: depth to space,
 * PyTorch's PixelShuffle, ONNX's DepthToSpace in CRD mode. The output is a tensor of the same type
 * or a picture, converted in the same pass.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 fakesrc num-buffers=60 sizetype=fixed sizemax=307200 filltype=random format=time ! other/tensors,format=static,num_tensors=1,types=uint8,dimensions=320:240:4:1,framerate=30/1 ! cudapixelshuffle ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink
 * ]|
 * Turns four channels of 320×240 into one picture of 640×480.
 *
 * Since: 0.1
 */
#include "gst/base/framepass.h"
#include "gst/base/metadata.h"
#include "gst/base/transformelement.h"
#include "gst/caps/tensorcaps.h"
#include "gst/caps/videocaps.h"
#include "gst/elements/elements.h"
#include "gst/meta/carriedmetas.h"
#include "gst/meta/geometrymeta.h"
#include "gst/util/ref.h"
#include "gst/util/values.h"
#include "kernels/error.h"

GST_DEBUG_CATEGORY_STATIC(cudapixelshuffle_debug);

struct GstCudaPixelShuffle {
  GstCudaTensorTransform parent;
};
struct GstCudaPixelShuffleClass {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE(GstCudaPixelShuffle, gst_cuda_pixel_shuffle, GST_TYPE_CUDA_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudapixelshuffle, "cudapixelshuffle", GST_RANK_NONE,
                            gst_cuda_pixel_shuffle_get_type())

namespace cudatensor {
namespace {

struct Settings {
  int factor = 2;
  double scale = 0.0;
  double offset = 0.0;
};

const Properties<Settings> &properties() {
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    t.add(int_property("upscale-factor", "Upscale factor",
                       "Factor by which width and height are enlarged; the number of input "
                       "channels must be a multiple of its square",
                       1, 64, 2),
          Effect::renegotiates, [](Settings &s) -> int & { return s.factor; });
    t.add(double_property("scale", "Scale",
                          "Video output: factor that maps elements to sample values from 0 to 255; "
                          "0 = 255 for float types, 1 for uint8",
                          0.0),
          Effect::next_frame, [](Settings &s) -> double & { return s.scale; });
    t.add(double_property("offset", "Offset", "Video output: offset added after scaling", 0.0),
          Effect::next_frame, [](Settings &s) -> double & { return s.offset; });
    return t;
  });
  return table;
}

bool is_video(const GstStructure *s) { return gst_structure_has_name(s, "video/x-raw"); }

class PixelShuffle final : public ElementWithSettings<Settings> {
 public:
  explicit PixelShuffle(GstBaseTransform *element) : ElementWithSettings(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) override;
  GstCaps *fixate_caps(GstPadDirection, GstCaps *, GstCaps *othercaps) override {
    return gst_caps_fixate(othercaps);
  }

  void set_caps(GstCaps *in, GstCaps *out) override;
  gsize input_size() const override { return in_.bytes(); }
  gsize output_size() const override { return to_video_ ? video_.size : tensor_.bytes(); }

  void prepare(Backend &backend) override;
  void release() override {
    to_tensor_operation_.reset();
    to_video_operation_.reset();
  }
  void process(Session &session, GstBuffer *in, GstBuffer *out) override;

 private:
  TensorDesc in_ = {};
  bool to_video_ = false;
  std::optional<Geometry> geometry_;  // set if the sizes are valid for a picture
  GstVideoInfo video_ = {};           // the output if to_video_
  TensorDesc tensor_ = {};            // the output otherwise
  std::unique_ptr<TensorToTensor> to_tensor_operation_;
  std::unique_ptr<TensorToImage> to_video_operation_;
};

void PixelShuffle::set_caps(GstCaps *in, GstCaps *out) {
  const TensorDesc source = parse_tensor_caps(in, Layout::nchw);
  const TensorDesc result = shuffled({source, latched().factor});
  const bool to_video = is_video(gst_caps_get_structure(out, 0));
  if (to_video) video_ = parse_video_caps(out);
  in_ = source;
  tensor_ = result;
  to_video_ = to_video;
  geometry_ = geometry_of({in_, latched().factor});
}

void PixelShuffle::prepare(Backend &backend) {
  const Settings &s = latched();
  release();
  if (to_video_)
    to_video_operation_ = backend.pixelshuffle(
        PixelShuffleToVideoParams{in_, s.factor, image_desc_of(video_), s.scale, s.offset});
  else
    to_tensor_operation_ = backend.pixelshuffle(PixelShuffleParams{in_, s.factor});
}

void PixelShuffle::process(Session &session, GstBuffer *in, GstBuffer *out) {
  if (to_video_)
    run(session, *to_video_operation_, in_, in, video_, out);
  else
    run(session, *to_tensor_operation_, in_, in, tensor_, out);
  if (!geometry_) return;
  carry_metas(in, out, box_map_of(*geometry_));
  propagate_geometry(in, out, *geometry_);
}

void set_types(GstStructure *s, const GstStructure *other) {
  const GValue *types = gst_structure_get_value(other, "types");
  if (types != nullptr) gst_structure_set_value(s, "types", types);
}

/// Appends caps of the pictures that the output tensor can be converted to.
void append_pictures(GstCaps *caps, const GstStructure *tensor, const TensorDesc &out) {
  if (out.n != 1 || (out.c != 1 && out.c != 3) || out.w > kMaxImageSize || out.h > kMaxImageSize)
    return;
  Ref<GstCaps> picture(make_video_template_caps(out.c == 1 ? "GRAY8" : "RGB, BGR, RGBP"));
  GstStructure *s = gst_structure_copy(gst_caps_get_structure(picture.get(), 0));
  gst_structure_set(s, "width", G_TYPE_INT, static_cast<int>(out.w), "height", G_TYPE_INT,
                    static_cast<int>(out.h), "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1,
                    nullptr);
  copy_framerate(s, tensor);
  gst_caps_append_structure(caps, s);
}

GstStructure *new_result(const GstStructure *tensor) {
  GstStructure *s = new_tensor_structure(tensor);
  set_types(s, tensor);
  return s;
}

/// Appends the output caps for an input of unknown dimensions.
void append_unfixed_results(GstCaps *caps, const GstStructure *in) {
  GstStructure *picture = gst_structure_new_empty("video/x-raw");
  copy_framerate(picture, in);
  gst_caps_append_structure(caps, new_result(in));
  gst_caps_append_structure(caps, picture);
}

/// Returns the dimensions; no value if the structure does not fix them.
std::optional<Dimensions> dimensions_of_tensor(const GstStructure *tensor) {
  const std::vector<std::string> texts = allowed_strings(tensor, "dimensions");
  if (texts.size() != 1) return std::nullopt;
  return parse_dimensions(texts[0].c_str());
}

/// Appends the output caps for an input tensor: tensors first, then pictures.
void append_results(GstCaps *caps, const GstStructure *in, int factor) {
  const auto dimensions = dimensions_of_tensor(in);
  if (!dimensions) return append_unfixed_results(caps, in);
  const TensorDesc out = shuffled({desc_of(*dimensions, DType::uint8, Layout::nchw), factor});
  append_with_dimensions(caps, new_result(in), out);
  append_pictures(caps, in, out);
}

/// Returns the dimensions of the tensor that becomes this picture; no value if the structure does
/// not fix them.
std::optional<Dimensions> dimensions_of_picture(const GstStructure *picture) {
  int width = 0, height = 0;
  const char *format = gst_structure_get_string(picture, "format");
  if (format == nullptr || !gst_structure_get_int(picture, "width", &width) ||
      !gst_structure_get_int(picture, "height", &height))
    return std::nullopt;
  return Dimensions{width, height, g_str_equal(format, "GRAY8") ? 1 : 3, 1};
}

/// Appends the input caps for an output; none if its width or height is not a multiple of the
/// factor.
void append_sources(GstCaps *caps, const GstStructure *out, int factor) {
  GstStructure *s = new_tensor_structure(out);
  set_types(s, out);
  const auto d = is_video(out) ? dimensions_of_picture(out) : dimensions_of_tensor(out);
  if (!d)
    gst_caps_append_structure(caps, s);
  else if ((*d)[0] % factor == 0 && (*d)[1] % factor == 0)
    append_with_dimensions(caps, s,
                           {DType::uint8, Layout::nchw, (*d)[3], (*d)[2] * factor * factor,
                            (*d)[1] / factor, (*d)[0] / factor});
  else
    gst_structure_free(s);
}

/// Returns the output caps, without those of structures that cannot be shuffled. Throws Error if
/// none is left.
Ref<GstCaps> results_of(const GstCaps *caps, int factor) {
  Ref<GstCaps> result(gst_caps_new_empty());
  std::optional<Error> refusal;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Ref<GstCaps> others(gst_caps_new_empty());
    try {
      append_results(others.get(), gst_caps_get_structure(caps, i), factor);
    } catch (const Error &error) {
      refusal = error;
    }
    result.reset(gst_caps_merge(result.release(), others.release()));
  }
  if (refusal && gst_caps_is_empty(result.get())) throw *refusal;
  return result;
}

Ref<GstCaps> sources_of(const GstCaps *caps, int factor) {
  Ref<GstCaps> result(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Ref<GstCaps> others(gst_caps_new_empty());
    append_sources(others.get(), gst_caps_get_structure(caps, i), factor);
    result.reset(gst_caps_merge(result.release(), others.release()));
  }
  return result;
}

GstCaps *PixelShuffle::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const int factor = settings().factor;
  return (direction == GST_PAD_SINK ? results_of(caps, factor) : sources_of(caps, factor))
      .release();
}

TransformElement *create(GstBaseTransform *element) { return new PixelShuffle(element); }

}  // namespace
}  // namespace cudatensor

static void gst_cuda_pixel_shuffle_class_init(GstCudaPixelShuffleClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudapixelshuffle_debug, "cudapixelshuffle", 0, "cudapixelshuffle");
  cudatensor::set_metadata(
      GST_ELEMENT_CLASS(klass),
      {"cudapixelshuffle", "CUDA pixel shuffle", "Filter/Converter/Video/Scaler",
       "Rearranges channels into pixels (depth to space) for super-resolution networks"});
  using cudatensor::DType;
  GstCaps *src =
      cudatensor::make_tensor_template_caps({DType::float16, DType::float32, DType::uint8});
  GstCaps *sink = gst_caps_copy(src);
  gst_caps_append(src, cudatensor::make_video_template_caps("RGB, BGR, RGBP, GRAY8"));
  cudatensor::install_transform(&klass->parent_class, cudapixelshuffle_debug, sink, src,
                                cudatensor::create);
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_pixel_shuffle_init(GstCudaPixelShuffle *) {}
