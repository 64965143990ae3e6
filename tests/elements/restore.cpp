// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaletterbox keep-input=true and cudarestore: frames and regions of interest.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "../kernels/random.h"
#include "detectionrig.h"
#include "pools.h"
#include "regionmeta.h"

namespace cudatensor {
namespace {

struct Interest {
  std::string type;
  guint x, y, width, height;
  gint id;
};
bool operator==(const Interest &a, const Interest &b) {
  return a.type == b.type && a.x == b.x && a.y == b.y && a.width == b.width &&
         a.height == b.height && a.id == b.id;
}
std::ostream &operator<<(std::ostream &to, const Interest &i) {
  return to << i.type << ' ' << i.id << ": " << i.width << 'x' << i.height << '+' << i.x << '+'
            << i.y;
}

std::vector<Interest> interests_of(GstBuffer *buffer) {
  std::vector<Interest> found;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    found.push_back({g_quark_to_string(roi->roi_type), roi->x, roi->y, roi->w, roi->h, roi->id});
  }
  return found;
}

// -------------------------------------------------------------------------------------- the frames

TEST(Restore, GivesTheFrameItself) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  const Picture picture = random_picture(kFrame);
  for (int i = 0; i < 3; ++i) {
    BufferRef frame = buffer_of(picture);
    GstBuffer *const address = frame.get();
    GstMemory *const memory = gst_buffer_peek_memory(address, 0);
    const BufferRef out = rig.process(std::move(frame));
    EXPECT_EQ(out.get(), address);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), picture.bytes()));
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(out.get()), 1);
  }
  EXPECT_EQ(rig.rig().output("format"), "NV12");
  EXPECT_EQ(rig.rig().output("width"), "64");
}

/// A tee shares memory like this. Found objects do not appear in the other branch.
TEST(Restore, SharesTheMemoryOfAFrameThatOthersUse) {
  DetectionRig rig("", kPicture);
  rig.detect([](GstBuffer *picture) { add_interest(picture, "face", 0, 8, 4, 4); });
  ASSERT_TRUE(rig.caps(kFrame));
  BufferRef frame = buffer_of(random_picture(kFrame));
  const BufferRef other(gst_buffer_ref(frame.get()));
  const BufferRef out = rig.process(std::move(frame));
  EXPECT_NE(out.get(), other.get());
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(other.get(), 0));
  EXPECT_EQ(interests_of(out.get()).size(), 1U);
  EXPECT_EQ(interests_of(other.get()).size(), 0U);
}

TEST(Restore, ReleasesTheFramesOfAPool) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  const Ref<GstBufferPool> pool(gst_buffer_pool_new());
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  const CapsRef caps(gst_caps_from_string(video_caps(kFrame).c_str()));
  gst_buffer_pool_config_set_params(config, caps.get(), 64 * 32 * 3 / 2, 1, 1);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstBufferPoolAcquireParams params = {};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  for (int i = 0; i < 4; ++i) {
    GstBuffer *frame = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &frame, &params), GST_FLOW_OK) << i;
    rig.process(BufferRef(frame));
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

/// After a tee, two pictures have the same frame.
TEST(Restore, ServesTwoBranches) {
  Rig rig("cudaletterbox keep-input=true ! " + video_caps(kPicture) +
          " ! tee name=t ! cudarestore ! fakesink async=false t. ! identity ! cudarestore");
  rig.downstream("video/x-raw(ANY)");
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  for (int i = 0; i < 3; ++i) {
    const Picture picture = random_picture(kFrame, static_cast<uint64_t>(i));
    BufferRef frame = buffer_of(picture);
    GstMemory *const memory = gst_buffer_peek_memory(frame.get(), 0);
    const BufferRef out = rig.process(std::move(frame));
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), picture.bytes()));
  }
}

BufferRef frame_of_time(GstClockTime pts) {
  BufferRef frame = buffer_of(random_picture(kFrame, pts));
  GST_BUFFER_PTS(frame.get()) = pts;
  GST_BUFFER_DURATION(frame.get()) = 40 * GST_MSECOND;
  return frame;
}

/// videorate repeats and drops pictures.
TEST(Restore, FollowsRepeatedAndDroppedPictures) {
  for (const auto &[rate, outputs] : {std::pair("50/1", 7U), std::pair("10/1", 1U)}) {
    Rig rig(
        std::string("cudaletterbox keep-input=true ! video/x-raw,format=RGB,width=32,height=32") +
        " ! videorate ! video/x-raw,framerate=" + rate + " ! cudarestore");
    rig.downstream("video/x-raw(ANY)");
    ASSERT_TRUE(rig.caps(video_caps(kFrame, "framerate=25/1")));
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(rig.push(frame_of_time(i * 40 * GST_MSECOND)), GST_FLOW_OK);
    GstClockTime next = 0;
    guint count = 0;
    while (const BufferRef out = rig.pull()) {
      EXPECT_EQ(GST_BUFFER_PTS(out.get()), next);
      EXPECT_EQ(gst_buffer_get_size(out.get()), 64U * 32 * 3 / 2);
      next += GST_BUFFER_DURATION(out.get());
      ++count;
    }
    EXPECT_GE(count, outputs) << rate;
  }
}

TEST(Restore, TakesTheTimesThatAnElementBetweenHasSet) {
  const BufferRef out = restored(buffer_of(random_picture(kFrame)), [](GstBuffer *picture) {
    GST_BUFFER_PTS(picture) = 7 * GST_SECOND;
    GST_BUFFER_DURATION(picture) = 3;
    GST_BUFFER_FLAG_SET(picture, GST_BUFFER_FLAG_DISCONT);
  });
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 7 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 3U);
  EXPECT_TRUE(GST_BUFFER_IS_DISCONT(out.get()));
}

/// Expects an error whose source is an element in a bin.
void expect_failure(Rig &rig, BufferRef frame) {
  EXPECT_EQ(rig.push(std::move(frame)), GST_FLOW_ERROR);
  const std::vector<ElementError> errors = rig.messages().errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0].text, "keep-input"));
}

TEST(Restore, RefusesPicturesWithoutAFrame) {
  Rig rig("cudarestore");
  ASSERT_TRUE(rig.caps(video_caps(kPicture)));
  expect_error(rig, buffer_of(random_picture(kPicture)), "keep-input");
  Rig chain("cudaletterbox keep-input=false ! cudarestore");
  ASSERT_TRUE(chain.caps(video_caps(kPicture)));
  expect_failure(chain, buffer_of(random_picture(kPicture)));
}

TEST(Restore, KeepsInputsFromTheNextFrameOn) {
  Rig rig("cudaletterbox name=letterbox keep-input=true ! " + video_caps(kPicture) +
          " ! cudarestore");
  rig.downstream("video/x-raw(ANY)");
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  rig.process(buffer_of(random_picture(kFrame)));
  const ElementRef letterbox(gst_bin_get_by_name(GST_BIN(rig.element()), "letterbox"));
  g_object_set(letterbox.get(), "keep-input", FALSE, nullptr);
  expect_failure(rig, buffer_of(random_picture(kFrame)));
}

// ------------------------------------------------------------------------------------- allocations

/// While it lives, counts the allocations of GStreamer's default allocator.
class CountedAllocations {
 public:
  explicit CountedAllocations(gsize at_least) {
    allocator_ = GST_ALLOCATOR(g_object_new(type(), nullptr));
    gst_object_ref_sink(allocator_);
    at_least_ = at_least;
    count_ = 0;
    system() = gst_allocator_find(GST_ALLOCATOR_SYSMEM);
    gst_allocator_set_default(GST_ALLOCATOR(gst_object_ref(allocator_)));
  }
  ~CountedAllocations() {
    gst_allocator_set_default(system());
    gst_object_unref(allocator_);
  }
  CountedAllocations(const CountedAllocations &) = delete;
  CountedAllocations &operator=(const CountedAllocations &) = delete;

  static int count() { return count_; }

 private:
  static GstAllocator *&system() {
    static GstAllocator *allocator = nullptr;
    return allocator;
  }
  static GstMemory *alloc(GstAllocator *, gsize size, GstAllocationParams *params) {
    if (size >= at_least_) ++count_;
    return gst_allocator_alloc(system(), size, params);
  }
  static GType type() {
    static const GType type = g_type_register_static_simple(
        GST_TYPE_ALLOCATOR, "CountingAllocator", sizeof(GstAllocatorClass),
        [](gpointer klass, gpointer) { GST_ALLOCATOR_CLASS(klass)->alloc = alloc; },
        sizeof(GstAllocator), nullptr, static_cast<GTypeFlags>(0));
    return type;
  }

  GstAllocator *allocator_;
  static inline gsize at_least_;
  static inline std::atomic<int> count_;
};

/// Frames are created first, and the detector's pictures are smaller.
TEST(Restore, AllocatesNoPicture) {
  for (const char *element : {"cudahistogram interval=0",
                              "cudaletterbox keep-input=true ! "
                              "video/x-raw,format=RGB,width=16,height=16 ! cudarestore",
                              "cudaletterbox keep-input=true ! video/x-raw,format=GRAY8,width=16,"
                              "height=16 ! identity ! cudarestore ! cudahistogram"}) {
    Rig rig(element);
    rig.downstream("video/x-raw(ANY)");
    ASSERT_TRUE(rig.caps(video_caps(kFrame)));
    std::vector<BufferRef> frames;
    for (int i = 0; i < 5; ++i) frames.push_back(buffer_of(random_picture(kFrame)));
    const CountedAllocations counted(gst_buffer_get_size(frames[0].get()));
    for (BufferRef &frame : frames) rig.process(std::move(frame));
    EXPECT_EQ(CountedAllocations::count(), 0) << element;
    // Proves that a copy is counted.
    const BufferRef copy(gst_buffer_copy_deep(buffer_of(random_picture(kFrame)).get()));
    EXPECT_GE(CountedAllocations::count(), 1);
  }
}

// ------------------------------------------------------------------------------- events and queries

std::vector<GstEventType> events_of(Rig &rig) {
  std::vector<GstEventType> types;
  while (GstEvent *event = gst_harness_try_pull_event(rig.harness())) {
    types.push_back(GST_EVENT_TYPE(event));
    gst_event_unref(event);
  }
  return types;
}

TEST(Restore, SendsTheCapsOfTheFrames) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.process(buffer_of(random_picture(kFrame)));
  EXPECT_EQ(events_of(rig.rig()),
            (std::vector<GstEventType>{GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT}));
  const ImageDesc other = {PixelFormat::BGR, 20, 50};
  ASSERT_TRUE(rig.caps(other));
  rig.process(buffer_of(random_picture(other)));
  EXPECT_EQ(events_of(rig.rig()), (std::vector<GstEventType>{GST_EVENT_CAPS}));
  EXPECT_EQ(rig.rig().output("width"), "20");
  rig.process(buffer_of(random_picture(other)));
  EXPECT_EQ(events_of(rig.rig()), std::vector<GstEventType>{});
}

TEST(Restore, HoldsTagsUntilThereAreCaps) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.rig().event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "gate", nullptr)));
  rig.rig().event(gst_event_new_gap(0, 1));
  EXPECT_EQ(events_of(rig.rig()), (std::vector<GstEventType>{GST_EVENT_STREAM_START}));
  rig.process(buffer_of(random_picture(kFrame)));
  EXPECT_EQ(events_of(rig.rig()),
            (std::vector<GstEventType>{GST_EVENT_CAPS, GST_EVENT_SEGMENT, GST_EVENT_TAG}));
  rig.rig().event(gst_event_new_gap(0, 1));
  EXPECT_EQ(events_of(rig.rig()), (std::vector<GstEventType>{GST_EVENT_GAP}));
}

/// A stream may have several tag lists; a new stream has none of the earlier ones.
TEST(Restore, HoldsAllTagsOfOneStream) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  const auto tag = [](const char *name, const char *text) {
    return gst_event_new_tag(gst_tag_list_new(name, text, nullptr));
  };
  rig.rig().event(tag(GST_TAG_TITLE, "gate"));
  rig.rig().event(tag(GST_TAG_ARTIST, "camera"));
  rig.rig().event(gst_event_new_stream_start("another"));
  rig.rig().event(tag(GST_TAG_TITLE, "door"));
  rig.rig().event(tag(GST_TAG_ARTIST, "camera"));
  ASSERT_TRUE(rig.caps(kFrame));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.rig().event(gst_event_new_segment(&segment));
  rig.process(buffer_of(random_picture(kFrame)));
  std::string all;
  while (const EventRef event = EventRef(gst_harness_try_pull_event(rig.rig().harness()))) {
    GstTagList *tags = nullptr;
    if (GST_EVENT_TYPE(event.get()) != GST_EVENT_TAG) continue;
    gst_event_parse_tag(event.get(), &tags);
    gchar *text = gst_tag_list_to_string(tags);
    all += text;
    g_free(text);
  }
  EXPECT_TRUE(mentions(all, "door"));
  EXPECT_TRUE(mentions(all, "artist"));
  EXPECT_FALSE(mentions(all, "gate"));
}

/// A part of the picture's memory does not identify the frame.
TEST(Restore, IsNotPossibleFromAPartOfAPicture) {
  Rig letterbox("cudaletterbox keep-input=true");
  letterbox.downstream(video_caps(kPicture));
  ASSERT_TRUE(letterbox.caps(video_caps(kFrame)));
  const BufferRef picture = letterbox.process(buffer_of(random_picture(kFrame)));
  for (const bool whole : {true, false}) {
    Rig restore("cudarestore");
    restore.downstream("video/x-raw(ANY)");
    ASSERT_TRUE(restore.caps(video_caps(kPicture)));
    const gsize size = gst_buffer_get_size(picture.get());
    BufferRef copy(
        gst_buffer_copy_region(picture.get(), GST_BUFFER_COPY_ALL, 0, whole ? size : size - 3));
    if (whole)
      restore.process(std::move(copy));
    else
      expect_error(restore, std::move(copy), "does not carry its frame");
  }
}

TEST(Restore, KeepsTagsThroughAFlush) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.rig().event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "gate", nullptr)));
  rig.rig().event(gst_event_new_flush_start());
  rig.rig().event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.rig().event(gst_event_new_segment(&segment));
  rig.process(buffer_of(random_picture(kFrame)));
  const auto events = events_of(rig.rig());
  EXPECT_EQ(std::count(events.begin(), events.end(), GST_EVENT_TAG), 1);
  EXPECT_EQ(std::count(events.begin(), events.end(), GST_EVENT_SEGMENT), 1);
}

TEST(Restore, EndsWithoutAFrame) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  EXPECT_TRUE(rig.rig().event(gst_event_new_eos()));
  EXPECT_EQ(events_of(rig.rig()),
            (std::vector<GstEventType>{GST_EVENT_STREAM_START, GST_EVENT_EOS}));
}

TEST(Restore, GoesOnAfterAFlush) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.process(buffer_of(random_picture(kFrame)));
  events_of(rig.rig());
  rig.rig().event(gst_event_new_flush_start());
  rig.rig().event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.rig().event(gst_event_new_segment(&segment));
  rig.process(buffer_of(random_picture(kFrame)));
  EXPECT_EQ(
      events_of(rig.rig()),
      (std::vector<GstEventType>{GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP, GST_EVENT_SEGMENT}));
}

/// While the element stops, its source pad is deactivated before its sink pad.
TEST(Restore, TellsUpstreamWhyNoFrameLeaves) {
  Rig letterbox("cudaletterbox keep-input=true");
  letterbox.downstream(video_caps(kPicture));
  ASSERT_TRUE(letterbox.caps(video_caps(kFrame)));
  for (const GstFlowReturn flow : {GST_FLOW_FLUSHING, GST_FLOW_EOS}) {
    Rig restore("cudarestore");
    restore.downstream("video/x-raw(ANY)");
    ASSERT_TRUE(restore.caps(video_caps(kPicture)));
    const PadRef pad(gst_element_get_static_pad(restore.element(), "src"));
    if (flow == GST_FLOW_EOS)
      gst_pad_push_event(pad.get(), gst_event_new_eos());
    else
      gst_pad_set_active(pad.get(), FALSE);
    EXPECT_EQ(restore.push(letterbox.process(buffer_of(random_picture(kFrame)))), flow);
    EXPECT_TRUE(restore.messages().errors().empty());
  }
}

TEST(Restore, DoesNotAskDownstreamForThePicturesMemory) {
  DetectionRig rig("", kPicture);
  PoolOffer offer(rig.rig(), PoolOffer::Kind::plain);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.process(buffer_of(random_picture(kFrame)));
  EXPECT_EQ(offer.asked(), 0);
}

TEST(Restore, CanStartAgainWithOtherCaps) {
  DetectionRig rig("", kPicture);
  ASSERT_TRUE(rig.caps(kFrame));
  rig.process(buffer_of(random_picture(kFrame)));
  gst_element_set_state(rig.rig().element(), GST_STATE_READY);
  gst_element_set_state(rig.rig().element(), GST_STATE_PLAYING);
  const ImageDesc other = {PixelFormat::BGR, 20, 50};
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.rig().event(gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig.caps(other));
  rig.rig().event(gst_event_new_segment(&segment));
  rig.process(buffer_of(random_picture(other)));
  EXPECT_EQ(rig.rig().output("width"), "20");
}

// ---------------------------------------------------------------------------- regions of interest

/// 64×32 becomes half as large in 32×32, with eight rows of padding above.
TEST(Restore, MapsRegionsToTheFrame) {
  const BufferRef out = restored(buffer_of(random_picture(kFrame)), [](GstBuffer *picture) {
    add_interest(picture, "face", 4, 10, 6, 4, 3);
    add_interest(picture, "partly", 28, 20, 10, 10, 4);
    add_interest(picture, "padding", 4, 0, 4, 8, 5);
    gst_video_region_of_interest_meta_add_param(
        gst_buffer_get_video_region_of_interest_meta_id(picture, 3),
        gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.5, nullptr));
  });
  EXPECT_EQ(interests_of(out.get()),
            (std::vector<Interest>{{"face", 8, 4, 12, 8, 3}, {"partly", 56, 24, 8, 8, 4}}));
  auto *face = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 3);
  EXPECT_NE(gst_video_region_of_interest_meta_get_param(face, "detection"), nullptr);
}

/// The frame's own region is passed to the detector, and stays unchanged on the frame.
TEST(Restore, LeavesTheFramesOwnRegionsAsTheyWere) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  add_interest(frame.get(), "drawn", 3, 5, 7, 9, 1);
  const BufferRef out = restored(std::move(frame), [](GstBuffer *picture) {
    EXPECT_EQ(interests_of(picture), (std::vector<Interest>{{"drawn", 1, 10, 4, 5, 1}}));
    add_interest(picture, "face", 4, 10, 6, 4, 2);
  });
  EXPECT_EQ(interests_of(out.get()),
            (std::vector<Interest>{{"drawn", 3, 5, 7, 9, 1}, {"face", 8, 4, 12, 8, 2}}));
}

/// New regions have the type and the id of the frame's own region: 0, the default.
TEST(Restore, AddsNewRegionsWithTheDefaultId) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  add_interest(frame.get(), "face", 40, 5, 7, 9);
  add_interest(frame.get(), "face", static_cast<guint>(-10), 0, 4, 4);  // outside of every picture
  const BufferRef out = restored(std::move(frame), [](GstBuffer *picture) {
    EXPECT_EQ(interests_of(picture).size(), 1U);
    add_interest(picture, "face", 4, 10, 6, 4);
    add_interest(picture, "face", 8, 10, 6, 4);
  });
  const auto found = interests_of(out.get());
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2], (Interest{"face", 8, 4, 12, 8, 0}));
  EXPECT_EQ(found[3], (Interest{"face", 16, 4, 12, 8, 0}));
}

/// A second detector finds the same object.
TEST(Restore, AddsANewRegionThatEqualsOneOfTheFrame) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  add_interest(frame.get(), "face", 8, 4, 12, 8);
  const BufferRef out = restored(std::move(frame), [](GstBuffer *picture) {
    EXPECT_EQ(interests_of(picture), (std::vector<Interest>{{"face", 4, 10, 6, 4, 0}}));
    add_interest(picture, "face", 4, 10, 6, 4);
  });
  EXPECT_EQ(interests_of(out.get()), (std::vector<Interest>(2, {"face", 8, 4, 12, 8, 0})));
}

TEST(Restore, FollowsTheScalingOfOtherElements) {
  const BufferRef out = restored(
      buffer_of(random_picture(kFrame)),
      [](GstBuffer *picture) { add_interest(picture, "face", 8, 20, 12, 8); },
      "videoscale add-borders=false ! video/x-raw,width=64,height=64 ! ");
  EXPECT_EQ(interests_of(out.get()), (std::vector<Interest>{{"face", 8, 4, 12, 8, 0}}));
}

/// The first letterbox's padding is scaled like its axis.
TEST(Restore, FollowsUnequalScalesOfTheAxes) {
  const ImageDesc high = {PixelFormat::NV12, 32, 64};
  for (const ImageDesc &frame : {kFrame, high}) {
    const bool is_wide = frame.width > frame.height;
    DetectionRig rig("", kPicture,
                     "videoscale add-borders=false ! video/x-raw,width=96,height=64 ! ");
    rig.detect([&](GstBuffer *picture) {
      if (is_wide)
        add_interest(picture, "face", 12, 20, 18, 8);
      else
        add_interest(picture, "face", 30, 8, 18, 8);
    });
    ASSERT_TRUE(rig.caps(frame));
    const BufferRef out = rig.process(buffer_of(random_picture(frame)));
    const Interest expected =
        is_wide ? Interest{"face", 8, 4, 12, 8, 0} : Interest{"face", 4, 8, 12, 8, 0};
    EXPECT_EQ(interests_of(out.get()), std::vector<Interest>{expected});
  }
}

/// Since GStreamer 1.28, these elements pass a matrix to metas. Before, they drop the frame.
TEST(Restore, FollowsCropsAndBordersOfOtherElements) {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  if (minor < 28) GTEST_SKIP() << "before GStreamer 1.28";
  const BufferRef cropped = restored(
      buffer_of(random_picture(kFrame)),
      [](GstBuffer *picture) { add_interest(picture, "face", 0, 2, 6, 4); },
      "videocrop left=4 top=8 ! ");
  EXPECT_EQ(interests_of(cropped.get()), (std::vector<Interest>{{"face", 8, 4, 12, 8, 0}}));
  const BufferRef bordered = restored(
      buffer_of(random_picture(kFrame)),
      [](GstBuffer *picture) { add_interest(picture, "face", 20, 10, 6, 4); },
      "videoscale add-borders=true ! video/x-raw,width=64,height=32,pixel-aspect-ratio=1/1 ! ");
  EXPECT_EQ(interests_of(bordered.get()), (std::vector<Interest>{{"face", 8, 4, 12, 8, 0}}));
}

/// The second letterbox does not keep its input: the first one's reaches cudarestore.
TEST(Restore, FollowsASecondLetterbox) {
  const BufferRef out = restored(
      buffer_of(random_picture(kFrame)),
      [](GstBuffer *picture) { add_interest(picture, "face", 2, 5, 3, 2); },
      "cudaletterbox ! video/x-raw,format=GRAY8,width=16,height=16 ! ");
  EXPECT_EQ(interests_of(out.get()), (std::vector<Interest>{{"face", 8, 4, 12, 8, 0}}));
}

/// Each cudarestore undoes one letterbox.
TEST(Restore, NestsInItself) {
  Rig rig("cudaletterbox keep-input=true ! " + video_caps(kPicture) +
          " ! cudaletterbox keep-input=true ! video/x-raw,format=GRAY8,width=8,height=16 ! "
          "cudarestore ! " +
          video_caps(kPicture) + " ! cudarestore");
  rig.downstream("video/x-raw(ANY)");
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  BufferRef frame = buffer_of(random_picture(kFrame));
  GstBuffer *const address = frame.get();
  EXPECT_EQ(rig.process(std::move(frame)).get(), address);
}

// ---------------------------------------------------------------------------------- random geometry

struct RandomCase {
  ImageDesc frame, picture;
  std::string mode;
};

RandomCase random_case(Random &random) {
  const PixelFormat format = random.pick<PixelFormat>(
      {PixelFormat::NV12, PixelFormat::GRAY8, PixelFormat::BGR, PixelFormat::YUY2});
  RandomCase each = {{format, 2 * random.integer(1, 150), 2 * random.integer(1, 150)},
                     {random.chance(50) ? PixelFormat::RGB : PixelFormat::GRAY8,
                      random.integer(1, 120), random.integer(1, 120)},
                     random.pick<std::string>(
                         {"affine", "ultralytics", "top-left", "torchvision", "transformers"})};
  return each;
}

std::array<double, 6> inverse_of(GstBuffer *picture) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(picture, "GstCudaTensorGeometryMeta");
  return doubles_of<6>(gst_custom_meta_get_structure(meta), "inverse");
}

/// Checks both ends of an interval in the frame against what was found in the picture.
void expect_side(guint begin, guint length, double found, double found_length, double scale,
                 double shift, int size) {
  const double low = scale * found + shift, high = low + scale * found_length;
  const double end = static_cast<double>(begin) + length;
  // If the interval is narrower than a pixel, or at the picture's edge, a pixel covers it.
  EXPECT_LE(std::abs(begin - std::clamp(low, 0.0, size - 1.0)), 0.5 + 1e-6);
  if (high - low >= 1.0) {
    EXPECT_LE(std::abs(end - std::clamp(high, 1.0, static_cast<double>(size))), 0.5 + 1e-6);
  } else {
    EXPECT_EQ(length, 1U);
  }
}

void check(const RandomCase &each, Random &random) {
  DetectionRig rig("resize-mode=" + each.mode, each.picture);
  std::array<double, 6> inverse = {};
  Interest found = {};
  rig.detect([&](GstBuffer *picture) {
    inverse = inverse_of(picture);
    const auto below = [&](int size) { return static_cast<guint>(random.integer(0, size - 1)); };
    found = {"box", below(each.picture.width), below(each.picture.height), 1, 1, 0};
    found.width += below(each.picture.width) / 2;
    found.height += below(each.picture.height) / 2;
    add_interest(picture, "box", found.x, found.y, found.width, found.height);
  });
  ASSERT_TRUE(rig.caps(each.frame));
  const BufferRef out = rig.process(buffer_of(random_picture(each.frame)));
  const auto interests = interests_of(out.get());
  const auto is_inside = [&](guint begin, guint length, size_t axis, int size) {
    const double low = inverse[axis] * begin + inverse[axis == 0 ? 2 : 5];
    return low < size - 1e-9 && low + inverse[axis] * length > 1e-9;
  };
  if (!is_inside(found.x, found.width, 0, each.frame.width) ||
      !is_inside(found.y, found.height, 4, each.frame.height)) {
    EXPECT_LE(interests.size(), 1U);
    return;
  }
  ASSERT_EQ(interests.size(), 1U);
  expect_side(interests[0].x, interests[0].width, found.x, found.width, inverse[0], inverse[2],
              each.frame.width);
  expect_side(interests[0].y, interests[0].height, found.y, found.height, inverse[4], inverse[5],
              each.frame.height);
}

/// Each found box comes back within half a pixel of the frame.
TEST(Restore, MapsBoxesThroughRandomGeometries) {
  for_cases(1000, [](Random &random) {
    const RandomCase each = random_case(random);
    SCOPED_TRACE(text_of(each.frame) + " " + each.mode + " " + text_of(each.picture));
    check(each, random);
  });
}

}  // namespace
}  // namespace cudatensor
