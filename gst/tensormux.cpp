// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudatensormux
 * @title: cudatensormux
 * @see_also: cudanormalize
 *
 * Turns the pictures of several cameras into one batch for a network, in one pass: what cudanormalize
 * does to one picture, for cameras of any sizes, formats, colours and rates. A batch has a slot for
 * each camera; a GstCudaTensorBatchMeta says what lies in each. The slot of a camera that has no
 * picture in time is filled with the pad value and marked invalid, so that no camera holds up others
 * for longer than the latency.
 *
 * Pads may come and go while the pipeline plays. A pad whose number is below the batch size has the
 * slot of that number.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 cudatensormux name=mux width=640 height=640 resize-mode=ultralytics ! fakesink silent=false -v videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=1280,height=720 ! mux. videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=RGB,width=640,height=480 ! mux.
 * ]|
 * Batches of two letterboxed pictures, 640:640:3:2.
 *
 * Since: 0.1
 */
#include <gst/base/gstaggregator.h>

#include <algorithm>
#include <atomic>
#include <tuple>

#include "allocation.h"
#include "backendproperties.h"
#include "batchmeta.h"
#include "batchrun.h"
#include "batchschedule.h"
#include "cudamemory.h"
#include "elements.h"
#include "errors.h"
#include "memorycaps.h"
#include "tensorsettings.h"
#include "videocaps.h"

GST_DEBUG_CATEGORY_STATIC(cudatensormux_debug);
#define GST_CAT_DEFAULT cudatensormux_debug

namespace cudatensor {
namespace {

class TensorMux;

/// What the mux knows of a camera; the streaming thread's, but for the number.
struct Camera {
  int index = -1;  // of its pad
  std::string stream_id;
  GstVideoInfo info = {};
  std::optional<Source> source;  // once there are caps …
  std::string refusal;           // … that were taken
};

}  // namespace
}  // namespace cudatensor

struct GstCudaTensorMux {
  GstAggregator parent;
  cudatensor::TensorMux *mux;
};
struct GstCudaTensorMuxClass {
  GstAggregatorClass parent_class;
};
struct GstCudaTensorMuxPad {
  GstAggregatorPad parent;
  cudatensor::Camera *camera;
};
struct GstCudaTensorMuxPadClass {
  GstAggregatorPadClass parent_class;
};
G_DEFINE_TYPE(GstCudaTensorMuxPad, gst_cuda_tensor_mux_pad, GST_TYPE_AGGREGATOR_PAD)
G_DEFINE_TYPE(GstCudaTensorMux, gst_cuda_tensor_mux, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(cudatensormux, "cudatensormux", GST_RANK_NONE,
                            gst_cuda_tensor_mux_get_type())

namespace cudatensor {
namespace {

constexpr guint kMostSlots = 1024;
constexpr guint64 kMostWindow = 3600 * GST_SECOND;
constexpr GstClockTime kUnknownFrameDuration = 40 * GST_MSECOND;

struct MuxSettings : TensorSettings {
  guint batch_size = 0;
  guint64 window = 0;
  bool qos = true;
};

const Properties<MuxSettings> &properties() {
  static const Properties<MuxSettings> table = [] {
    Properties<MuxSettings> t;
    add_tensor_properties(t);
    t.add(uint_property("batch-size", "Batch size",
                        "Slots of a batch; 0 = as many as there are sink pads", 0, kMostSlots, 0),
          Effect::renegotiates, [](MuxSettings &s) -> guint & { return s.batch_size; });
    t.add(uint64_property("window", "Window",
                          "Frames that lie less than this apart make one batch, in ns; 0 = the "
                          "duration of the fastest camera's frames",
                          kMostWindow, 0),
          Effect::next_frame, [](MuxSettings &s) -> guint64 & { return s.window; });
    t.add(bool_property("qos", "QoS", "Drop batches that would be late downstream", true),
          Effect::next_frame, [](MuxSettings &s) -> bool & { return s.qos; });
    return t;
  }();
  return table;
}

Camera &camera_of(GstAggregatorPad *pad) {
  return *reinterpret_cast<GstCudaTensorMuxPad *>(pad)->camera;
}

struct UnrefObject {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using OwnedPad = std::unique_ptr<GstAggregatorPad, UnrefObject>;

struct UnrefBuffer {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
};
using OwnedBuffer = std::unique_ptr<GstBuffer, UnrefBuffer>;

/// The sink pads in the order of their numbers.
std::vector<OwnedPad> pads_of(GstAggregator *aggregator) {
  std::vector<OwnedPad> pads;
  GST_OBJECT_LOCK(aggregator);
  for (GList *l = GST_ELEMENT(aggregator)->sinkpads; l != nullptr; l = l->next)
    pads.emplace_back(GST_AGGREGATOR_PAD(gst_object_ref(l->data)));
  GST_OBJECT_UNLOCK(aggregator);
  std::sort(pads.begin(), pads.end(), [](const OwnedPad &a, const OwnedPad &b) {
    return camera_of(a.get()).index < camera_of(b.get()).index;
  });
  return pads;
}

/// Of each slot its pad, or null. Throws Error where there are more pads than slots.
using Slots = std::vector<GstAggregatorPad *>;
Slots assign_slots(const std::vector<OwnedPad> &pads, guint batch_size) {
  if (batch_size != 0 && pads.size() > batch_size)
    throw Error(Error::Code::settings, "batch-size " + std::to_string(batch_size) + " for " +
                                           std::to_string(pads.size()) + " sink pads");
  Slots slots(batch_size != 0 ? batch_size : pads.size());
  std::vector<GstAggregatorPad *> others;
  for (const OwnedPad &pad : pads) {
    const auto index = static_cast<size_t>(camera_of(pad.get()).index);
    if (batch_size != 0 && index < slots.size())
      slots[index] = pad.get();
    else
      others.push_back(pad.get());
  }
  auto slot = slots.begin();
  for (GstAggregatorPad *pad : others) {
    slot = std::find(slot, slots.end(), nullptr);
    *slot = pad;
  }
  return slots;
}

GstClockTime running_time_of(GstAggregatorPad *pad, GstBuffer *buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return GST_CLOCK_TIME_NONE;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(pad);
  const GstSegment &segment = pad->segment;
  if (segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_running_time(&segment, GST_FORMAT_TIME,
                                       std::max(GST_BUFFER_PTS(buffer), segment.start));
  GST_OBJECT_UNLOCK(pad);
  return time;
}

/// 0 where caps do not say.
GstClockTime frame_duration_of(const Camera &camera) {
  if (!camera.source || camera.info.fps_n == 0) return 0;
  return gst_util_uint64_scale(GST_SECOND, camera.info.fps_d, camera.info.fps_n);
}

bool is_same(const Source &a, const Source &b) {
  const auto facts = [](const Source &s) {
    return std::make_tuple(s.image.format, s.image.width, s.image.height, s.colorimetry.matrix,
                           s.colorimetry.range, s.cosited_x, s.cosited_y);
  };
  return facts(a) == facts(b);
}

/// The frame of a camera that waits first, or none. What is left of the time before a flush goes.
OwnedBuffer peek(GstAggregatorPad *pad) {
  OwnedBuffer head(gst_aggregator_pad_peek_buffer(pad));
  GST_OBJECT_LOCK(pad);
  const bool flushed = pad->segment.format == GST_FORMAT_UNDEFINED;
  GST_OBJECT_UNLOCK(pad);
  if (head == nullptr || !flushed) return head;
  gst_aggregator_pad_drop_buffer(pad);
  return nullptr;
}

/// Whether a camera has a frame for the next batch, or none to wait for.
bool has_spoken(const OwnedPad &pad) {
  return peek(pad.get()) != nullptr || gst_aggregator_pad_is_eos(pad.get());
}

/// Whether a buffer stands for a gap event.
bool is_gap(GstBuffer *buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(buffer) == 0;
}

/// A frame that goes into a batch, or a gap.
struct Frame {
  OwnedBuffer buffer;
  GstClockTime time = GST_CLOCK_TIME_NONE;
};

/// A batch on its way, by slot.
struct Batch {
  Batch(Slots of, GstClockTime at)
      : slots(std::move(of)),
        start(at),
        frames(slots.size()),
        inputs(slots.size()),
        meta(slots.size()) {}

  Slots slots;
  GstClockTime start;
  std::vector<Frame> frames;
  std::vector<BatchInput> inputs;
  std::vector<BatchSlot> meta;
  bool timed = false;  // some picture has a time
};

class TensorMux {
 public:
  explicit TensorMux(GstAggregator *element)
      : element_(element),
        errors_(GST_ELEMENT(element)),
        keeper_(GST_ELEMENT(element), cudatensormux_debug, [this] { release(); }) {}

  EngineKeeper &keeper() { return keeper_; }

  // With the object lock held.
  void set_property(guint id, const GValue *value);
  void get_property(guint id, GValue *value);
  bool has_room() const;

  bool start();
  void stop();
  void flush() {
    schedule_.reset();
    earliest_ = GST_CLOCK_TIME_NONE;
    begins_segment_ = true;
  }
  void hear_qos(GstEvent *event);

  GstCaps *sink_caps(GstCaps *filter);
  bool set_caps(GstAggregatorPad *pad, GstCaps *caps);
  void set_stream_id(GstAggregatorPad *pad, GstEvent *event);
  GstFlowReturn update_src_caps(GstCaps *downstream, GstCaps **result);
  bool negotiate();
  bool set_src_caps(GstCaps *caps);
  bool propose_allocation(GstAggregatorPad *pad, GstQuery *query);
  bool decide_allocation(GstQuery *query);

  GstClockTime next_time() const;
  GstFlowReturn aggregate(bool timeout);

 private:
  void release() { batch_.reset(); }
  void latch();
  MuxSettings pending() const;
  GstClockTime now() const;
  BatchSchedule::Heads heads(const std::vector<OwnedPad> &pads) const;
  std::optional<GstClockTime> next_start(const std::vector<OwnedPad> &pads) const;
  void update_window(const std::vector<OwnedPad> &pads);
  void check_caps(const std::vector<OwnedPad> &pads) const;
  void hear_refusal(const std::string &cause);
  bool follow(const std::vector<OwnedPad> &pads);
  Frame take(GstAggregatorPad *pad, GstClockTime start);
  bool collect(Batch &batch);
  void prepare(Engine &engine, const Batch &batch);
  OwnedBuffer acquire(Engine &engine);
  OwnedBuffer compute(Batch &batch);
  void begin_segment();
  GstFlowReturn push(const Batch &batch, OwnedBuffer buffer);
  bool is_late_downstream(GstClockTime start) const;
  void post_dropped(gpointer where, GstClockTime time, GstClockTime pts);

  GstAggregator *element_;
  ErrorReporter errors_;
  std::unique_ptr<ImagesToTensor> batch_;  // goes in its engine's scope, at last by keeper_
  EngineKeeper keeper_;

  // Guarded by the object lock.
  MuxSettings pending_;
  bool changed_ = true, renegotiate_ = false;

  std::atomic<GstClockTime> earliest_{GST_CLOCK_TIME_NONE};  // that is not late downstream

  // The streaming thread's.
  MuxSettings latched_;
  BatchSchedule schedule_;
  bool renegotiating_ = false;  // caps are to be negotiated before the next batch
  bool negotiated_ = true;      // as far as was tried
  bool live_ = false;
  bool begins_segment_ = true;  // before the next batch
  GstClockTime reported_window_ = GST_CLOCK_TIME_NONE;
  TensorDesc out_ = {};
  std::vector<Source> sources_;  // of the slots, those that batch_ was made for; none: to be made
  std::vector<Geometry> geometries_;
};

// --- properties --------------------------------------------------------------------------------

void TensorMux::set_property(guint id, const GValue *value) {
  if (id < kFirstProperty) return set_backend_property(keeper_, id, value);
  const auto effect = properties().set(pending_, id - kFirstProperty, value);
  changed_ |= effect.has_value();
  renegotiate_ |= effect == Effect::renegotiates;
}

void TensorMux::get_property(guint id, GValue *value) {
  if (id < kFirstProperty) return get_backend_property(keeper_, id, value);
  properties()[id - kFirstProperty].get(pending_, value);
}

bool TensorMux::has_room() const {
  const guint most = pending_.batch_size != 0 ? pending_.batch_size : kMostSlots;
  return GST_ELEMENT(element_)->numsinkpads < most;
}

MuxSettings TensorMux::pending() const {
  GST_OBJECT_LOCK(element_);
  MuxSettings copy = pending_;
  GST_OBJECT_UNLOCK(element_);
  return copy;
}

/// Takes over what properties have changed.
void TensorMux::latch() {
  GST_OBJECT_LOCK(element_);
  const bool changed = changed_;
  if (changed) latched_ = pending_;
  renegotiating_ |= renegotiate_;
  changed_ = renegotiate_ = false;
  GST_OBJECT_UNLOCK(element_);
  // The operation goes in its engine's scope; the slots without a camera may not fit any more.
  if (changed) sources_.clear();
}

// --- start and stop ----------------------------------------------------------------------------

bool TensorMux::start() {
  latch();
  errors_.forget();
  flush();
  reported_window_ = GST_CLOCK_TIME_NONE;
  return errors_.guard([&] { keeper_.start(); });
}

void TensorMux::stop() {
  keeper_.stop();
  sources_.clear();
  out_ = {};
  for (const OwnedPad &pad : pads_of(element_)) camera_of(pad.get()).source.reset();
}

// --- negotiation -------------------------------------------------------------------------------

GstCaps *TensorMux::sink_caps(GstCaps *filter) {
  OwnedCaps formats(make_video_template_caps(CUDATENSOR_INPUT_FORMATS));
  if (pending().color == Color::yuv) gst_caps_set_value(formats.get(), "format", yuv_formats());
  GstCaps *caps = formats.release();
  if (keeper_.can_have_cuda_memory(GST_PAD_SINK)) caps = in_both_memories(caps);
  if (filter == nullptr) return caps;
  OwnedCaps all(caps);
  return gst_caps_intersect_full(filter, all.get(), GST_CAPS_INTERSECT_FIRST);
}

bool TensorMux::set_caps(GstAggregatorPad *pad, GstCaps *caps) {
  Camera &camera = camera_of(pad);
  // Frames of caps that are refused are not those before.
  camera.source.reset();
  camera.refusal.clear();
  try {
    const GstVideoInfo info = parse_video_caps(caps);
    camera.source = source_of(caps, info);
    camera.info = info;
  } catch (const std::exception &error) {
    camera.refusal = error.what();
  }
  keeper_.forget_stream();
  // Size and framerate of the batch may follow from it.
  gst_pad_mark_reconfigure(element_->srcpad);
  update_window(pads_of(element_));
  return camera.source.has_value();
}

void TensorMux::set_stream_id(GstAggregatorPad *pad, GstEvent *event) {
  const gchar *id = nullptr;
  gst_event_parse_stream_start(event, &id);
  camera_of(pad).stream_id = id;
}

GstFlowReturn TensorMux::update_src_caps(GstCaps *downstream, GstCaps **result) {
  latch();
  renegotiating_ = false;
  const std::vector<OwnedPad> pads = pads_of(element_);
  const guint slots = latched_.batch_size != 0 ? latched_.batch_size : pads.size();
  const Camera *first = nullptr, *fastest = nullptr;
  for (const OwnedPad &pad : pads) {
    const Camera &camera = camera_of(pad.get());
    if (!camera.source) continue;
    if (first == nullptr) first = fastest = &camera;
    if (frame_duration_of(camera) < frame_duration_of(*fastest)) fastest = &camera;
  }
  if (first == nullptr) return GST_AGGREGATOR_FLOW_NEED_DATA;
  GstStructure *rate = gst_structure_new("rate", "framerate", GST_TYPE_FRACTION,
                                         fastest->info.fps_n, fastest->info.fps_d, nullptr);
  GstCaps *offered = gst_caps_new_empty();
  append_tensors(offered, latched_, slots, rate);
  gst_structure_free(rate);
  if (keeper_.can_have_cuda_memory(GST_PAD_SRC)) offered = in_both_memories(offered);
  OwnedCaps own(offered);
  OwnedCaps wanted(gst_caps_intersect_full(downstream, own.get(), GST_CAPS_INTERSECT_FIRST));
  try {
    *result = choose_tensor(wanted.get(), latched_, slots, first->info.width, first->info.height);
    return GST_FLOW_OK;
  } catch (const std::exception &error) {
    hear_refusal(error.what());
    return GST_FLOW_NOT_NEGOTIATED;
  }
}

/// Sources may have ended, and hear nothing of what becomes of their frames: an error says it.
void TensorMux::hear_refusal(const std::string &cause) {
  if (!GST_PAD_IS_FLUSHING(element_->srcpad))
    errors_.report(Error(Error::Code::settings, "not negotiated: " + cause));
}

bool TensorMux::negotiate() {
  errors_.next_frame();
  negotiated_ = GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->negotiate(element_);
  // Others that have failed have said why.
  if (!negotiated_) hear_refusal("downstream takes no tensors");
  return negotiated_;
}

bool TensorMux::set_src_caps(GstCaps *caps) {
  try {
    out_ = parse_tensor_caps(caps, latched_.layout);
    sources_.clear();
    return true;
  } catch (const std::exception &error) {
    hear_refusal(error.what());
    return false;
  }
}

bool TensorMux::propose_allocation(GstAggregatorPad *pad, GstQuery *query) {
  return keeper_.has_engine() &&
         cudatensor::negotiate(GST_ELEMENT(element_), cudatensormux_debug, [&] {
           Engine &engine = keeper_.engine();
           const EngineScope scope(engine);
           propose_pool(query, camera_of(pad).info.size, engine);
         });
}

bool TensorMux::decide_allocation(GstQuery *query) {
  return errors_.guard([&] {
    Engine &engine = keeper_.engine();
    const EngineScope scope(engine);
    decide_pool(query, out_.bytes(), engine);
  });
}

// --- batches -----------------------------------------------------------------------------------

BatchSchedule::Heads TensorMux::heads(const std::vector<OwnedPad> &pads) const {
  BatchSchedule::Heads heads;
  for (const OwnedPad &pad : pads) {
    const OwnedBuffer head = peek(pad.get());
    if (head != nullptr) heads.push_back(running_time_of(pad.get(), head.get()));
  }
  return heads;
}

/// The clock's running time; none where frames do not come with it.
GstClockTime TensorMux::now() const {
  GstClock *clock = live_ ? gst_element_get_clock(GST_ELEMENT(element_)) : nullptr;
  if (clock == nullptr) return GST_CLOCK_TIME_NONE;
  const GstClockTime time = gst_clock_get_time(clock);
  const GstClockTime base = gst_element_get_base_time(GST_ELEMENT(element_));
  gst_object_unref(clock);
  return time > base ? time - base : 0;
}

std::optional<GstClockTime> TensorMux::next_start(const std::vector<OwnedPad> &pads) const {
  return schedule_.next_start(heads(pads), now());
}

GstClockTime TensorMux::next_time() const {
  // Without a frame there is nothing to wait for but one.
  return next_start(pads_of(element_)).value_or(GST_CLOCK_TIME_NONE);
}

/// Waiting for the frames of a batch is our latency.
void TensorMux::update_window(const std::vector<OwnedPad> &pads) {
  GstClockTime window = latched_.window;
  for (const OwnedPad &pad : pads) {
    const GstClockTime duration = frame_duration_of(camera_of(pad.get()));
    if (latched_.window == 0 && duration != 0 && (window == 0 || duration < window))
      window = duration;
  }
  if (window == 0) window = kUnknownFrameDuration;
  schedule_.set_window(window);
  if (window != reported_window_) gst_aggregator_set_latency(element_, window, window);
  reported_window_ = window;
}

void TensorMux::post_dropped(gpointer where, GstClockTime time, GstClockTime pts) {
  GST_CAT_INFO_OBJECT(cudatensormux_debug, where, "dropping what is late: %" GST_TIME_FORMAT,
                      GST_TIME_ARGS(time));
  GstMessage *message = gst_message_new_qos(GST_OBJECT(where), live_, time, GST_CLOCK_TIME_NONE,
                                            pts, schedule_.window());
  gst_element_post_message(GST_ELEMENT(element_), message);
}

/// As GstBaseTransform takes it: what is late is to be twice as much ahead.
void TensorMux::hear_qos(GstEvent *event) {
  GstClockTimeDiff jitter = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, nullptr, nullptr, &jitter, &time);
  if (!GST_CLOCK_TIME_IS_VALID(time) || static_cast<GstClockTimeDiff>(time) < -jitter) return;
  earliest_ = time + (jitter > 0 ? 2 * jitter : jitter);
}

bool TensorMux::is_late_downstream(GstClockTime start) const {
  const GstClockTime earliest = earliest_;
  return latched_.qos && GST_CLOCK_TIME_IS_VALID(earliest) && start <= earliest;
}

/// The frame of a camera for a batch, or none. Of a live camera that has fallen behind the newest.
Frame TensorMux::take(GstAggregatorPad *pad, GstClockTime start) {
  for (Frame frame;;) {
    const OwnedBuffer head = peek(pad);
    const GstClockTime time = head != nullptr ? running_time_of(pad, head.get()) : 0;
    const bool joins = head != nullptr && schedule_.joins(time, start);
    const bool replaces = frame.buffer == nullptr || (live_ && schedule_.is_late(frame.time));
    if (!joins || !replaces) return frame;
    if (frame.buffer != nullptr) post_dropped(pad, frame.time, GST_BUFFER_PTS(frame.buffer.get()));
    frame = {OwnedBuffer(gst_aggregator_pad_pop_buffer(pad)), time};
  }
}

/// To where the first camera's memory is that lies on a GPU; whether that is elsewhere than before.
bool TensorMux::follow(const std::vector<OwnedPad> &pads) {
  for (const OwnedPad &pad : pads) {
    const OwnedBuffer head = peek(pad.get());
    if (head != nullptr && cuda_memory_of(head.get()) != nullptr) return keeper_.follow(head.get());
  }
  return false;
}

/// Throws Error where a camera shows frames of caps that were refused, or of none. Gaps may come
/// before caps.
void TensorMux::check_caps(const std::vector<OwnedPad> &pads) const {
  for (const OwnedPad &pad : pads) {
    const Camera &camera = camera_of(pad.get());
    if (camera.source) continue;
    const OwnedBuffer head = peek(pad.get());
    if (head != nullptr && is_gap(head.get())) gst_aggregator_pad_drop_buffer(pad.get());
    if (head == nullptr || is_gap(head.get())) continue;
    const std::string cause = camera.refusal.empty() ? "a frame without caps" : camera.refusal;
    throw Error(Error::Code::settings, GST_PAD_NAME(pad.get()) + (": " + cause));
  }
}

GstFlowReturn TensorMux::aggregate(bool timeout) {
  if (!negotiated_)
    return GST_PAD_IS_FLUSHING(element_->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
  errors_.next_frame();
  const std::vector<OwnedPad> pads = pads_of(element_);
  live_ = GST_CLOCK_TIME_IS_VALID(gst_aggregator_get_latency(element_));
  latch();
  update_window(pads);
  // A frame that seemed to be there may have been clipped.
  const bool complete = std::all_of(pads.begin(), pads.end(), has_spoken);
  if (!timeout && !complete) return GST_AGGREGATOR_FLOW_NEED_DATA;
  const auto start = next_start(pads);
  if (!start) {
    const bool ended = !pads.empty() && std::all_of(pads.begin(), pads.end(), [](const auto &pad) {
      return gst_aggregator_pad_is_eos(pad.get());
    });
    return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  gst_object_sync_values(GST_OBJECT(element_), *start);
  latch();
  Slots slots;
  const bool possible = errors_.guard([&] {
    check_caps(pads);
    slots = assign_slots(pads, latched_.batch_size);
    renegotiating_ |= follow(pads) || out_.n != static_cast<int64_t>(slots.size());
  });
  if (!possible) return GST_FLOW_ERROR;
  if (renegotiating_) {
    gst_pad_mark_reconfigure(element_->srcpad);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  GST_CAT_LOG_OBJECT(cudatensormux_debug, element_, "batch at %" GST_TIME_FORMAT "%s",
                     GST_TIME_ARGS(*start), timeout ? ", not all cameras in time" : "");
  Batch batch(std::move(slots), *start);
  const bool pictures = collect(batch);
  schedule_.begun(*start);
  const bool late = is_late_downstream(*start);
  if (pictures && late) post_dropped(element_, *start, *start);
  if (!pictures || late) return GST_AGGREGATOR_FLOW_NEED_DATA;
  OwnedBuffer buffer = compute(batch);
  return buffer != nullptr ? push(batch, std::move(buffer)) : GST_FLOW_ERROR;
}

/// Takes the cameras' frames; whether there is a picture among them.
bool TensorMux::collect(Batch &batch) {
  bool pictures = false;
  for (size_t i = 0; i < batch.slots.size(); ++i) {
    GstAggregatorPad *pad = batch.slots[i];
    if (pad == nullptr) continue;
    const Camera &camera = camera_of(pad);
    Frame &frame = batch.frames[i];
    BatchSlot &meta = batch.meta[i];
    meta.pad_index = camera.index;
    meta.stream_id = camera.stream_id;
    frame = take(pad, batch.start);
    if (frame.buffer == nullptr || is_gap(frame.buffer.get())) continue;
    batch.inputs[i] = {frame.buffer.get(), &camera.info, GST_PAD_NAME(pad)};
    meta.picture = frame.buffer.get();
    meta.running_time = frame.time;
    batch.timed |= GST_CLOCK_TIME_IS_VALID(frame.time);
    pictures = true;
  }
  return pictures;
}

/// Slots without a picture keep their place in the operation, so that it serves a camera that
/// returns.
void TensorMux::prepare(Engine &engine, const Batch &batch) {
  std::vector<Source> sources = sources_;
  sources.resize(batch.slots.size());
  const Source *any = nullptr;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (batch.inputs[i].buffer == nullptr) continue;
    sources[i] = *camera_of(batch.slots[i]).source;
    any = &sources[i];
  }
  for (Source &source : sources)
    if (source.image.width == 0) source = *any;
  if (batch_ != nullptr &&
      std::equal(sources.begin(), sources.end(), sources_.begin(), sources_.end(), is_same))
    return;
  for (const BatchInput &input : batch.inputs)
    if (input.buffer != nullptr && (latched_.color == Color::rgb || latched_.color == Color::bgr))
      check_matrix(*input.info);
  release();
  out_ = desc_of(dimensions_of(out_), latched_.dtype, latched_.layout);
  batch_ = engine.backend().normalize_batch(sources, latched_.params(sources[0], out_));
  geometries_.clear();
  TensorDesc slot = out_;
  slot.n = 1;
  for (const Source &source : sources) geometries_.push_back(latched_.geometry(source.image, slot));
  sources_ = sources;
}

/// Not a pool's own words alone: the cause.
OwnedBuffer TensorMux::acquire(Engine &engine) {
  GstBuffer *buffer = nullptr;
  GstAllocator *allocator = nullptr;
  GstAllocationParams params;
  gst_aggregator_get_allocator(element_, &allocator, &params);
  GstBufferPool *pool = gst_aggregator_get_buffer_pool(element_);
  if (pool == nullptr)
    buffer = gst_buffer_new_allocate(allocator, out_.bytes(), &params);
  else if (gst_buffer_pool_set_active(pool, TRUE))
    gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr);
  gst_clear_object(&pool);
  const std::unique_ptr<GstAllocator, UnrefObject> owner(allocator);
  if (buffer == nullptr) fail_to_allocate(out_.bytes(), engine, allocator);
  return OwnedBuffer(buffer);
}

/// None where it failed, with the error reported.
OwnedBuffer TensorMux::compute(Batch &batch) {
  OwnedBuffer out;
  const bool done = errors_.guard([&] {
    Engine &engine = keeper_.engine();
    const EngineScope scope(engine);
    prepare(engine, batch);
    for (size_t i = 0; i < batch.meta.size(); ++i) batch.meta[i].geometry = geometries_[i];
    out = acquire(engine);
    run_batch(engine, *batch_, batch.inputs, out_, out.get());
    attach_batch(out.get(), batch.meta);
  });
  return done ? std::move(out) : nullptr;
}

/// GstAggregator's own after a seek is the seek's, in the time of the cameras' streams. Ours is in
/// running time, which begins anew.
void TensorMux::begin_segment() {
  GstSegment own;
  gst_segment_init(&own, GST_FORMAT_TIME);
  GST_OBJECT_LOCK(element_->srcpad);
  const GstSegment &asked = GST_AGGREGATOR_PAD(element_->srcpad)->segment;
  if (asked.rate > 0.0 && GST_CLOCK_TIME_IS_VALID(asked.time)) own.time = asked.time;
  own.applied_rate = asked.rate * asked.applied_rate;
  GST_OBJECT_UNLOCK(element_->srcpad);
  gst_aggregator_update_segment(element_, &own);
  begins_segment_ = false;
}

GstFlowReturn TensorMux::push(const Batch &batch, OwnedBuffer buffer) {
  if (begins_segment_) begin_segment();
  GST_BUFFER_PTS(buffer.get()) = batch.timed ? batch.start : GST_CLOCK_TIME_NONE;
  GST_BUFFER_DTS(buffer.get()) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer.get()) = schedule_.window();
  GST_AGGREGATOR_PAD(element_->srcpad)->segment.position = batch.start;
  gst_aggregator_selected_samples(element_, GST_BUFFER_PTS(buffer.get()), GST_CLOCK_TIME_NONE,
                                  GST_BUFFER_DURATION(buffer.get()), nullptr);
  const GstFlowReturn flow = gst_aggregator_finish_buffer(element_, buffer.release());
  // Sources hear of it with their next frame, if there is one. Others have said what failed.
  if (flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_NOT_NEGOTIATED)
    GST_ELEMENT_FLOW_ERROR(element_, flow);
  return flow;
}

TensorMux &mux_of(gpointer element) { return *static_cast<GstCudaTensorMux *>(element)->mux; }

// --- GStreamer ---------------------------------------------------------------------------------

GstAggregatorPad *create_new_pad(GstAggregator *aggregator, GstPadTemplate *templ,
                                 const gchar *name, const GstCaps *caps) {
  GST_OBJECT_LOCK(aggregator);
  const bool room = mux_of(aggregator).has_room();
  GST_OBJECT_UNLOCK(aggregator);
  if (!room) {
    GST_WARNING_OBJECT(aggregator, "no sink pad beyond the batch size");
    return nullptr;
  }
  GstAggregatorPad *pad = GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)
                              ->create_new_pad(aggregator, templ, name, caps);
  if (pad != nullptr)
    camera_of(pad).index =
        static_cast<int>(g_ascii_strtoull(GST_PAD_NAME(pad) + strlen("sink_"), nullptr, 10));
  return pad;
}

GstBuffer *clip(GstAggregator *, GstAggregatorPad *pad, GstBuffer *buffer) {
  const GstClockTime begin = GST_BUFFER_PTS(buffer);
  if (!GST_CLOCK_TIME_IS_VALID(begin)) return buffer;
  const GstClockTime end =
      begin + (GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer)
                                                    : frame_duration_of(camera_of(pad)));
  GST_OBJECT_LOCK(pad);
  const bool inside =
      pad->segment.format != GST_FORMAT_TIME ||
      gst_segment_clip(&pad->segment, GST_FORMAT_TIME, begin, end, nullptr, nullptr);
  GST_OBJECT_UNLOCK(pad);
  if (inside) return buffer;
  gst_buffer_unref(buffer);
  return nullptr;
}

gboolean sink_event(GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps *caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const bool taken = mux_of(aggregator).set_caps(pad, caps);
    gst_event_unref(event);
    return taken;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) mux_of(aggregator).set_stream_id(pad, event);
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->sink_event(aggregator, pad, event);
}

gboolean sink_query(GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && mux_of(aggregator).keeper().answer(query))
    return TRUE;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)
        ->sink_query(aggregator, pad, query);
  GstCaps *filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const OwnedCaps caps(mux_of(aggregator).sink_caps(filter));
  gst_query_set_caps_result(query, caps.get());
  return TRUE;
}

gboolean src_query(GstAggregator *aggregator, GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && mux_of(aggregator).keeper().answer(query))
    return TRUE;
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->src_query(aggregator, query);
}

gboolean src_event(GstAggregator *aggregator, GstEvent *event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) mux_of(aggregator).hear_qos(event);
  return GST_AGGREGATOR_CLASS(gst_cuda_tensor_mux_parent_class)->src_event(aggregator, event);
}

void set_context(GstElement *element, GstContext *context) {
  mux_of(element).keeper().set_context(context);
  GST_ELEMENT_CLASS(gst_cuda_tensor_mux_parent_class)->set_context(element, context);
}

void set_property(GObject *object, guint id, const GValue *value, GParamSpec *) {
  GST_OBJECT_LOCK(object);
  mux_of(object).set_property(id, value);
  GST_OBJECT_UNLOCK(object);
}

void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  GST_OBJECT_LOCK(object);
  mux_of(object).get_property(id, value);
  GST_OBJECT_UNLOCK(object);
}

void finalize_mux(GObject *object) {
  delete &mux_of(object);
  G_OBJECT_CLASS(gst_cuda_tensor_mux_parent_class)->finalize(object);
}

void finalize_pad(GObject *object) {
  delete &camera_of(GST_AGGREGATOR_PAD(object));
  G_OBJECT_CLASS(gst_cuda_tensor_mux_pad_parent_class)->finalize(object);
}

void add_pad_templates(GstElementClass *klass) {
  GstCaps *sink = make_video_template_caps(CUDATENSOR_INPUT_FORMATS);
  GstCaps *src =
      make_tensor_template_caps({DType::float32, DType::float16, DType::uint8, DType::int8});
  if (cuda_is_built()) {
    sink = in_both_memories(sink);
    src = in_both_memories(src);
  }
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new_with_gtype("sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, sink,
                                             gst_cuda_tensor_mux_pad_get_type()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, src,
                                             GST_TYPE_AGGREGATOR_PAD));
  gst_caps_unref(sink);
  gst_caps_unref(src);
}

void set_aggregator_functions(GstAggregatorClass *klass) {
  klass->create_new_pad = create_new_pad;
  klass->clip = clip;
  klass->sink_event = sink_event;
  klass->sink_query = sink_query;
  klass->src_query = src_query;
  klass->src_event = src_event;
  klass->start = [](GstAggregator *a) -> gboolean { return mux_of(a).start(); };
  klass->stop = [](GstAggregator *a) -> gboolean {
    mux_of(a).stop();
    return TRUE;
  };
  klass->flush = [](GstAggregator *a) {
    mux_of(a).flush();
    return GST_FLOW_OK;
  };
  klass->get_next_time = [](GstAggregator *a) { return mux_of(a).next_time(); };
  klass->aggregate = [](GstAggregator *a, gboolean timeout) {
    return mux_of(a).aggregate(timeout);
  };
  klass->negotiate = [](GstAggregator *a) -> gboolean { return mux_of(a).negotiate(); };
  klass->update_src_caps = [](GstAggregator *a, GstCaps *downstream, GstCaps **result) {
    return mux_of(a).update_src_caps(downstream, result);
  };
  klass->negotiated_src_caps = [](GstAggregator *a, GstCaps *caps) -> gboolean {
    return mux_of(a).set_src_caps(caps);
  };
  klass->propose_allocation = [](GstAggregator *a, GstAggregatorPad *pad, GstQuery *,
                                 GstQuery *query) -> gboolean {
    return mux_of(a).propose_allocation(pad, query);
  };
  klass->decide_allocation = [](GstAggregator *a, GstQuery *query) -> gboolean {
    return mux_of(a).decide_allocation(query);
  };
}

}  // namespace
}  // namespace cudatensor

static void gst_cuda_tensor_mux_pad_class_init(GstCudaTensorMuxPadClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = cudatensor::finalize_pad;
}

static void gst_cuda_tensor_mux_pad_init(GstCudaTensorMuxPad *self) {
  self->camera = new cudatensor::Camera;
}

static void gst_cuda_tensor_mux_class_init(GstCudaTensorMuxClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudatensormux_debug, "cudatensormux", 0, "cudatensormux");
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = cudatensor::set_property;
  object->get_property = cudatensor::get_property;
  object->finalize = cudatensor::finalize_mux;
  cudatensor::install_backend_properties(object);
  cudatensor::properties().install(object, cudatensor::kFirstProperty);

  auto *element = GST_ELEMENT_CLASS(klass);
  element->set_context = cudatensor::set_context;
  cudatensor::add_pad_templates(element);
  gst_element_class_set_static_metadata(
      element, "CUDA tensor mux", "Muxer/Filter/Converter/Video/Scaler/Hardware",
      "Turns the pictures of several cameras into one batch for a network",
      "The gst-cudatensor developers");
  gst_type_mark_as_plugin_api(gst_cuda_tensor_mux_pad_get_type(),
                              static_cast<GstPluginAPIFlags>(0));

  cudatensor::set_aggregator_functions(GST_AGGREGATOR_CLASS(klass));
}

static void gst_cuda_tensor_mux_init(GstCudaTensorMux *self) {
  self->mux = new cudatensor::TensorMux(GST_AGGREGATOR(self));
}
