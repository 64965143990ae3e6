// SPDX-License-Identifier: LGPL-2.1-or-later
#include "muxrig.h"

#include "backend.h"
#include "reference.h"

namespace cudatensor {
namespace {

template <class T>
T field_of(const GstStructure *s, const char *field, GType type, T (*get)(const GValue *)) {
  const GValue *value = gst_structure_get_value(s, field);
  if (value == nullptr || !G_VALUE_HOLDS(value, type)) {
    ADD_FAILURE() << field << " is no " << g_type_name(type);
    return {};
  }
  return get(value);
}

int int_of(const GstStructure *s, const char *field) {
  return field_of(s, field, G_TYPE_INT, g_value_get_int);
}

GstClockTime time_of(const GstStructure *s, const char *field) {
  return field_of<guint64>(s, field, G_TYPE_UINT64, g_value_get_uint64);
}

BatchSlotMeta slot_of(const GstStructure *s) {
  BatchSlotMeta slot = {};
  slot.valid = field_of(s, "valid", G_TYPE_BOOLEAN, g_value_get_boolean) != FALSE;
  slot.pad_index = int_of(s, "pad-index");
  if (gst_structure_has_field(s, "stream-id"))
    slot.stream_id = field_of(s, "stream-id", G_TYPE_STRING, g_value_get_string);
  if (!slot.valid) {
    EXPECT_FALSE(gst_structure_has_field(s, "pts"));
    EXPECT_FALSE(gst_structure_has_field(s, "matrix"));
    return slot;
  }
  slot.pts = time_of(s, "pts");
  slot.duration = time_of(s, "duration");
  slot.running_time = time_of(s, "running-time");
  slot.src_width = int_of(s, "src-width");
  slot.src_height = int_of(s, "src-height");
  slot.pad_left = int_of(s, "pad-left");
  slot.pad_top = int_of(s, "pad-top");
  slot.content_width = int_of(s, "content-width");
  slot.content_height = int_of(s, "content-height");
  EXPECT_TRUE(gst_structure_has_field_typed(s, "matrix", GST_TYPE_ARRAY));
  EXPECT_TRUE(gst_structure_has_field_typed(s, "inverse", GST_TYPE_ARRAY));
  return slot;
}

}  // namespace

std::vector<BatchSlotMeta> slots_of(GstBuffer *batch) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(batch, "GstCudaTensorBatchMeta");
  if (meta == nullptr) {
    ADD_FAILURE() << "no GstCudaTensorBatchMeta";
    return {};
  }
  const GValue *array = gst_structure_get_value(gst_custom_meta_get_structure(meta), "slots");
  std::vector<BatchSlotMeta> slots;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    slots.push_back(slot_of(gst_value_get_structure(gst_value_array_get_value(array, i))));
  return slots;
}

MuxCamera::MuxCamera(GstElement *mux, const std::string &pad, bool live)
    : harness_(gst_harness_new_with_element(mux, pad.c_str(), nullptr)) {
  gst_harness_set_live(harness_, live);
}

MuxCamera::~MuxCamera() { gst_harness_teardown(harness_); }

void MuxCamera::caps(const std::string &caps) {
  gst_harness_push_event(harness_,
                         gst_event_new_caps(CapsRef(gst_caps_from_string(caps.c_str())).get()));
  if (has_segment_) return;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  has_segment_ = true;
}

void MuxCamera::begin(const std::string &text) {
  event(gst_event_new_stream_start("again"));
  has_segment_ = false;
  caps(text);
}

MuxRig::MuxRig(const std::string &properties, size_t cameras, bool live) : live_(live) {
  const ElementRef element = make_element("cudatensormux " + properties);
  gst_element_set_bus(element.get(), messages_.bus());
  harness_ = gst_harness_new_with_element(element.get(), nullptr, "src");
  for (size_t i = 0; i < cameras; ++i) add(i);
  gst_harness_play(harness_);
}

MuxRig::~MuxRig() {
  const ElementRef element(static_cast<GstElement *>(gst_object_ref(harness_->element)));
  // Stops threads that wait for a frame, so that the pad can be released.
  gst_element_set_state(element.get(), GST_STATE_NULL);
  cameras_.clear();
  gst_harness_teardown(harness_);
  gst_element_set_bus(element.get(), nullptr);
}

MuxCamera &MuxRig::add(size_t i) {
  if (cameras_.size() <= i) cameras_.resize(i + 1);
  cameras_[i] = std::make_unique<MuxCamera>(element(), "sink_" + std::to_string(i), live_);
  return *cameras_[i];
}

void MuxRig::restart() {
  EXPECT_EQ(gst_element_set_state(element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(gst_element_set_state(element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
}

void MuxRig::flush() {
  // One seqnum makes it one flush for GstAggregator, as after a seek.
  const guint32 seqnum = gst_util_seqnum_next();
  for (const bool starts : {true, false})
    for (const auto &camera : cameras_) {
      GstEvent *event = starts ? gst_event_new_flush_start() : gst_event_new_flush_stop(TRUE);
      gst_event_set_seqnum(event, seqnum);
      if (camera != nullptr) camera->event(event);
    }
}

void MuxRig::set(const char *property, const std::string &value) {
  gst_util_set_object_arg(G_OBJECT(element()), property, value.c_str());
}

void MuxRig::downstream(const std::string &caps) {
  gst_harness_set_sink_caps(harness_, gst_caps_from_string(caps.c_str()));
}

BufferRef MuxRig::pull() {
  BufferRef batch(gst_harness_pull(harness_));
  for (const ElementError &error : messages_.errors()) ADD_FAILURE() << error.text;
  EXPECT_NE(batch, nullptr);
  return batch ? std::move(batch) : BufferRef(gst_buffer_new());
}

BufferRef MuxRig::pull_if_there() { return BufferRef(gst_harness_try_pull(harness_)); }

void MuxRig::wait_for_clock() { EXPECT_TRUE(gst_harness_wait_for_clock_id_waits(harness_, 1, 60)); }

std::string MuxRig::wait_for_error() {
  for (int i = 0; i < 6000; ++i) {
    const auto errors = messages_.errors();
    EXPECT_LE(errors.size(), 1u) << "more than one";
    if (!errors.empty()) return errors[0].text;
    g_usleep(10000);
  }
  return "";
}

GstClockTime MuxRig::time_out() {
  wait_for_clock();
  EXPECT_TRUE(gst_harness_crank_single_clock_wait(harness_));
  GstTestClock *clock = gst_harness_get_testclock(harness_);
  const GstClockTime now = gst_clock_get_time(GST_CLOCK(clock));
  gst_object_unref(clock);
  return now;
}

guint MuxRig::pending_waits() const {
  GstTestClock *clock = gst_harness_get_testclock(harness_);
  const guint count = gst_test_clock_peek_id_count(clock);
  gst_object_unref(clock);
  return count;
}

bool MuxRig::reaches_eos() {
  for (;;) {
    const EventRef event(gst_harness_pull_event(harness_));
    if (!event) return false;
    if (GST_EVENT_TYPE(event.get()) == GST_EVENT_EOS) return true;
  }
}

Bytes slot_bytes(const Picture &picture, NormalizeCase params) {
  params.source = source_of(picture.desc());
  return normalized(picture, params);
}

Bytes pad_bytes(const NormalizeCase &params) {
  if (params.pad_normalized) return Bytes(params.out.bytes(), 0);
  // A picture of the pad's colour gives the same.
  return slot_bytes(
      Picture({PixelFormat::RGB, 1, 1}, static_cast<uint8_t>(params.resize.pad_value)), params);
}

std::string properties_of(const NormalizeCase &p) {
  return "width=" + std::to_string(p.out.w) + " height=" + std::to_string(p.out.h) +
         " color=" + nick(p.color) + " layout=" + nick(p.out.layout) +
         " dtype=" + nick(p.out.dtype) + properties_of(p.resize) +
         " pad-normalized=" + (p.pad_normalized ? "true" : "false");
}

NormalizeCase small_params() {
  NormalizeCase params = normalize_params({}, Color::rgb, DType::float32, Layout::nchw, 12, 10);
  params.resize.mode = ResizeMode::ultralytics;
  return params;
}

Bytes joined(const std::vector<Bytes> &parts) {
  Bytes all;
  for (const Bytes &part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Picture> mixed_pictures(size_t count, const std::vector<PixelFormat> &formats) {
  std::vector<Picture> pictures;
  Noise noise(7);
  for (size_t i = 0; i < count; ++i)
    pictures.push_back(random_picture(
        {formats[i % formats.size()], noise.integer(1, 40), noise.integer(1, 40)}, i + 1));
  return pictures;
}

BufferRef frame_at(const Picture &picture, GstClockTime pts, GstClockTime duration) {
  BufferRef buffer = buffer_of(picture);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = duration;
  return buffer;
}

}  // namespace cudatensor
