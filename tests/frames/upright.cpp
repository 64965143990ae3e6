// SPDX-License-Identifier: LGPL-2.1-or-later
// The stages that turn frames, tested through their pads: all orientations, formats and changes.
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gst/library/frames/orientation.h"
#include "gst/library/frames/uprightframes.h"

namespace cudatensor {
namespace {

struct Orientation {
  const char *tag;
  GstVideoOrientationMethod method;
  bool swaps;
  /// Returns the stored position of a pixel of the upright picture; W × H is the stored picture.
  int (*x)(int x, int y, int w, int h), (*y)(int x, int y, int w, int h);
};

const std::vector<Orientation> kOrientations = {
    {"rotate-0", GST_VIDEO_ORIENTATION_IDENTITY, false, [](int x, int, int, int) { return x; },
     [](int, int y, int, int) { return y; }},
    {"rotate-90", GST_VIDEO_ORIENTATION_90R, true, [](int, int y, int, int) { return y; },
     [](int x, int, int, int h) { return h - 1 - x; }},
    {"rotate-180", GST_VIDEO_ORIENTATION_180, false,
     [](int x, int, int w, int) { return w - 1 - x; },
     [](int, int y, int, int h) { return h - 1 - y; }},
    {"rotate-270", GST_VIDEO_ORIENTATION_90L, true,
     [](int, int y, int w, int) { return w - 1 - y; }, [](int x, int, int, int) { return x; }},
    {"flip-rotate-0", GST_VIDEO_ORIENTATION_HORIZ, false,
     [](int x, int, int w, int) { return w - 1 - x; }, [](int, int y, int, int) { return y; }},
    {"flip-rotate-180", GST_VIDEO_ORIENTATION_VERT, false, [](int x, int, int, int) { return x; },
     [](int, int y, int, int h) { return h - 1 - y; }},
    {"flip-rotate-270", GST_VIDEO_ORIENTATION_UL_LR, true, [](int, int y, int, int) { return y; },
     [](int x, int, int, int) { return x; }},
    {"flip-rotate-90", GST_VIDEO_ORIENTATION_UR_LL, true,
     [](int, int y, int w, int) { return w - 1 - y; },
     [](int x, int, int, int h) { return h - 1 - x; }},
};

/// A picture that the format's own function has unpacked: four components per pixel, 16 bits each.
struct Picture {
  int width = 0, height = 0;
  std::vector<guint16> values;
  guint16 at(int x, int y, int c) const {
    return values[(static_cast<size_t>(y) * width + x) * 4 + c];
  }
};

Picture unpack(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  Picture picture;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return picture;
  picture.width = info.width;
  picture.height = info.height;
  picture.values.resize(static_cast<size_t>(info.width) * info.height * 4);
  const bool is_deep =
      GST_VIDEO_FORMAT_INFO_BITS(gst_video_format_get_info(info.finfo->unpack_format)) == 16;
  // Bits below the format's own may be anything.
  const guint mask = 0xffffU << (16 - GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0));
  std::vector<guint8> line(static_cast<size_t>(info.width) * 8);
  for (int y = 0; y < info.height; ++y) {
    info.finfo->unpack_func(info.finfo, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line.data(), frame.data,
                            frame.info.stride, 0, y, info.width);
    for (int i = 0; i < info.width * 4; ++i)
      picture.values[static_cast<size_t>(y) * info.width * 4 + i] =
          is_deep ? reinterpret_cast<const guint16 *>(line.data())[i] & mask : line[i];
  }
  gst_video_frame_unmap(&frame);
  return picture;
}

/// The stages in a bin, between two pads of the test.
class Stages {
 public:
  explicit Stages(GstVideoOrientationMethod stored = GST_VIDEO_ORIENTATION_IDENTITY,
                  const char *taken = "video/x-raw") {
    gst_init(nullptr, nullptr);
    bin_ = gst_pipeline_new(nullptr);
    auto given = std::make_unique<GivenFrames>(
        "taker", [this](const GstVideoInfo &info) { infos.push_back(info); });
    auto upright = std::make_unique<UprightFrames>(given.get(), stored);
    GstElement *first = make_stage(std::move(upright)), *second = make_stage(std::move(given));
    gst_bin_add_many(GST_BIN(bin_), first, second, nullptr);
    gst_element_link(first, second);
    from_ = gst_pad_new("from", GST_PAD_SRC);
    to_ = gst_pad_new("to", GST_PAD_SINK);
    taken_ = gst_caps_from_string(taken);
    g_object_set_data(G_OBJECT(to_), "stages", this);
    gst_pad_set_chain_function(to_, take);
    gst_pad_set_event_function(to_, take_event);
    gst_pad_set_query_function(to_, answer);
    gst_pad_set_active(from_, TRUE);
    gst_pad_set_active(to_, TRUE);
    const Ref<GstPad> sink(gst_element_get_static_pad(first, "sink"));
    const Ref<GstPad> src(gst_element_get_static_pad(second, "src"));
    gst_pad_link(from_, sink.get());
    gst_pad_link(src.get(), to_);
    gst_element_set_state(bin_, GST_STATE_PLAYING);
    begin();
  }
  ~Stages() {
    gst_element_set_state(bin_, GST_STATE_NULL);
    gst_object_unref(bin_);
    gst_object_unref(from_);
    gst_object_unref(to_);
    gst_caps_unref(taken_);
    for (GstBuffer *each : buffers) gst_buffer_unref(each);
  }
  Stages(const Stages &) = delete;
  Stages &operator=(const Stages &) = delete;

  void begin() { gst_pad_push_event(from_, gst_event_new_stream_start("stream")); }

  bool send_caps(const char *format, int width = 6, int height = 4, const char *more = "") {
    const std::string text = std::string("video/x-raw,format=") + format +
                             ",width=" + std::to_string(width) +
                             ",height=" + std::to_string(height) + ",framerate=10/1" + more;
    const Ref<GstCaps> caps(gst_caps_from_string(text.c_str()));
    gst_video_info_from_caps(&info, caps.get());
    if (!gst_pad_push_event(from_, gst_event_new_caps(caps.get()))) return false;
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    return gst_pad_push_event(from_, gst_event_new_segment(&segment));
  }

  bool send_tag(const char *orientation, GstTagScope scope = GST_TAG_SCOPE_STREAM) {
    GstTagList *tags = gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, orientation, nullptr);
    gst_tag_list_set_scope(tags, scope);
    return gst_pad_push_event(from_, gst_event_new_tag(tags));
  }

  /// Pushes a picture of random bytes, and compares the output with the turned picture.
  void expect_turned(const Orientation &orientation, const char *why) {
    GstBuffer *const buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    std::vector<guint8> bytes(info.size);
    for (guint8 &each : bytes) each = static_cast<guint8>(g_random_int());
    gst_buffer_fill(buffer, 0, bytes.data(), bytes.size());
    GST_BUFFER_PTS(buffer) = buffers.size() * GST_SECOND;
    GST_BUFFER_DURATION(buffer) = GST_SECOND;
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    const Picture stored = unpack(buffer, info);
    const size_t count = buffers.size();
    ASSERT_EQ(gst_pad_push(from_, buffer), GST_FLOW_OK) << why;
    ASSERT_EQ(buffers.size(), count + 1) << why;
    ASSERT_FALSE(infos.empty()) << why;
    const Picture turned = unpack(buffers.back(), infos.back());
    ASSERT_EQ(turned.width, orientation.swaps ? info.height : info.width) << why;
    ASSERT_EQ(turned.height, orientation.swaps ? info.width : info.height) << why;
    EXPECT_EQ(GST_BUFFER_PTS(buffers.back()), count * GST_SECOND) << why;
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(buffers.back(), GST_BUFFER_FLAG_DELTA_UNIT)) << why;
    const bool is_subsampled = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info.finfo) > 1 &&
                               GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, 1) > 0;
    for (int y = 0; y < turned.height; ++y)
      for (int x = 0; x < turned.width; ++x)
        for (int c = 1; c < (is_subsampled ? 2 : 4); ++c)
          ASSERT_EQ(turned.at(x, y, c), stored.at(orientation.x(x, y, info.width, info.height),
                                                  orientation.y(x, y, info.width, info.height), c))
              << why << ": " << orientation.tag << ", component " << c << " at " << x << ", " << y;
  }

  /// Returns the message of the first error since the last call; empty if there was none.
  std::string error() {
    GstBus *bus = gst_element_get_bus(bin_);
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

  std::string caps_field(const char *name) const {
    const Ref<GstCaps> caps(gst_pad_get_current_caps(to_));
    const gchar *value = gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), name);
    return value != nullptr ? value : "";
  }

  GstVideoInfo info = {};  // format of the stored pictures
  std::vector<GstVideoInfo> infos;
  std::vector<GstBuffer *> buffers;

 private:
  static Stages *of(GstPad *pad) {
    return static_cast<Stages *>(g_object_get_data(G_OBJECT(pad), "stages"));
  }
  static GstFlowReturn take(GstPad *pad, GstObject *, GstBuffer *buffer) {
    of(pad)->buffers.push_back(buffer);
    return GST_FLOW_OK;
  }
  static gboolean take_event(GstPad *, GstObject *, GstEvent *event) {
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

  GstElement *bin_;
  GstPad *from_, *to_;
  GstCaps *taken_;
};

TEST(Upright, AllOrientationsAreTurned) {
  for (const char *format : {"RGB", "Y444", "BGRx", "I420", "NV12", "GRAY8", "I420_10LE"}) {
    for (const Orientation &each : kOrientations) {
      Stages stages;
      ASSERT_TRUE(stages.send_tag(each.tag));
      ASSERT_TRUE(stages.send_caps(format));
      stages.expect_turned(each, format);
      EXPECT_EQ(stages.error(), "") << format << " " << each.tag;
    }
  }
}

TEST(Upright, OrientationsOfTheFileAreTurned) {
  for (const Orientation &each : kOrientations) {
    Stages stages(each.method);
    ASSERT_TRUE(stages.send_caps("RGB"));
    stages.expect_turned(each, "stored");
    ASSERT_TRUE(stages.send_tag("rotate-180"));
    stages.expect_turned(kOrientations[2], "a tag goes before");
  }
}

/// Formats that videoflip does not support have the same samples in another order.
TEST(Upright, FormatsThatVideoflipLacksAreTurned) {
  for (const char *format : {"P010_10LE", "NV24", "GBR", "Y42B", "NV16", "NV61", "A420"}) {
    for (const Orientation &each : kOrientations) {
      Stages stages;
      ASSERT_TRUE(stages.send_caps(format));
      ASSERT_TRUE(stages.send_tag(each.tag)) << format << ": " << stages.error();
      stages.expect_turned(each, format);
    }
  }
}

TEST(Upright, OrientationsChange) {
  Stages stages;
  ASSERT_TRUE(stages.send_caps("RGB"));
  for (size_t from = 0; from < kOrientations.size(); ++from)
    for (const Orientation &to : kOrientations) {
      ASSERT_TRUE(stages.send_tag(kOrientations[from].tag));
      stages.expect_turned(kOrientations[from], "before");
      ASSERT_TRUE(stages.send_tag(to.tag));
      stages.expect_turned(to, "after");
    }
  EXPECT_EQ(stages.error(), "");
}

TEST(Upright, FormatsChange) {
  Stages stages;
  const Orientation &turned = kOrientations[1];
  ASSERT_TRUE(stages.send_tag(turned.tag));
  for (const char *format : {"RGB", "NV12", "P010_10LE", "RGB", "Y444", "GBR", "Y444"}) {
    ASSERT_TRUE(stages.send_caps(format, 6, 4));
    stages.expect_turned(turned, format);
    ASSERT_TRUE(stages.send_caps(format, 8, 2));
    stages.expect_turned(turned, format);
  }
  EXPECT_EQ(stages.error(), "");
}

TEST(Upright, ATagOfTheStreamGoesBeforeOneOfTheFile) {
  Stages stages;
  ASSERT_TRUE(stages.send_caps("RGB"));
  ASSERT_TRUE(stages.send_tag("rotate-90", GST_TAG_SCOPE_GLOBAL));
  stages.expect_turned(kOrientations[1], "global");
  ASSERT_TRUE(stages.send_tag("rotate-180"));
  stages.expect_turned(kOrientations[2], "of the stream");
  ASSERT_TRUE(stages.send_tag("rotate-270", GST_TAG_SCOPE_GLOBAL));
  stages.expect_turned(kOrientations[2], "global, later");
  stages.begin();
  ASSERT_TRUE(stages.send_caps("RGB"));
  stages.expect_turned(kOrientations[0], "another stream");
}

TEST(Upright, WhatCannotBeTurnedIsRefusedByItsName) {
  for (const char *format : {"Y41B", "IYU1"}) {
    Stages stages;
    ASSERT_TRUE(stages.send_caps(format, 8, 4));
    stages.send_tag("rotate-90");
    const std::string error = stages.error();
    EXPECT_NE(error.find(format), std::string::npos) << error;
    EXPECT_NE(error.find("90r"), std::string::npos) << error;
    EXPECT_TRUE(stages.send_tag("rotate-0"));
    stages.expect_turned(kOrientations[0], "upright again");
  }
}

TEST(Upright, FormatsThatNobodyTakesAreRefusedByTheirName) {
  Stages stages(GST_VIDEO_ORIENTATION_IDENTITY, "video/x-raw,format={RGB,I420},width=[1,100]");
  stages.send_caps("Y444_12LE");
  EXPECT_EQ(stages.error(), "taker does not take the pixel format Y444_12LE");
  stages.send_caps("RGB", 200, 4);
  const std::string error = stages.error();
  EXPECT_NE(error.find("width=(int)200"), std::string::npos) << error;
  EXPECT_TRUE(stages.send_caps("RGB"));
  stages.expect_turned(kOrientations[0], "taken");
}

/// GStreamer has no chroma site at the right or bottom, so the caps say that it is in the middle.
TEST(Upright, ChromaStaysWhereItIs) {
  const auto turned = [](const char *site, const Orientation &orientation) {
    const std::string more = std::string(",chroma-site=") + site + ",colorimetry=bt709";
    Stages stages;
    EXPECT_TRUE(stages.send_tag(orientation.tag));
    EXPECT_TRUE(stages.send_caps("I420", 6, 4, more.c_str()));
    EXPECT_EQ(stages.caps_field("colorimetry"), "bt709");
    return gst_video_chroma_site_from_string(stages.caps_field("chroma-site").c_str());
  };
  const std::vector<GstVideoChromaSite> left = {
      GST_VIDEO_CHROMA_SITE_H_COSITED, GST_VIDEO_CHROMA_SITE_V_COSITED,
      GST_VIDEO_CHROMA_SITE_NONE,      GST_VIDEO_CHROMA_SITE_NONE,
      GST_VIDEO_CHROMA_SITE_NONE,      GST_VIDEO_CHROMA_SITE_H_COSITED,
      GST_VIDEO_CHROMA_SITE_V_COSITED, GST_VIDEO_CHROMA_SITE_NONE};
  const std::vector<GstVideoChromaSite> corner = {
      GST_VIDEO_CHROMA_SITE_COSITED,   GST_VIDEO_CHROMA_SITE_V_COSITED,
      GST_VIDEO_CHROMA_SITE_NONE,      GST_VIDEO_CHROMA_SITE_H_COSITED,
      GST_VIDEO_CHROMA_SITE_V_COSITED, GST_VIDEO_CHROMA_SITE_H_COSITED,
      GST_VIDEO_CHROMA_SITE_COSITED,   GST_VIDEO_CHROMA_SITE_NONE};
  for (size_t i = 0; i < kOrientations.size(); ++i) {
    EXPECT_EQ(turned("mpeg2", kOrientations[i]), left[i]) << kOrientations[i].tag;
    EXPECT_EQ(turned("cosited", kOrientations[i]), corner[i]) << kOrientations[i].tag;
    EXPECT_EQ(turned("jpeg", kOrientations[i]), GST_VIDEO_CHROMA_SITE_NONE);
  }
}

/// Missing fields of caps follow from the size of the stored picture.
TEST(Upright, ColorsGoByTheStoredSize) {
  Stages stages;
  ASSERT_TRUE(stages.send_tag("rotate-90"));
  ASSERT_TRUE(stages.send_caps("I420", 1280, 480));
  GstVideoInfo stored;
  gst_video_info_set_format(&stored, GST_VIDEO_FORMAT_I420, 1280, 480);
  gchar *expected = gst_video_colorimetry_to_string(&stored.colorimetry);
  EXPECT_EQ(stages.caps_field("colorimetry"), expected);
  g_free(expected);
}

}  // namespace
}  // namespace cudatensor
