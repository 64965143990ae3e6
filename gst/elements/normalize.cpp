// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudanormalize
 * @title: cudanormalize
 * @see_also: cudaletterbox, cudanv12toyuv444
 *
 * Converts a picture to the input tensor of a network in one pass: resize, letterbox or crop, color
 * conversion, channel order, layout and normalization. The tensor's caps are those of NNStreamer.
 * Each buffer carries a GstCudaTensorGeometryMeta, which maps detections back to the picture.
 *
 * With the property `regions` it produces a batch of regions of the picture instead: a list, the
 * regions of interest and detections in the frame's metas, tiles, or what matrices show. Oriented
 * detections can be turned upright, and faces be aligned by their points. On a GPU this takes one
 * kernel launch for every 64 regions. Buffers then carry a GstCudaTensorBatchMeta, which contains the
 * geometry of each slot.
 *
 * With the property `frames-per-tensor` it collects frames to clips for video models: each frame is
 * converted into its own slot of the tensor when it arrives, and released. `frame-step` and
 * `clip-hop` choose the frames; clips may overlap. The last clip of a stream may have empty slots.
 *
 * The property `model-config` takes sizes, filter, crop, colors and normalization from a file that
 * a model comes with, such as the preprocessor_config.json of Transformers.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! cudanormalize width=640 height=640 resize-mode=ultralytics ! fakesink silent=false -v
 * ]|
 * Produces NCHW float32 tensors of 640:640:3:1 from 0 to 1, with the letterbox of Ultralytics'
 * networks.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! cudanormalize width=224 height=224 resize-mode=torchvision shortest-edge=256 antialias=true mean="<0.485,0.456,0.406>" std="<0.229,0.224,0.225>" ! fakesink silent=false -v
 * ]|
 * Resizes, crops and normalizes for classifiers that were trained with ImageNet.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! cudanormalize width=224 height=224 layout=ncthw frames-per-tensor=16 frame-step=2 clip-hop=8 ! fakesink silent=false -v
 * ]|
 * Produces a clip of 16 frames, two apart, for every 8 frames.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=3840,height=2160 ! cudanormalize width=640 height=640 regions=tiles tile-columns=4 tile-rows=3 tile-overlap=0.2 ! fakesink silent=false -v
 * ]|
 * Produces batches of twelve tiles that overlap by a fifth, for small objects in 4K.
 *
 * Since: 0.1
 */
#include "gst/base/directedelement.h"
#include "gst/base/metadata.h"
#include "gst/base/transformelement.h"
#include "gst/caps/videocaps.h"
#include "gst/elements/elements.h"
#include "gst/meta/carriedmetas.h"
#include "gst/meta/geometrymeta.h"
#include "gst/nvmm/deepstream.h"
#include "gst/tensor/clips.h"
#include "gst/tensor/tensormaker.h"
#include "gst/util/ref.h"

GST_DEBUG_CATEGORY_STATIC(cudanormalize_debug);
#define GST_CAT_DEFAULT cudanormalize_debug

struct GstCudaNormalize {
  GstCudaTensorTransform parent;
};
struct GstCudaNormalizeClass {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE_WITH_CODE(GstCudaNormalize, gst_cuda_normalize, GST_TYPE_CUDA_TENSOR_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_VIDEO_DIRECTION, nullptr))
GST_ELEMENT_REGISTER_DEFINE(cudanormalize, "cudanormalize", GST_RANK_NONE,
                            gst_cuda_normalize_get_type())

namespace cudatensor {
namespace {

// The largest distance of frames in a clip.
constexpr guint kMaxStep = 65536;

struct Settings : TensorSettings {
  guint frames = 1;  // frames per tensor
  guint step = 1, hop = 0;
  DirectionSettings direction;

  ClipShape clip() const {
    return {frames, step, hop != 0 ? int64_t{hop} : int64_t{frames} * step};
  }
};

void apply_model(const ModelConfig &config, Settings &s) {
  apply_model(config, static_cast<TensorSettings &>(s));
  if (config.frames) s.frames = static_cast<guint>(*config.frames);
}

const Properties<Settings> &properties() {
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    add_tensor_properties(t,
                          "Number of slots of a batch of regions; 0 = one for each region of the "
                          "list or tile, 16 for regions=meta");
    t.add(uint_property("frames-per-tensor", "Frames per tensor",
                        "Number of consecutive frames in a tensor, each with one slot, or with one "
                        "for each region",
                        1, kMaxSlots, 1),
          Effect::renegotiates, [](Settings &s) -> guint & { return s.frames; });
    t.add(uint_property("frame-step", "Frame step",
                        "Distance between the frames of a tensor, in frames; 1 = consecutive ones",
                        1, kMaxStep, 1),
          Effect::renegotiates, [](Settings &s) -> guint & { return s.step; });
    t.add(uint_property("clip-hop", "Clip hop",
                        "Distance between the first frames of two tensors, in frames: less makes "
                        "them overlap, more leaves frames out; 0 = frames-per-tensor · frame-step",
                        0, G_MAXINT, 0),
          Effect::renegotiates, [](Settings &s) -> guint & { return s.hop; });
    add_direction_property(t);
    return t;
  });
  return table;
}

class Normalize final : public DirectedElement<ElementWithSettings<Settings>> {
 public:
  explicit Normalize(GstBaseTransform *element)
      : DirectedElement(element, properties()), clips_(element, maker_) {}

  Clips &clips() { return clips_; }

  Change prepare_change(guint index, const GValue *value) override;
  std::optional<Effect> set_property(guint index, const GValue *value) override;
  std::string caps_settings() const override;

  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) override;
  GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) override;

  void set_caps(GstCaps *in, GstCaps *out) override {
    const NetworkInput network = network_input_of(out);
    Settings s = latched();
    adopt(s, network);
    const TensorDesc tensor = parse_tensor_caps(out, s.layout);
    in_ = parse_input_caps(in);
    out_ = tensor;
    network_ = network;
    clips_.set_frame_duration(frame_duration());
  }
  std::string caps_warning() const override { return hdr_warning(in_.info); }
  GstEvent *take_event(GstEvent *event) override;
  gsize input_size() const override { return in_.info.size; }
  gsize output_size() const override { return out_.bytes(); }
  guint held_outputs() const override { return clips_.held(); }

  void prepare(Backend &backend) override;
  void release() override { maker_.release(); }

  void before_change() override {
    clips_.push();
    clips_.begin(latched().clip());
  }
  void process(Session &session, GstBuffer *in, GstBuffer *out) override;
  void stop() override {
    clips_.discard();
    DirectedElement::stop();
  }

 private:
  using Surfaces = TensorInput::Surfaces;

  bool size_is_open() const override { return pending().width == 0 || pending().height == 0; }
  Settings settings_for_network() const;
  void miss(GstBuffer *in);
  void warn_of_slots() const;
  void describe(GstBuffer *in, GstBuffer *out, const Surfaces &surfaces);
  std::vector<BatchSlot> wholes(GstBuffer *in, const Surfaces &surfaces);
  GstClockTime frame_duration() const;
  BatchSlot whole_of_stream(GstBuffer *in);
  BatchSlot whole_of_surface(GstBuffer *in, const std::optional<nvmm::SurfaceFrame> &surface) const;
  GstClockTime running_time_of(GstClockTime pts) const;

  InputCaps in_;
  TensorDesc out_ = {};
  NetworkInput network_;  // of the output's caps
  Settings used_;         // the latched settings, with what the network needs
  guint frames_ = 1;      // frames per tensor
  TensorMaker maker_;
  std::vector<TensorInput> inputs_;  // of the frame; a member only to reuse its memory
  StreamEvents events_;
  Clips clips_;
};

/// Renegotiates only if the number of slots changes: the regions themselves may change from frame
/// to frame.
std::optional<Effect> Normalize::set_property(guint index, const GValue *value) {
  const int64_t slots = pending().regions.slots();
  const auto effect =
      with_direction([&] { return set_given(pending(), properties(), index, value); });
  return pending().regions.slots() != slots ? Effect::renegotiates : effect;
}

/// Follows the orientation in tags, which does not apply to the tensor.
GstEvent *Normalize::take_event(GstEvent *event) {
  follow(event);
  return without_orientation(event);
}

TransformElement::Change Normalize::prepare_change(guint index, const GValue *value) {
  return change_of_model(GST_ELEMENT(element()), GST_CAT_DEFAULT, pending(), properties(), index,
                         value);
}

/// Adds the error of the model's file, because an unreadable file may be the cause of a failed
/// negotiation.
std::string Normalize::caps_settings() const {
  const std::string text = ElementWithSettings::caps_settings();
  const ModelState model = settings().model;
  return model.error ? std::string(model.error->what()) + ", " + text : text;
}

/// Throws Error if clips exclude other settings.
void check_clips(const Settings &s, bool is_batch) {
  const auto refuse = [](const std::string &setting, const char *cause) {
    throw Error(Error::Code::settings, setting + " cannot be combined with " + cause);
  };
  if (is_batch && s.layout == Layout::ncthw)
    refuse("layout=ncthw", "batches of surfaces, because a clip has one picture for each frame");
  if (s.regions.source == RegionSource::none) return;
  if (s.layout == Layout::ncthw) refuse("layout=ncthw", "regions");
  if (s.step != 1) refuse("frame-step=" + std::to_string(s.step), "regions");
  if (s.hop != 0) refuse("clip-hop=" + std::to_string(s.hop), "regions");
}

void Normalize::prepare(Backend &backend) {
  used_ = latched();
  adopt(used_, network_);
  const Settings &s = used_;
  check_clips(s, in_.is_batch);
  // Done here and not in set_caps(), which is not called if another layout has the same caps.
  out_ = desc_of(dimensions_of(out_), s.dtype, s.layout);
  frames_ = s.frames;
  maker_.prepare(backend, s, out_, frames_);
}

void Normalize::process(Session &session, GstBuffer *in, GstBuffer *out) {
  Surfaces surfaces;
  if (in_.is_batch) surfaces = nvmm::frames_of(in, static_cast<size_t>(in_.surfaces));
  inputs_.assign(
      1, {in, &in_, nullptr, in_.is_batch ? &surfaces : nullptr, used_.direction.direction()});
  if (!maker_.make(session, used_, inputs_, out, clips_.part())) return miss(in);
  warn_of_slots();
  describe(in, out, surfaces);
}

/// Leaves the slots of a frame that cannot be used empty, or drops the frame if it has a tensor of
/// its own.
void Normalize::miss(GstBuffer *in) {
  const Error &fault = *maker_.pictures().front().fault;
  if (frames_ == 1) throw Error(fault);
  warn_of_frame("a frame is missing in its clip: " + std::string(fault.what()));
  clips_.add_missing(in);
}

void Normalize::warn_of_slots() const {
  for (const auto &[found, fault] : maker_.pictures()) {
    if (fault) warn_of_frame("a surface has no slot: " + std::string(fault->what()));
    if (!found.reason.empty()) warn_of_frame("a slot has no picture: " + found.reason);
  }
}

void Normalize::describe(GstBuffer *in, GstBuffer *out, const Surfaces &surfaces) {
  if (frames_ == 1 && !in_.is_batch && maker_.pictures().front().found.is_whole) {
    const Geometry &geometry = maker_.geometries().front();
    carry_metas(in, out, box_map_of(geometry));
    return attach_geometry(in, out, geometry);
  }
  DescribedSlots slots = maker_.describe(wholes(in, surfaces));
  if (slots.left_out > 0) GST_INFO_OBJECT(element(), "%u regions have no slot", slots.left_out);
  if (frames_ == 1) {
    remove_geometry(out);
    return attach_slots(out, slots);
  }
  clips_.add(in, std::move(slots));
}

/// Returns the duration of a frame; 0 if the caps have no frame rate.
GstClockTime Normalize::frame_duration() const {
  const GstVideoInfo &info = in_.info;
  return info.fps_n > 0 ? gst_util_uint64_scale(GST_SECOND, info.fps_d, info.fps_n) : 0;
}

GstClockTime Normalize::running_time_of(GstClockTime pts) const {
  const GstSegment &segment = element()->segment;
  return segment.format == GST_FORMAT_TIME
             ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts)
             : GST_CLOCK_TIME_NONE;
}

BatchSlot Normalize::whole_of_stream(GstBuffer *in) {
  BatchSlot slot;
  const Ref<gchar> stream_id(gst_pad_get_stream_id(element()->sinkpad));
  if (stream_id != nullptr) slot.stream_id = stream_id.get();
  slot.pad_index = 0;
  set_picture(slot, in, running_time_of(GST_BUFFER_PTS(in)));
  if (has_batch_streams()) {
    const Ref<GstCaps> caps(gst_pad_get_current_caps(element()->sinkpad));
    events_.update(slot.stream_id, caps.get(), element()->segment);
    slot.events = &events_;
  }
  return slot;
}

BatchSlot Normalize::whole_of_surface(GstBuffer *in,
                                      const std::optional<nvmm::SurfaceFrame> &surface) const {
  BatchSlot slot;
  set_picture(slot, in, running_time_of(GST_BUFFER_PTS(in)));
  if (!surface) return slot;
  slot.pad_index = surface->pad_index;
  slot.pts = surface->pts;
  slot.duration = GST_CLOCK_TIME_NONE;
  slot.running_time = running_time_of(surface->pts);
  slot.source = MuxedSource{surface->source_id, surface->width, surface->height};
  return slot;
}

std::vector<BatchSlot> Normalize::wholes(GstBuffer *in, const Surfaces &surfaces) {
  if (!in_.is_batch) return {whole_of_stream(in)};
  std::vector<BatchSlot> slots;
  for (const auto &surface : surfaces) slots.push_back(whole_of_surface(in, surface));
  return slots;
}

/// Returns the number of slots of a tensor for buffers of up to `surfaces` pictures. Throws Error
/// if there are too many.
int64_t slots_for(const Settings &s, int surfaces) {
  const int64_t slots = s.regions.slots() * surfaces * s.frames;
  if (slots <= kMaxSlots) return slots;
  const std::string frames = s.frames > 1 ? std::to_string(s.frames) + " frames of " : "";
  throw Error(Error::Code::settings, frames + std::to_string(surfaces) + " surfaces with " +
                                         std::to_string(s.regions.slots()) +
                                         " regions each: a batch has at most " +
                                         std::to_string(kMaxSlots) + " slots");
}

/// Appends the caps of pictures that can be converted to a tensor: any size, and any format that
/// has the colors.
void append_pictures(GstCaps *caps, const TensorSettings &s, const GstStructure *tensor) {
  GstStructure *picture = gst_structure_new_empty("video/x-raw");
  copy_framerate(picture, tensor);
  gst_caps_append_structure(caps, picture);
  if (s.normalize.color == Color::yuv) gst_structure_set_value(picture, "format", yuv_formats());
}

/// Returns a copy of structure `i` of caps with its frame rate multiplied by numerator/denominator,
/// or any frame rate if the product is not known.
Ref<GstStructure> with_framerate_of(const GstCaps *caps, guint i, gint numerator,
                                    gint denominator) {
  Ref<GstStructure> copy(gst_structure_copy(gst_caps_get_structure(caps, i)));
  if (numerator == denominator) return copy;
  gint n = 0, d = 1;
  const bool is_known = gst_structure_get_fraction(copy.get(), "framerate", &n, &d) &&
                        gst_util_fraction_multiply(n, d, numerator, denominator, &n, &d);
  if (is_known)
    gst_structure_set(copy.get(), "framerate", GST_TYPE_FRACTION, n, d, nullptr);
  else
    gst_structure_remove_field(copy.get(), "framerate");
  return copy;
}

/// Appends tensors of any dimensions, for batches of surfaces whose number is not known yet.
void append_batches(GstCaps *caps, const TensorSettings &s, const GstCaps *pictures) {
  for (guint i = 0; i < gst_caps_get_size(pictures); ++i) {
    const GstStructure *structure = gst_caps_get_structure(pictures, i);
    if (!gst_structure_has_field(structure, kSurfacesField) && has_colors(s, structure))
      append_open_tensors(caps, s, structure);
  }
}

/// Returns the settings with what a network downstream needs.
Settings Normalize::settings_for_network() const {
  Settings s = settings();
  const Ref<GstCaps> downstream(gst_pad_peer_query_caps(element()->srcpad, nullptr));
  adopt(s, network_input_of(downstream.get()));
  return s;
}

GstCaps *Normalize::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const Settings s = direction == GST_PAD_SINK ? settings_for_network() : settings();
  Ref<GstCaps> result(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const auto hop = static_cast<gint>(s.clip().hop);
    const Ref<GstStructure> scaled = direction == GST_PAD_SRC ? with_framerate_of(caps, i, hop, 1)
                                                              : with_framerate_of(caps, i, 1, hop);
    const GstStructure *structure = scaled.get();
    Ref<GstCaps> others(gst_caps_new_empty());
    if (direction == GST_PAD_SRC)
      append_pictures(others.get(), s, structure);
    else if (has_colors(s, structure))
      append_tensors(others.get(), s, slots_for(s, surfaces_of(structure)), structure);
    // Keeps the order: the tensors of four dimensions come before those of three.
    result.reset(gst_caps_merge(result.release(), others.release()));
  }
  if (direction == GST_PAD_SINK && nvmm::is_installed() && !gst_caps_is_fixed(caps))
    append_batches(result.get(), s, caps);
  if (gst_caps_is_empty(result.get()) && !gst_caps_is_empty(caps)) check_colors(s, caps);
  return result.release();
}

/// Returns the part of `caps` that downstream accepts. GstBaseTransform does not query downstream
/// if only the dimensions are missing.
GstCaps *ask_downstream(GstBaseTransform *element, GstCaps *caps) {
  Ref<GstCaps> peer(gst_pad_peer_query_caps(element->srcpad, caps));
  return gst_caps_intersect_full(peer.get(), caps, GST_CAPS_INTERSECT_FIRST);
}

GstCaps *Normalize::fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) {
  Ref<GstCaps> offered(othercaps);
  if (direction == GST_PAD_SRC) return gst_caps_fixate(offered.release());
  const Settings s = settings_for_network();
  const InputCaps input = parse_input_caps(caps);
  const GstVideoInfo &in = input.info;
  if (s.normalize.color == Color::rgb || s.normalize.color == Color::bgr) check_matrix(in);
  Ref<GstCaps> wanted(ask_downstream(element(), offered.get()));
  if (gst_caps_is_empty(wanted.get())) {
    check_model(s.model);
    return wanted.release();
  }
  const ImageDesc picture = seen(ImageDesc{{}, in.width, in.height}, s.direction.direction());
  return choose_tensor(wanted.get(), wanted.get(), s, slots_for(s, input.surfaces), picture.width,
                       picture.height);
}

TransformElement *create(GstBaseTransform *element) { return new Normalize(element); }

// --- GstBaseTransform, for clips ----------------------------------------------------------------

Clips &clips_of(GstBaseTransform *trans) {
  return static_cast<Normalize &>(transform_of(trans)).clips();
}

GstBaseTransformClass *parent_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_normalize_parent_class);
}

GstFlowReturn prepare_output_buffer(GstBaseTransform *trans, GstBuffer *in, GstBuffer **out) {
  *out = clips_of(trans).take();
  return *out != nullptr ? GST_FLOW_OK : parent_class()->prepare_output_buffer(trans, in, out);
}

/// The parent class drops frames that are late. They count: a clip shows when its frames were.
GstFlowReturn submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input) {
  const Ref<GstBuffer> frame(gst_buffer_ref(input));
  const GstFlowReturn flow = parent_class()->submit_input_buffer(trans, is_discont, input);
  if (flow != GST_BASE_TRANSFORM_FLOW_DROPPED) return flow;
  const GstFlowReturn missed = clips_of(trans).miss(frame.get());
  return missed == GST_FLOW_OK ? flow : missed;
}

GstFlowReturn generate_output(GstBaseTransform *trans, GstBuffer **out) {
  const bool is_left_out = trans->queued_buf != nullptr && !clips_of(trans).next();
  if (is_left_out) gst_clear_buffer(&trans->queued_buf);
  return clips_of(trans).keep(parent_class()->generate_output(trans, out), out);
}

/// Other threads may send non-serialized events while a frame is being processed.
gboolean sink_event(GstBaseTransform *trans, GstEvent *event) {
  if (GST_EVENT_IS_SERIALIZED(event)) clips_of(trans).before_event(event);
  return parent_class()->sink_event(trans, event);
}

gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  if (!parent_class()->query(trans, direction, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY) clips_of(trans).add_latency(query);
  return TRUE;
}

void install_overrides(GstBaseTransformClass *klass) {
  klass->submit_input_buffer = submit_input_buffer;
  klass->prepare_output_buffer = prepare_output_buffer;
  klass->generate_output = generate_output;
  klass->sink_event = sink_event;
  klass->query = query;
}

}  // namespace
}  // namespace cudatensor

static void gst_cuda_normalize_class_init(GstCudaNormalizeClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudanormalize_debug, "cudanormalize", 0, "cudanormalize");
  cudatensor::set_metadata(GST_ELEMENT_CLASS(klass),
                           {"cudanormalize", "CUDA normalize", "Filter/Converter/Video/Scaler",
                            "Turns a picture into a network's tensor: resize, letterbox or crop, "
                            "colors, layout, normalization"});
  using cudatensor::DType;
  cudatensor::install_transform(
      &klass->parent_class, cudanormalize_debug,
      cudatensor::make_video_template_caps(cudatensor::input_formats()),
      cudatensor::make_tensor_template_caps(
          {DType::float32, DType::float16, DType::bfloat16, DType::uint8, DType::int8}),
      cudatensor::create);
  cudatensor::install_overrides(GST_BASE_TRANSFORM_CLASS(klass));
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_normalize_init(GstCudaNormalize *) {}
