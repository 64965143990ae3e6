// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/tensormuxer.h"

#include <algorithm>

#include "gst/base/allocation.h"
#include "gst/caps/memorycaps.h"
#include "gst/caps/videocaps.h"
#include "gst/util/log.h"
#include "gst/util/ref.h"

namespace cudatensor {
namespace {

constexpr guint64 kMaxWindow = 3600 * GST_SECOND;
constexpr GstClockTime kUnknownFrameDuration = 40 * GST_MSECOND;

}  // namespace

const Properties<MuxSettings> &mux_properties() {
  static const Properties<MuxSettings> &table = immortal([] {
    Properties<MuxSettings> t;
    add_tensor_properties(t,
                          "Number of slots of each camera; 0 = one for each region of the list or "
                          "tile, 16 for regions=meta");
    t.add(uint_property("batch-size", "Batch size",
                        "Number of cameras in a batch, each with one slot, or with one for each "
                        "region; 0 = the number of sink pads",
                        0, kMaxSlots, 0),
          Effect::renegotiates, [](MuxSettings &s) -> guint & { return s.batch_size; });
    t.add(uint64_property("window", "Window",
                          "Frames less than this time apart form one batch, in ns; 0 = the frame "
                          "duration of the fastest camera",
                          kMaxWindow, 0),
          Effect::next_frame, [](MuxSettings &s) -> guint64 & { return s.window; });
    t.add(bool_property("qos", "QoS", "Drop batches that would be late downstream", true),
          Effect::next_frame, [](MuxSettings &s) -> bool & { return s.qos; });
    return t;
  });
  return table;
}

// --- properties --------------------------------------------------------------------------------

/// Needs no effect for the number of regions: aggregate() notices that a batch has another number
/// of slots.
std::optional<Effect> TensorMuxer::set_property(guint index, const GValue *value) {
  return set_given(settings_.pending(), mux_properties(), index, value);
}

Configurable::Change TensorMuxer::prepare_change(guint index, const GValue *value) {
  return change_of_model(GST_ELEMENT(element_), category_, settings_.pending(), mux_properties(),
                         index, value);
}

bool TensorMuxer::has_free_slot() const {
  const guint batch_size = settings_.pending().batch_size;
  const guint most = batch_size != 0 ? batch_size : kMaxSlots;
  return GST_ELEMENT(element_)->numsinkpads < most;
}

void TensorMuxer::use(const NetworkInput &network) {
  network_ = network;
  used_ = latched();
  adopt(used_, network);
}

void TensorMuxer::apply_changes() {
  const auto changes = core_.latch();
  if (changes.any) use(network_);
  renegotiating_ |= changes.renegotiate;
  for (const Ref<GstAggregatorPad> &pad : sorted_sink_pads(element_)) {
    renegotiating_ |= latch_direction(pad.get());
    if (changes.any) camera_of(pad.get()).faulty_frames.end_run();
  }
}

// --- start and stop ----------------------------------------------------------------------------

bool TensorMuxer::start() {
  flush();
  reported_window_ = GST_CLOCK_TIME_NONE;
  const bool started = core_.start();
  apply_changes();
  return started;
}

void TensorMuxer::flush() {
  frames_.schedule().reset();
  earliest_ = GST_CLOCK_TIME_NONE;
  begins_segment_ = true;
  for (const Ref<GstAggregatorPad> &pad : sorted_sink_pads(element_)) camera_of(pad.get()).lag = {};
}

void TensorMuxer::stop() {
  core_.session_manager().stop();
  out_ = {};
  network_ = {};
  for (const Ref<GstAggregatorPad> &pad : sorted_sink_pads(element_)) {
    camera_of(pad.get()).has_caps = false;
    forget_tags(camera_of(pad.get()).direction);
    camera_of(pad.get()).refusal.reset();
    camera_of(pad.get()).faulty_frames.begin();
  }
}

// --- negotiation -------------------------------------------------------------------------------

GstCaps *TensorMuxer::sink_caps(GstCaps *filter) {
  Ref<GstCaps> formats(make_video_template_caps(input_formats()));
  if (pending().normalize.color == Color::yuv)
    gst_caps_set_value(formats.get(), "format", yuv_formats());
  GstCaps *caps = with_memories(formats.release(), core_.session_manager().memories(GST_PAD_SINK));
  if (filter == nullptr) return caps;
  Ref<GstCaps> all(caps);
  return gst_caps_intersect_full(filter, all.get(), GST_CAPS_INTERSECT_FIRST);
}

bool TensorMuxer::set_caps(GstAggregatorPad *pad, GstCaps *caps) {
  Camera &camera = camera_of(pad);
  // Set first, so that frames that follow refused caps are not read with the previous ones.
  camera.has_caps = false;
  try {
    const InputCaps input = parse_single_input_caps(caps);
    check_colors(pending(), caps);
    camera.input = input;
    camera.has_caps = true;
    if (camera.caps == nullptr || !gst_caps_is_equal(camera.caps.get(), caps)) camera.rate = {};
    camera.caps.reset(gst_caps_ref(caps));
    camera.faulty_frames.begin();
    const std::string warning = hdr_warning(input.info);
    if (!warning.empty()) core_.errors().warn(GST_PAD_NAME(pad) + (": " + warning));
  } catch (const std::exception &error) {
    camera.refusal = error_of(error);
  }
  core_.session_manager().allow_stream_change();
  // Size and frame rate of the batch may depend on the caps of this pad.
  gst_pad_mark_reconfigure(element_->srcpad);
  update_window(sorted_sink_pads(element_));
  return camera.has_caps;
}

void TensorMuxer::set_stream_id(GstAggregatorPad *pad, GstEvent *event) {
  const gchar *id = nullptr;
  gst_event_parse_stream_start(event, &id);
  camera_of(pad).stream_id = id;
  camera_of(pad).lag = {};
}

void TensorMuxer::follow_direction(GstAggregatorPad *pad, GstEvent *event) {
  if (follow_event(camera_of(pad).direction, event))
    gst_pad_mark_reconfigure(element_->srcpad);  // the batch may have the size of this picture
}

namespace {

void check_layout(Layout layout) {
  if (layout == Layout::ncthw)
    throw Error(Error::Code::settings,
                "layout=ncthw is the layout of a clip, which only cudanormalize makes");
}

}  // namespace

GstFlowReturn TensorMuxer::update_src_caps(GstCaps *downstream, GstCaps **result) {
  apply_changes();
  renegotiating_ = false;
  const std::vector<Ref<GstAggregatorPad>> pads = sorted_sink_pads(element_);
  const guint cameras = latched().batch_size != 0 ? latched().batch_size : pads.size();
  GstAggregatorPad *first = nullptr;
  const Camera *fastest = nullptr;
  for (const Ref<GstAggregatorPad> &pad : pads) {
    const Camera &camera = camera_of(pad.get());
    if (!camera.has_caps) continue;
    if (first == nullptr) {
      first = pad.get();
      fastest = &camera;
    }
    if (announced_duration_of(camera) < announced_duration_of(*fastest)) fastest = &camera;
  }
  if (first == nullptr) return GST_AGGREGATOR_FLOW_NEED_DATA;
  const int64_t slots = batch_of(cameras);
  const bool has_rate = announced_duration_of(*fastest) != 0;
  GstStructure *rate = gst_structure_new("rate", "framerate", GST_TYPE_FRACTION,
                                         has_rate ? fastest->input.info.fps_n : 0,
                                         has_rate ? fastest->input.info.fps_d : 1, nullptr);
  MuxSettings s = latched();
  adopt(s, network_input_of(downstream));
  GstCaps *offered = gst_caps_new_empty();
  append_tensors(offered, s, slots, rate);
  gst_structure_free(rate);
  offered = with_memories(offered, core_.session_manager().memories(GST_PAD_SRC));
  Ref<GstCaps> own(offered);
  Ref<GstCaps> wanted(gst_caps_intersect_full(downstream, own.get(), GST_CAPS_INTERSECT_FIRST));
  try {
    check_regions(s.regions);
    check_layout(s.layout);
    if (slots > kMaxSlots)
      throw Error(Error::Code::settings,
                  std::to_string(cameras) + " cameras with " + std::to_string(s.regions.slots()) +
                      " regions each: a batch has at most " + std::to_string(kMaxSlots) + " slots");
    const ImageDesc picture = seen_source(first).seen();
    *result = choose_tensor(wanted.get(), downstream, s, slots, picture.width, picture.height);
    return GST_FLOW_OK;
  } catch (const std::exception &error) {
    const auto &unread = s.model.error;  // may be the cause
    report_negotiation_error(unread ? *unread : error_of(error));
    return GST_FLOW_NOT_NEGOTIATED;
  }
}

/// Returns the number of slots of a batch of so many cameras.
int64_t TensorMuxer::batch_of(size_t cameras) const {
  return static_cast<int64_t>(cameras) * latched().regions.slots();
}

/// Posts an error, because sources that have ended receive no flow error.
void TensorMuxer::report_negotiation_error(const Error &cause) {
  if (!GST_PAD_IS_FLUSHING(element_->srcpad))
    core_.errors().report(Error(cause.code(), std::string("not negotiated: ") + cause.what()));
}

bool TensorMuxer::finish_negotiation(bool negotiated) {
  negotiated_ = negotiated;
  if (negotiated) return true;
  // If a step has failed before, it has already posted the only error.
  const Ref<GstCaps> taken(gst_pad_peer_query_caps(element_->srcpad, nullptr));
  report_negotiation_error(Error(
      Error::Code::settings,
      "downstream accepts " + text_of(taken.get()) + ", but the element produces other/tensors"));
  return false;
}

bool TensorMuxer::set_src_caps(GstCaps *caps) {
  try {
    use(network_input_of(caps));
    out_ = parse_tensor_caps(caps, used_.layout);
    return true;
  } catch (const std::exception &error) {
    report_negotiation_error(error_of(error));
    return false;
  }
}

bool TensorMuxer::propose_allocation(GstAggregatorPad *pad, GstQuery *query) {
  return core_.propose_allocation(query, camera_of(pad).input.info.size);
}

// --- batches -----------------------------------------------------------------------------------

GstClockTime TensorMuxer::next_time() const {
  // Without a frame there is no time to wait for, only the next frame.
  const auto heads = frames_.heads(sorted_sink_pads(element_));
  return frames_.next_start(heads).value_or(GST_CLOCK_TIME_NONE);
}

/// Sets the window and reports it as the latency, because a batch waits that long for its frames.
void TensorMuxer::update_window(const std::vector<Ref<GstAggregatorPad>> &pads) {
  GstClockTime window = latched().window;
  for (const Ref<GstAggregatorPad> &pad : pads) {
    const GstClockTime duration = frame_duration_of(camera_of(pad.get()));
    if (latched().window != 0) continue;
    if (duration != 0 && (window == 0 || duration < window)) window = duration;
    const std::string warning = framerate_warning(camera_of(pad.get()));
    if (!warning.empty()) core_.errors().warn(GST_PAD_NAME(pad.get()) + (": " + warning));
  }
  if (window == 0) window = kUnknownFrameDuration;
  frames_.schedule().set_window(window);
  if (window != reported_window_) gst_aggregator_set_latency(element_, window, window);
  reported_window_ = window;
}

/// Skips twice the delay after a late frame, as GstBaseTransform does.
void TensorMuxer::handle_qos(GstEvent *event) {
  GstClockTimeDiff jitter = 0;
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, nullptr, nullptr, &jitter, &time);
  if (!GST_CLOCK_TIME_IS_VALID(time)) return;
  earliest_ = time + (jitter > 0 ? 2 * jitter : jitter);
}

bool TensorMuxer::is_late_downstream(GstClockTime start) const {
  const GstClockTime earliest = earliest_;
  return latched().qos && GST_CLOCK_TIME_IS_VALID(earliest) && start <= earliest;
}

/// Follows the first surface of NVMM that can be used. Returns whether any camera has surfaces:
/// unlike CUDAMemory, they cannot be copied through the host, so one that is late keeps the others
/// where it will be.
bool TensorMuxer::follow_surfaces(const MuxFrames::Pads &pads, const std::vector<Frame> &heads,
                                  bool &moved) {
  bool has_surfaces = false;
  for (size_t i = 0; i < pads.size(); ++i) {
    const Camera &camera = camera_of(pads[i].get());
    if (!camera.has_caps || !camera.input.in_nvmm) continue;
    has_surfaces = true;
    if (!heads[i].is_picture()) continue;
    // The batch reports a frame that cannot be used.
    const auto fault = frame_fault_of(
        [&] { moved = core_.session_manager().follow_surfaces(heads[i].buffer.get()); });
    if (!fault) break;
  }
  return has_surfaces;
}

/// Moves the session to the first GPU memory found. Returns whether it moved.
bool TensorMuxer::follow(const MuxFrames::Pads &pads, const std::vector<Frame> &heads) {
  bool moved = false;
  if (follow_surfaces(pads, heads, moved)) return moved;
  SessionManager &manager = core_.session_manager();
  for (const Frame &head : heads)
    if (head.buffer != nullptr && manager.is_on_device(head.buffer.get()))
      return manager.follow(head.buffer.get());
  return false;
}

/// Throws Error if a camera has a frame whose caps were refused or are missing. Gaps may come before
/// caps.
void TensorMuxer::check_caps(const MuxFrames::Pads &pads, const std::vector<Frame> &heads) const {
  for (size_t i = 0; i < pads.size(); ++i) {
    const Camera &camera = camera_of(pads[i].get());
    if (camera.has_caps || !heads[i].is_picture()) continue;
    const Error cause =
        camera.refusal.value_or(Error(Error::Code::settings, "a frame has no caps"));
    throw Error(cause.code(), GST_PAD_NAME(pads[i].get()) + std::string(": ") + cause.what());
  }
}

/// Returns the start of the next batch; no value if it has to wait for frames. `heads` become the
/// first frames.
std::optional<GstClockTime> TensorMuxer::start_of_next(const MuxFrames::Pads &pads, bool timeout,
                                                       std::vector<Frame> &heads) {
  heads = frames_.heads(pads);
  const auto start = frames_.next_start(heads);
  if (!start) return start;
  // A waiting frame may have been clipped, or dropped as too old. Upstream may send another in a
  // moment, but the cameras that are in time do not wait longer for it.
  const bool ready = frames_.are_ready(pads, *start);
  if (!ready && !timeout && !frames_.is_due(*start)) return std::nullopt;
  heads = frames_.heads(pads);
  return frames_.next_start(heads);
}

GstFlowReturn TensorMuxer::aggregate(bool timeout) {
  if (!negotiated_)
    return GST_PAD_IS_FLUSHING(element_->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
  core_.errors().next_frame();
  const std::vector<Ref<GstAggregatorPad>> pads = sorted_sink_pads(element_);
  frames_.set_live(GST_CLOCK_TIME_IS_VALID(gst_aggregator_get_latency(element_)));
  apply_changes();
  update_window(pads);
  std::vector<Frame> heads;
  const auto start = start_of_next(pads, timeout, heads);
  if (!start) return all_pads_eos(pads) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  gst_object_sync_values(GST_OBJECT(element_), *start);
  for (const Ref<GstAggregatorPad> &pad : pads)
    gst_object_sync_values(GST_OBJECT(pad.get()), *start);
  apply_changes();
  SlotPads pads_by_slot;
  const bool possible = core_.errors().guard([&] {
    check_caps(pads, heads);
    pads_by_slot = assign_slots(pads, latched().batch_size);
    renegotiating_ |= follow(pads, heads) || out_.n != batch_of(pads_by_slot.size());
  });
  if (!possible) return GST_FLOW_ERROR;
  if (renegotiating_) {
    gst_pad_mark_reconfigure(element_->srcpad);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  GST_CAT_LOG_OBJECT(category_, element_, "batch at %" GST_TIME_FORMAT "%s", GST_TIME_ARGS(*start),
                     timeout ? ", not all cameras in time" : "");
  MuxBatch batch(std::move(pads_by_slot), *start);
  heads.clear();  // pools may wait for frames that the batch does not use
  collect(batch);
  frames_.schedule().begun(*start);
  const bool late = is_late_downstream(*start);
  if (batch.has_picture() && late) frames_.post_dropped(element_, *start, *start);
  if (!batch.has_picture() || late) return GST_AGGREGATOR_FLOW_NEED_DATA;
  Ref<GstBuffer> buffer = compute(batch);
  if (buffer == nullptr) return GST_FLOW_ERROR;
  warn_of_faults(batch);
  return batch.has_picture() ? push(batch, std::move(buffer)) : GST_AGGREGATOR_FLOW_NEED_DATA;
}

/// Takes the cameras' frames.
void TensorMuxer::collect(MuxBatch &batch) {
  for (size_t i = 0; i < batch.pads().size(); ++i) {
    GstAggregatorPad *pad = batch.pads()[i];
    if (pad == nullptr) continue;
    batch.set_frame(i, frames_.take(pad, batch.start()));
    if (!camera_of(pad).lag.is_behind()) continue;
    core_.errors().warn(GST_PAD_NAME(pad) +
                        std::string(": the camera's frames are always late and are used beside "
                                    "newer ones of other cameras. Its clock may be wrong, or its "
                                    "latency unknown upstream"));
  }
}

/// Returns an output buffer. Throws the Error that is the cause of a failure, which a pool does not
/// report.
Ref<GstBuffer> TensorMuxer::acquire(Session &session) {
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
  const Ref<GstAllocator> owner(allocator);
  if (buffer == nullptr) throw_allocation_error(out_.bytes(), session, allocator);
  return Ref<GstBuffer>(buffer);
}

/// Returns null and reports the error on failure.
Ref<GstBuffer> TensorMuxer::compute(MuxBatch &batch) {
  Ref<GstBuffer> out;
  const bool done = core_.with_session([&](Session &session) {
    out_ = desc_of(dimensions_of(out_), used_.dtype, used_.layout);
    maker_.prepare(session.backend(), used_, out_);
    out = acquire(session);
    const bool is_made = maker_.make(session, used_, batch.inputs(), out.get());
    batch.drop_faulty(maker_.pictures());
    if (is_made) attach_slots(out.get(), maker_.describe(batch.wholes()));
  });
  return done ? std::move(out) : nullptr;
}

/// Called after the batch is made, because only then is it known which frames could not be used.
void TensorMuxer::warn_of_faults(const MuxBatch &batch) {
  for (size_t i = 0; i < batch.pads().size(); ++i) {
    const auto &[found, fault] = maker_.pictures()[i];
    if (!fault && !batch.has_picture(i)) continue;
    FaultyFrames &faulty = camera_of(batch.pads()[i]).faulty_frames;
    const std::string name = GST_PAD_NAME(batch.pads()[i]);
    if (fault)
      faulty.add(core_.errors(), name + ": a frame is not used: " + fault->what());
    else if (!found.reason.empty())
      faulty.add(core_.errors(), name + ": a slot has no picture: " + found.reason);
    faulty.end_frame();
  }
}

namespace {

/// Converts the requested segment from the streams' time to running time, which restarts.
GstSegment in_running_time(const GstSegment &asked) {
  GstSegment own;
  gst_segment_init(&own, GST_FORMAT_TIME);
  own.applied_rate = asked.rate * asked.applied_rate;
  if (GST_CLOCK_TIME_IS_VALID(asked.time)) own.time = asked.time;
  // In reverse playback, running time counts from the end of the stream. One nanosecond more keeps
  // the last frame, at the very beginning, inside the segment, or sinks would drop it.
  if (asked.rate < 0.0 && GST_CLOCK_TIME_IS_VALID(asked.stop))
    own.stop =
        1 + static_cast<GstClockTime>(static_cast<double>(asked.stop - asked.start) / -asked.rate);
  return own;
}

}  // namespace

/// Replaces GstAggregator's segment, which after a seek is the requested one, by a segment in
/// running time.
void TensorMuxer::begin_segment() {
  GstAggregatorPad *src = GST_AGGREGATOR_PAD(element_->srcpad);
  const GstSegment own = locked(src, [&] { return in_running_time(src->segment); });
  gst_aggregator_update_segment(element_, &own);
  begins_segment_ = false;
}

GstFlowReturn TensorMuxer::push(const MuxBatch &batch, Ref<GstBuffer> buffer) {
  if (begins_segment_) begin_segment();
  GST_BUFFER_PTS(buffer.get()) = batch.has_time() ? batch.start() : GST_CLOCK_TIME_NONE;
  GST_BUFFER_DTS(buffer.get()) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer.get()) = frames_.schedule().window();
  GstAggregatorPad *src = GST_AGGREGATOR_PAD(element_->srcpad);
  locked(src, [&] { src->segment.position = batch.start(); });
  gst_aggregator_selected_samples(element_, GST_BUFFER_PTS(buffer.get()), GST_CLOCK_TIME_NONE,
                                  GST_BUFFER_DURATION(buffer.get()), nullptr);
  const GstFlowReturn flow = gst_aggregator_finish_buffer(element_, buffer.release());
  // Sources receive the flow error only with their next frame. For other errors, another element
  // has posted the cause.
  if (flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_NOT_NEGOTIATED)
    GST_ELEMENT_FLOW_ERROR(element_, flow);
  return flow;
}

}  // namespace cudatensor
