// SPDX-License-Identifier: LGPL-2.1-or-later
// cudanormalize with frames-per-tensor: which slot shows which frame, and when a tensor is pushed.
#include "gpu.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kDuration = 40 * GST_MSECOND;
const ImageDesc kFrame = {PixelFormat::NV12, 40, 30}, kOther = {PixelFormat::BGR, 24, 36};

template <class Base>
class Collecting : public Base {
 protected:
  void start(const std::string &properties, const char *downstream = "other/tensors") {
    rig_ =
        std::make_unique<Rig>("cudanormalize " + properties_of(small_params()) + " " + properties);
    rig_->downstream(downstream);
    begin(kFrame);
  }
  void begin(const ImageDesc &desc) {
    desc_ = desc;
    const std::string caps = video_caps(desc, "framerate=25/1");
    EXPECT_TRUE(rig_->caps(in_cuda_ ? in_cuda(caps) : caps));
  }
  /// Pushes the next frame, and keeps the expected content of its slot.
  void push() {
    const Picture picture = random_picture(desc_, frames_.size() + 1);
    const GstClockTime time = frames_.size() * kDuration;
    frames_.push_back(slot_bytes(picture, small_params()));
    BufferRef frame = frame_at(picture, time, kDuration);
    if (in_cuda_) frame = to_cuda(std::move(frame));
    EXPECT_EQ(rig_->push(std::move(frame)), GST_FLOW_OK);
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) push();
  }
  /// Expects a tensor of `count` frames from `first` on and of `empty` slots.
  void expect(size_t first, size_t count, size_t empty = 0) {
    const BufferRef tensor = rig_->pull();
    ASSERT_NE(tensor, nullptr);
    std::vector<Bytes> slots(frames_.begin() + static_cast<ptrdiff_t>(first),
                             frames_.begin() + static_cast<ptrdiff_t>(first + count));
    slots.resize(count + empty, pad_bytes(small_params()));
    EXPECT_TRUE(same_bytes(bytes_of(tensor.get()), joined(slots)));
    EXPECT_EQ(GST_BUFFER_PTS(tensor.get()), first * kDuration);
    EXPECT_EQ(GST_BUFFER_DURATION(tensor.get()), count * kDuration);
    const auto told = slots_of(tensor.get());
    ASSERT_EQ(told.size(), count + empty);
    for (size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(told[i].valid, i < count) << i;
      if (!told[i].valid) continue;
      EXPECT_EQ(told[i].pts, (first + i) * kDuration);
      EXPECT_EQ(told[i].duration, kDuration);
      EXPECT_EQ(told[i].running_time, (first + i) * kDuration);
      EXPECT_EQ(told[i].src_width, desc_.width);
    }
  }
  void expect_none() { EXPECT_EQ(rig_->pull(), nullptr); }

  std::unique_ptr<Rig> rig_;
  ImageDesc desc_ = kFrame;
  bool in_cuda_ = false;
  std::vector<Bytes> frames_;
};

class FramesPerTensor : public Collecting<testing::Test> {};
class CudaFramesPerTensor : public Collecting<GpuTest> {};

TEST_F(FramesPerTensor, FillTheSlotsInTurn) {
  start("frames-per-tensor=3");
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:3");
  EXPECT_EQ(rig_->output("framerate"), "25/3");
  push(2);
  expect_none();
  push();
  expect(0, 3);
  push(3);
  expect(3, 3);
  expect_none();
}

TEST_F(FramesPerTensor, LeaveSlotsEmptyAtTheEnd) {
  start("frames-per-tensor=4");
  push(6);
  expect(0, 4);
  rig_->event(gst_event_new_eos());
  expect(4, 2, 2);
  expect_none();
}

/// The frames of a tensor stay in their places beside one that cannot be used.
TEST_F(FramesPerTensor, LeaveTheSlotOfAFaultyFrameEmpty) {
  start("frames-per-tensor=3");
  // The frame is the first, the middle and the last one of a tensor.
  for (size_t faulty = 0; faulty < 3; ++faulty) {
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(rig_->push(i == faulty ? buffer_of(Bytes(7)) : buffer_of(random_picture(kFrame))),
                GST_FLOW_OK);
    const BufferRef tensor = rig_->pull();
    ASSERT_NE(tensor, nullptr);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(slots_of(tensor.get())[i].valid, i != faulty);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig_->push(buffer_of(Bytes(7))), GST_FLOW_OK);
  expect_none();
  EXPECT_TRUE(rig_->messages().errors().empty());
  EXPECT_EQ(rig_->messages().warnings().size(), 1u);
}

TEST_F(FramesPerTensor, PushNothingAtTheEndIfTheLastTensorIsFull) {
  start("frames-per-tensor=2");
  push(2);
  expect(0, 2);
  rig_->event(gst_event_new_eos());
  expect_none();
}

TEST_F(FramesPerTensor, AreOfOneFormat) {
  start("frames-per-tensor=3");
  push(2);
  begin(kFrame);  // the same caps end nothing
  push();
  expect(0, 3);
  push();
  forget_caps(rig_->harness()->srcpad);
  rig_->caps(video_caps(kOther, "framerate=25/1"));
  expect(3, 1, 2);
  desc_ = kOther;
  push(3);
  expect(4, 3);
}

TEST_F(FramesPerTensor, AreOfOneSegment) {
  start("frames-per-tensor=3");
  push(2);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig_->event(gst_event_new_segment(&segment));
  expect(0, 2, 1);
}

TEST_F(FramesPerTensor, AreDiscardedByAFlush) {
  start("frames-per-tensor=2");
  push();
  rig_->event(gst_event_new_flush_start());
  rig_->event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig_->event(gst_event_new_segment(&segment));
  expect_none();
  push(2);
  expect(1, 2);
}

TEST_F(FramesPerTensor, AreDiscardedByAStop) {
  start("frames-per-tensor=2");
  push();
  gst_element_set_state(rig_->element(), GST_STATE_READY);
  gst_element_set_state(rig_->element(), GST_STATE_PLAYING);
  forget_caps(rig_->harness()->srcpad);
  rig_->event(gst_event_new_stream_start("again"));
  begin(kFrame);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig_->event(gst_event_new_segment(&segment));
  expect_none();
  push(2);
  expect(1, 2);
}

TEST_F(FramesPerTensor, MayChangeWhilePlaying) {
  start("frames-per-tensor=3");
  push(2);
  rig_->set("frames-per-tensor", "2");
  push(2);
  expect(0, 2, 1);
  expect(2, 2);
  rig_->set("frames-per-tensor", "1");
  push();
  const BufferRef single = rig_->pull();
  EXPECT_TRUE(same_bytes(bytes_of(single.get()), frames_.back()));
  EXPECT_EQ(batch_meta(single.get()), nullptr);
}

/// A property that does not change the caps takes effect with the next frame.
TEST_F(FramesPerTensor, MayDifferInTheirSettings) {
  start("frames-per-tensor=2");
  push();
  rig_->set("n-threads", "1");
  push();
  expect(0, 2);
}

/// Attaches the geometry of another plugin's element that has halved a picture of 80x60.
void add_geometry(GstBuffer *frame, bool is_whole) {
  const Ref<GstCaps> told(gst_caps_from_string(
      "geometry,matrix=<0.5,0.0,0.0,0.0,0.5,0.0>,inverse=<2.0,0.0,0.0,0.0,2.0,0.0>,src-width=80,"
      "src-height=60,dst-width=40,dst-height=30,pad-left=0,pad-top=0,content-width=40,"
      "content-height=30"));
  GstStructure *to =
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(frame, "GstCudaTensorGeometryMeta"));
  const GstStructure *from = gst_caps_get_structure(told.get(), 0);
  for (const char *field : {"matrix", "inverse", "src-width", "src-height"})
    gst_structure_set_value(to, field, gst_structure_get_value(from, field));
  for (const char *field :
       {"dst-width", "dst-height", "pad-left", "pad-top", "content-width", "content-height"})
    if (is_whole) gst_structure_set_value(to, field, gst_structure_get_value(from, field));
}

/// A geometry needs only the size of the source.
TEST_F(FramesPerTensor, ShowTheSourceOfTheirFrames) {
  start("frames-per-tensor=3");
  for (int i = 0; i < 3; ++i) {
    BufferRef frame = frame_at(random_picture(kFrame), 0, kDuration);
    if (i < 2) add_geometry(frame.get(), i == 0);
    EXPECT_EQ(rig_->push(std::move(frame)), GST_FLOW_OK);
  }
  const BufferRef tensor = rig_->pull();
  ASSERT_NE(tensor, nullptr);
  for (guint i = 0; i < 3; ++i) {
    // 40x30 in 12x10.
    EXPECT_NEAR(doubles_of<6>(slot_of(tensor.get(), i), "matrix")[0], i < 2 ? 0.15 : 0.3, 1e-12);
    EXPECT_EQ(slots_of(tensor.get())[i].src_width, i < 2 ? 80 : 40);
  }
}

TEST_F(FramesPerTensor, KeepNoFrame) {
  start("frames-per-tensor=4");
  const Picture picture = random_picture(kFrame);
  BufferRef frame = frame_at(picture, 0, kDuration);
  GstBuffer *const kept = gst_buffer_ref(frame.get());
  EXPECT_EQ(rig_->push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(kept), 1);
  gst_buffer_unref(kept);
}

TEST_F(FramesPerTensor, HaveTheSlotsOfTheirRegionsBehindEachOther) {
  start("frames-per-tensor=2 regions=list region-list=<2,4,10,8,12,6,20,16>");
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:4");
  std::vector<Bytes> slots;
  for (int i = 0; i < 2; ++i) {
    const Picture picture = random_picture(kFrame, i + 1);
    slots.push_back(slot_bytes(cut_out(picture, 2, 4, 10, 8), small_params()));
    slots.push_back(slot_bytes(cut_out(picture, 12, 6, 20, 16), small_params()));
    rig_->push(frame_at(picture, i * kDuration, kDuration));
  }
  const BufferRef tensor = rig_->pull();
  ASSERT_NE(tensor, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(tensor.get()), joined(slots)));
  EXPECT_EQ(region_of(tensor.get(), 3), (std::array<double, 4>{12, 6, 20, 16}));
}

TEST_F(FramesPerTensor, AreAtMostAsManyAsABatchHas) {
  Rig rig("cudanormalize frames-per-tensor=1024");
  rig.downstream("other/tensors");
  rig.set("regions", "tiles");
  const std::string error =
      expect_refusal(rig, video_caps(kFrame), buffer_of(random_picture(kFrame)));
  EXPECT_TRUE(mentions(error, "1024 frames"));
  EXPECT_TRUE(mentions(error, "at most 1024 slots"));
}

TEST_F(FramesPerTensor, DelayTheFirstOne) {
  start("frames-per-tensor=5");
  push();
  gst_harness_set_upstream_latency(rig_->harness(), 0);
  EXPECT_EQ(gst_harness_query_latency(rig_->harness()), 4 * kDuration);
}

/// The maximum latency grows by the time that a tensor waits; an unlimited one stays unlimited.
TEST_F(FramesPerTensor, AddToTheLongestLatency) {
  start("frames-per-tensor=5");
  push();
  struct Upstream {
    gboolean live;
    GstClockTime max;
  };
  const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
  for (const Upstream &upstream : {Upstream{TRUE, GST_SECOND}, Upstream{TRUE, GST_CLOCK_TIME_NONE},
                                   Upstream{FALSE, GST_CLOCK_TIME_NONE}}) {
    gst_pad_set_query_function_full(
        rig_->harness()->srcpad,
        [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
          if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
            return gst_pad_query_default(pad, parent, query);
          const auto *told = static_cast<const Upstream *>(pad->querydata);
          gst_query_set_latency(query, told->live, 7, told->max);
          return TRUE;
        },
        new Upstream(upstream), [](gpointer data) { delete static_cast<Upstream *>(data); });
    const QueryRef query(gst_query_new_latency());
    ASSERT_TRUE(gst_pad_query(src.get(), query.get()));
    gboolean live = !upstream.live;
    GstClockTime min = 0, max = 0;
    gst_query_parse_latency(query.get(), &live, &min, &max);
    EXPECT_EQ(live, upstream.live);
    EXPECT_EQ(min, 7 + 4 * kDuration);
    EXPECT_EQ(max, upstream.max == GST_SECOND ? GST_SECOND + 4 * kDuration : GST_CLOCK_TIME_NONE);
  }
}

/// After this message, the pipeline queries the latency again.
TEST_F(FramesPerTensor, PostAMessageIfTheLatencyChanges) {
  start("frames-per-tensor=2");
  const auto told = [&] {
    push();
    return rig_->messages().of_type(GST_MESSAGE_LATENCY).size();
  };
  told();
  EXPECT_EQ(told(), 0u);
  rig_->set("frames-per-tensor", "3");
  EXPECT_EQ(told(), 1u);
  rig_->set("n-threads", "1");
  EXPECT_EQ(told(), 0u);
  rig_->set("frames-per-tensor", "1");
  EXPECT_EQ(told(), 1u);
}

/// Another number of threads replaces the session that filled the first slots.
TEST_F(FramesPerTensor, AreCompletedByAnotherNumberOfThreads) {
  for (const int frames : {1, 2}) {
    start("frames-per-tensor=3 n-threads=1");
    frames_.clear();
    push(frames);
    rig_->set("n-threads", "2");
    rig_->event(gst_event_new_eos());
    expect(0, static_cast<size_t>(frames), 3 - static_cast<size_t>(frames));
    EXPECT_TRUE(rig_->messages().errors().empty());
  }
  start("frames-per-tensor=3 n-threads=1");
  frames_.clear();
  push();
  rig_->set("n-threads", "2");
  push(2);
  expect(0, 3);
}

TEST_F(FramesPerTensor, HaveNoRunningTimesInASegmentOfBytes) {
  start("frames-per-tensor=2");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  rig_->event(gst_event_new_segment(&segment));
  push(2);
  const BufferRef tensor = rig_->pull();
  ASSERT_NE(tensor, nullptr);
  for (const BatchSlotMeta &slot : slots_of(tensor.get()))
    EXPECT_EQ(slot.running_time, GST_CLOCK_TIME_NONE);
}

/// Frames without a duration last as the caps say; a tensor has no order of decoding.
TEST_F(FramesPerTensor, HaveTheTimesOfTheirFrames) {
  start("frames-per-tensor=2");
  const auto tensor_of = [&](GstClockTime first, GstClockTime second, GstClockTime duration) {
    for (const GstClockTime pts : {first, second}) {
      BufferRef frame = frame_at(random_picture(kFrame), pts, duration);
      GST_BUFFER_DTS(frame.get()) = 3;
      GST_BUFFER_OFFSET(frame.get()) = GST_BUFFER_OFFSET_END(frame.get()) = 7;
      rig_->push(std::move(frame));
    }
    BufferRef tensor = rig_->pull();
    EXPECT_NE(tensor, nullptr);
    EXPECT_EQ(GST_BUFFER_DTS(tensor.get()), GST_CLOCK_TIME_NONE);
    EXPECT_EQ(GST_BUFFER_OFFSET(tensor.get()), GST_BUFFER_OFFSET_NONE);
    EXPECT_EQ(GST_BUFFER_OFFSET_END(tensor.get()), GST_BUFFER_OFFSET_NONE);
    return std::make_pair(GST_BUFFER_PTS(tensor.get()), GST_BUFFER_DURATION(tensor.get()));
  };
  constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE;
  EXPECT_EQ(tensor_of(0, kDuration, kNone), std::make_pair(GstClockTime{0}, 2 * kDuration));
  EXPECT_EQ(tensor_of(2 * kDuration, 3 * kDuration, 7),
            std::make_pair(2 * kDuration, kDuration + 7));
  // Frames may arrive in another order than that of their times.
  EXPECT_EQ(tensor_of(9 * kDuration, 8 * kDuration, kNone),
            std::make_pair(8 * kDuration, 2 * kDuration));
  EXPECT_EQ(tensor_of(kNone, 20 * kDuration, kNone), std::make_pair(20 * kDuration, kDuration));
  EXPECT_EQ(tensor_of(kNone, kNone, kNone), std::make_pair(kNone, kNone));
}

TEST_F(FramesPerTensor, EndWithTheirStreamOrPart) {
  for (const bool part : {true, false}) {
    start("frames-per-tensor=3");
    frames_.clear();
    push();
    rig_->event(part ? gst_event_new_segment_done(GST_FORMAT_TIME, 0)
                     : gst_event_new_stream_start("another"));
    expect(0, 1, 2);
  }
}

TEST_F(FramesPerTensor, CountTheRegionsThatFoundNoSlot) {
  start("frames-per-tensor=2 regions=meta max-batch=1");
  for (const guint more : {2u, 3u}) {
    BufferRef frame = frame_at(random_picture(kFrame), 0, kDuration);
    for (guint i = 0; i <= more; ++i) add_interest(frame.get(), "face", i, 0, 4, 4);
    rig_->push(std::move(frame));
  }
  const BufferRef tensor = rig_->pull();
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(left_out_of(tensor.get()), 5u);
}

TEST_F(FramesPerTensor, AreGapsOnlyTogether) {
  start("frames-per-tensor=2");
  for (const bool second : {true, false}) {
    for (const bool gap : {true, second}) {
      BufferRef frame = frame_at(random_picture(kFrame), 0, kDuration);
      if (gap) GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_GAP);
      rig_->push(std::move(frame));
    }
    const BufferRef tensor = rig_->pull();
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(tensor.get(), GST_BUFFER_FLAG_GAP), second);
  }
}

TEST_F(CudaFramesPerTensor, AreCollectedInCudaMemoryAndOnTheHost) {
  for (const char *downstream : {"other/tensors(memory:CUDAMemory)", "other/tensors"}) {
    for (const bool in_cuda : {true, false}) {
      frames_.clear();
      in_cuda_ = in_cuda;
      start("frames-per-tensor=3", downstream);
      push(7);
      expect(0, 3);
      expect(3, 3);
      rig_->event(gst_event_new_eos());
      expect(6, 1, 2);
    }
  }
}

}  // namespace
}  // namespace cudatensor
