// SPDX-License-Identifier: LGPL-2.1-or-later
// The last stage of a source, tested through its pads: the tags that it sends, the format that it
// tells, and what it refuses.
#include "gst/library/frames/givenframes.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudatensor {
namespace {

using Size = std::pair<int, int>;

/// The stage in a pipeline, between two pads of the test.
class Stage {
 public:
  explicit Stage(GstVideoOrientationMethod method, Direction stored = Direction::identity,
                 const char *taken = "video/x-raw") {
    gst_init(nullptr, nullptr);
    pipeline_ = gst_pipeline_new(nullptr);
    GstElement *stage = make_stage(std::make_unique<GivenFrames>(
        "taker", method, stored,
        [this](const GstVideoInfo &info) { sizes.emplace_back(info.width, info.height); }));
    gst_bin_add(GST_BIN(pipeline_), stage);
    from_ = gst_pad_new("from", GST_PAD_SRC);
    to_ = gst_pad_new("to", GST_PAD_SINK);
    taken_ = gst_caps_from_string(taken);
    g_object_set_data(G_OBJECT(to_), "stage", this);
    gst_pad_set_chain_function(to_, take);
    gst_pad_set_event_function(to_, take_event);
    gst_pad_set_query_function(to_, answer);
    gst_pad_set_active(from_, TRUE);
    gst_pad_set_active(to_, TRUE);
    const Ref<GstPad> sink(gst_element_get_static_pad(stage, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(stage, "src"));
    gst_pad_link(from_, sink.get());
    gst_pad_link(src.get(), to_);
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    begin("stream");
  }
  ~Stage() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
    gst_object_unref(from_);
    gst_object_unref(to_);
    gst_caps_unref(taken_);
  }
  Stage(const Stage &) = delete;
  Stage &operator=(const Stage &) = delete;

  void begin(const char *stream) { gst_pad_push_event(from_, gst_event_new_stream_start(stream)); }
  void end() { gst_pad_push_event(from_, gst_event_new_eos()); }

  bool send_caps(const char *format, int width = 6, int height = 4) {
    const Ref<GstCaps> caps(gst_caps_new_simple(
        "video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width, "height",
        G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 10, 1, nullptr));
    if (!gst_pad_push_event(from_, gst_event_new_caps(caps.get()))) return false;
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    return gst_pad_push_event(from_, gst_event_new_segment(&segment));
  }

  /// Sends tags with an orientation, or with only a title if it is null.
  void send_tag(const char *orientation, GstTagScope scope = GST_TAG_SCOPE_STREAM) {
    GstTagList *tags = gst_tag_list_new(GST_TAG_TITLE, "title", nullptr);
    gst_tag_list_set_scope(tags, scope);
    if (orientation != nullptr)
      gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, orientation,
                       nullptr);
    gst_pad_push_event(from_, gst_event_new_tag(tags));
  }

  GstFlowReturn send_frame() { return gst_pad_push(from_, gst_buffer_new()); }

  /// Returns the direction that an element with `video-direction=auto` takes at this place.
  Direction direction() const { return taken_tags_.direction(); }

  /// Returns the message of the first error since the last call; empty if there was none.
  std::string error() {
    GstBus *bus = gst_element_get_bus(pipeline_);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_bus_set_flushing(bus, TRUE);
    gst_bus_set_flushing(bus, FALSE);
    gst_object_unref(bus);
    if (message == nullptr) return "";
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    return text;
  }

  std::vector<Size> sizes;  // that the stage has told
  size_t frames = 0, told_before_frames = 0;

 private:
  static Stage *of(GstPad *pad) {
    return static_cast<Stage *>(g_object_get_data(G_OBJECT(pad), "stage"));
  }
  static GstFlowReturn take(GstPad *pad, GstObject *, GstBuffer *buffer) {
    gst_buffer_unref(buffer);
    ++of(pad)->frames;
    of(pad)->told_before_frames += !of(pad)->sizes.empty();
    return GST_FLOW_OK;
  }
  static gboolean take_event(GstPad *pad, GstObject *, GstEvent *event) {
    follow_event(of(pad)->taken_tags_, event);
    gst_event_unref(event);
    return TRUE;
  }
  static gboolean answer(GstPad *pad, GstObject *, GstQuery *query) {
    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
      gst_query_set_caps_result(query, of(pad)->taken_);
      return TRUE;
    }
    if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS) return FALSE;
    GstCaps *caps = nullptr;
    gst_query_parse_accept_caps(query, &caps);
    gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, of(pad)->taken_));
    return TRUE;
  }

  GstElement *pipeline_;
  GstPad *from_, *to_;
  GstCaps *taken_;
  DirectionSettings taken_tags_ = {GST_VIDEO_ORIENTATION_AUTO, {}, {}, {}};
};

constexpr auto kAuto = GST_VIDEO_ORIENTATION_AUTO;

TEST(GivenFrames, TheSizeIsThatOfTheSeenPictureBeforeTheFirstFrame) {
  const std::vector<std::pair<const char *, Size>> tags = {
      {"rotate-0", {6, 4}},        {"rotate-90", {4, 6}},      {"rotate-180", {6, 4}},
      {"rotate-270", {4, 6}},      {"flip-rotate-0", {6, 4}},  {"flip-rotate-180", {6, 4}},
      {"flip-rotate-270", {4, 6}}, {"flip-rotate-90", {4, 6}}, {nullptr, {6, 4}}};
  for (const auto &[tag, size] : tags) {
    Stage stage(kAuto);
    ASSERT_TRUE(stage.send_caps("I420"));
    stage.send_tag(tag);
    EXPECT_TRUE(stage.sizes.empty()) << "before its tags may have come";
    EXPECT_EQ(stage.send_frame(), GST_FLOW_OK);
    EXPECT_EQ(stage.send_frame(), GST_FLOW_OK);
    EXPECT_EQ(stage.told_before_frames, 2U);
    EXPECT_EQ(stage.sizes, std::vector<Size>{size}) << (tag != nullptr ? tag : "no tag");
  }
}

TEST(GivenFrames, TheSizeIsToldAtTheEndIfThereIsNoFrame) {
  Stage stage(kAuto);
  ASSERT_TRUE(stage.send_caps("RGB"));
  stage.send_tag("rotate-90");
  stage.end();
  EXPECT_EQ(stage.sizes, (std::vector<Size>{{4, 6}}));
}

TEST(GivenFrames, TheSizeIsToldAgainAfterAChange) {
  Stage stage(kAuto);
  ASSERT_TRUE(stage.send_caps("RGB"));
  stage.send_frame();
  stage.send_tag("rotate-90");
  stage.send_frame();
  stage.send_tag("rotate-90");
  stage.send_frame();
  ASSERT_TRUE(stage.send_caps("RGB", 8, 2));
  stage.send_frame();
  EXPECT_EQ(stage.sizes, (std::vector<Size>{{6, 4}, {4, 6}, {2, 8}}));
}

TEST(GivenFrames, AMethodWinsOverTheTag) {
  for (const auto &[method, size] : {std::pair(GST_VIDEO_ORIENTATION_IDENTITY, Size(6, 4)),
                                     std::pair(GST_VIDEO_ORIENTATION_90L, Size(4, 6)),
                                     std::pair(GST_VIDEO_ORIENTATION_UR_LL, Size(4, 6)),
                                     std::pair(GST_VIDEO_ORIENTATION_VERT, Size(6, 4))}) {
    for (const char *tag : {"rotate-90", "rotate-180"}) {
      Stage stage(method);
      ASSERT_TRUE(stage.send_caps("RGB"));
      stage.send_tag(tag);
      stage.send_frame();
      EXPECT_EQ(stage.sizes, std::vector<Size>{size}) << tag;
    }
  }
}

/// The orientation that a file states is sent as a tag, which counts where there is no other.
TEST(GivenFrames, TheStoredOrientationIsATagOfTheFile) {
  Stage stage(kAuto, Direction::anti_diagonal);
  EXPECT_EQ(stage.direction(), Direction::anti_diagonal);
  ASSERT_TRUE(stage.send_caps("RGB"));
  stage.send_tag(nullptr);
  stage.send_tag(nullptr, GST_TAG_SCOPE_GLOBAL);
  EXPECT_EQ(stage.direction(), Direction::anti_diagonal);
  stage.send_frame();
  EXPECT_EQ(stage.sizes, (std::vector<Size>{{4, 6}}));

  stage.send_tag("rotate-270", GST_TAG_SCOPE_GLOBAL);
  EXPECT_EQ(stage.direction(), Direction::counterclockwise) << "a tag of the file";
  stage.send_tag("rotate-180");
  EXPECT_EQ(stage.direction(), Direction::half_turn) << "a tag of the stream";
  stage.send_tag(nullptr, GST_TAG_SCOPE_GLOBAL);
  EXPECT_EQ(stage.direction(), Direction::half_turn);
  stage.send_tag(nullptr);
  EXPECT_EQ(stage.direction(), Direction::anti_diagonal) << "no tag";
  stage.send_frame();
  EXPECT_EQ(stage.sizes.back(), Size(4, 6));

  stage.send_tag("rotate-180");
  stage.begin("another");
  EXPECT_EQ(stage.direction(), Direction::anti_diagonal) << "another stream";
}

TEST(GivenFrames, AnUprightSourceHasNoTagOfItsOwn) {
  Stage stage(kAuto);
  EXPECT_EQ(stage.direction(), Direction::identity);
  stage.send_tag("rotate-90", GST_TAG_SCOPE_GLOBAL);
  EXPECT_EQ(stage.direction(), Direction::clockwise);
  stage.send_tag("rotate-0");
  EXPECT_EQ(stage.direction(), Direction::identity);
  stage.begin("another");
  EXPECT_EQ(stage.direction(), Direction::identity);
}

TEST(GivenFrames, FormatsThatNobodyTakesAreRefusedByTheirName) {
  Stage stage(kAuto, Direction::identity, "video/x-raw,format={RGB,I420},width=[1,100]");
  stage.send_caps("Y444_12LE");
  EXPECT_EQ(stage.error(), "taker does not take the pixel format Y444_12LE");
  stage.send_caps("RGB", 200, 4);
  const std::string error = stage.error();
  EXPECT_NE(error.find("width=(int)200"), std::string::npos) << error;
  EXPECT_TRUE(stage.send_caps("RGB"));
  EXPECT_EQ(stage.send_frame(), GST_FLOW_OK);
  EXPECT_EQ(stage.frames, 1U);
  EXPECT_EQ(stage.sizes, (std::vector<Size>{{6, 4}}));
  EXPECT_EQ(stage.error(), "");
}

}  // namespace
}  // namespace cudatensor
