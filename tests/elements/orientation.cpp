// SPDX-License-Identifier: LGPL-2.1-or-later
// video-direction of every element that has it: pictures, sizes, tags, regions and metas.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "gpu.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

/// A direction as a nick of GstVideoOrientationMethod, and the tag that stands for it.
struct Named {
  Direction direction;
  const char *nick, *tag;
};
constexpr Named kNamed[] = {
    {Direction::identity, "identity", "rotate-0"},
    {Direction::clockwise, "90r", "rotate-90"},
    {Direction::half_turn, "180", "rotate-180"},
    {Direction::counterclockwise, "90l", "rotate-270"},
    {Direction::horizontal, "horiz", "flip-rotate-0"},
    {Direction::vertical, "vert", "flip-rotate-180"},
    {Direction::main_diagonal, "ul-lr", "flip-rotate-270"},
    {Direction::anti_diagonal, "ur-ll", "flip-rotate-90"},
};

constexpr Named kTurned = kNamed[1];

GstEvent *tag_event(const char *orientation, GstTagScope scope = GST_TAG_SCOPE_STREAM) {
  GstTagList *tags = gst_tag_list_new(GST_TAG_TITLE, "clip", nullptr);
  if (orientation != nullptr)
    gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, orientation, nullptr);
  gst_tag_list_set_scope(tags, scope);
  return gst_event_new_tag(tags);
}

/// Returns the orientations in the tags that have left the element; "none" for tags without one.
std::vector<std::string> sent_orientations(Rig &rig) {
  std::vector<std::string> sent;
  while (EventRef event{gst_harness_try_pull_event(rig.harness())}) {
    if (GST_EVENT_TYPE(event.get()) != GST_EVENT_TAG) continue;
    GstTagList *tags = nullptr;
    gst_event_parse_tag(event.get(), &tags);
    gchar *text = nullptr;
    gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &text);
    sent.emplace_back(text != nullptr ? text : "none");
    g_free(text);
  }
  return sent;
}

// ---------------------------------------------------------------------------------- the pictures

/// The kernels' own tests show what a turned picture is; videoflip agrees where samples only move.
TEST(Orientation, EqualsVideoflipBeforeTheElement) {
  const std::vector<std::string> resizes = {
      "resize-mode=stretch",
      "resize-mode=affine",
      "resize-mode=ultralytics method=nearest",
      "resize-mode=top-left scale-up=false",
      "resize-mode=torchvision shortest-edge=40",
      "resize-mode=transformers shortest-edge=33 antialias=true method=bicubic",
      "resize-mode=ultralytics antialias=true method=lanczos",
      "resize-mode=stretch antialias=true method=box",
  };
  for (const PixelFormat format : {PixelFormat::RGB, PixelFormat::BGRx, PixelFormat::GRAY8})
    for (const Named &each : kNamed)
      for (const std::string &resize : resizes) {
        const Picture picture = random_picture({format, 50, 37});
        const std::string caps = video_caps(picture.desc());
        const std::string element = "cudanormalize width=31 height=24 " + resize;
        const std::string nick = each.nick;
        EXPECT_TRUE(same_bytes(
            output_bytes(element + " video-direction=" + nick, caps, buffer_of(picture), "ANY"),
            output_bytes("videoflip video-direction=" + nick + " ! " + element, caps,
                         buffer_of(picture), "ANY")))
            << name_of(format) << " " << nick << " " << resize;
      }
}

TEST(Orientation, EqualsTheKernels) {
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::YUY2, PixelFormat::P010_10LE})
    for (const Named &each : kNamed) {
      const Picture picture = random_picture({format, 50, 37});
      Source source = source_of(picture.desc());
      source.direction = each.direction;
      const std::string direction = std::string(" video-direction=") + each.nick;
      NormalizeCase params =
          normalize_params(source, Color::rgb, DType::float32, Layout::nchw, 31, 24);
      params.resize.mode = ResizeMode::ultralytics;
      EXPECT_TRUE(same_bytes(output_bytes("cudanormalize " + properties_of(params) + direction,
                                          video_caps(picture.desc()), buffer_of(picture), "ANY"),
                             normalized(picture, params)))
          << name_of(format) << direction;
      const LetterboxParams boxed = {source, {PixelFormat::RGB, 31, 24}, params.resize};
      EXPECT_TRUE(
          same_picture(output_picture("cudaletterbox" + properties_of(params.resize) + direction,
                                      video_caps(picture.desc()), buffer_of(picture), boxed.out),
                       letterboxed(picture, boxed)))
          << name_of(format) << direction;
    }
}

TEST(Orientation, TilesAreAGridOnTheTurnedPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 48, 30});
  const std::string caps = video_caps(picture.desc());
  for (const Named &each : kNamed) {
    const std::string element =
        "cudanormalize width=12 height=9 regions=tiles tile-columns=3 tile-rows=2 "
        "tile-overlap=0.25";
    const std::string nick = each.nick;
    EXPECT_TRUE(same_bytes(
        output_bytes(element + " video-direction=" + nick, caps, buffer_of(picture), "ANY"),
        output_bytes("videoflip video-direction=" + nick + " ! " + element, caps,
                     buffer_of(picture), "ANY")))
        << nick;
  }
}

/// The batch tells where the tiles are in the stored picture.
TEST(Orientation, TilesAreNamedByTheirPlaceInTheStoredPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 48, 30});
  for (const Named &each : kNamed) {
    Rig rig(std::string("cudanormalize width=12 height=9 regions=tiles tile-columns=2 tile-rows=1 "
                        "video-direction=") +
            each.nick);
    rig.caps(video_caps(picture.desc()));
    const BufferRef batch = rig.process(buffer_of(picture));
    const Orientation o = orientation_of(each.direction);
    const bool is_first =
        !o.mirrored_x;  // whether the left tile is at the start of the stored axis
    const std::array<double, 4> expected =
        o.transposed ? std::array<double, 4>{0, is_first ? 0.0 : 15.0, 48, 15}
                     : std::array<double, 4>{is_first ? 0.0 : 24.0, 0, 24, 30};
    EXPECT_EQ(region_of(batch.get(), 0), expected) << each.nick;
  }
}

/// Fractional edges of tiles are not rounded twice.
TEST(Orientation, TilesOfFractionsAreThoseOfTheTurnedPicture) {
  const Picture picture = random_picture({PixelFormat::GRAY8, 98, 74});
  const std::string caps = video_caps(picture.desc());
  for (const Named &each : kNamed)
    for (const char *overlap : {"0.1", "0.2", "0.3"}) {
      const std::string element =
          "cudanormalize color=gray width=23 height=21 method=nearest regions=tiles tile-columns=6 "
          "tile-rows=5 tile-overlap=" +
          std::string(overlap);
      const std::string nick = each.nick;
      EXPECT_TRUE(same_bytes(
          output_bytes(element + " video-direction=" + nick, caps, buffer_of(picture), "ANY"),
          output_bytes("videoflip video-direction=" + nick + " ! " + element, caps,
                       buffer_of(picture), "ANY")))
          << nick << " " << overlap;
    }
}

/// A region of a list stays where it is in the stored picture, and is turned on its own.
TEST(Orientation, RegionsOfAListAreThoseOfTheStoredPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 48, 30});
  const Picture crop = cut_out(picture, 8, 4, 20, 10);
  for (const Named &each : kNamed) {
    const std::string size = "cudanormalize width=12 height=9 video-direction=";
    EXPECT_TRUE(
        same_bytes(output_bytes(size + each.nick + " regions=list region-list=<8.0,4.0,20.0,10.0>",
                                video_caps(picture.desc()), buffer_of(picture), "ANY"),
                   output_bytes(size + each.nick, video_caps(crop.desc()), buffer_of(crop), "ANY")))
        << each.nick;
  }
}

// -------------------------------------------------------------------------------------- the sizes

TEST(Orientation, SizesThatAreOpenFollowTheTurnedPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
  for (const auto &[properties, dimensions] :
       {std::pair("", "37:50:3:1"), {"width=20", "20:50:3:1"}, {"height=20", "37:20:3:1"}}) {
    Rig rig(std::string("cudanormalize video-direction=90l ") + properties);
    rig.caps(video_caps(picture.desc()));
    EXPECT_NE(rig.process(buffer_of(picture)), nullptr);
    EXPECT_EQ(rig.output("dimensions"), dimensions);
    rig.set("video-direction", "180");
    EXPECT_NE(rig.process(buffer_of(picture)), nullptr);
    EXPECT_EQ(rig.output("dimensions"), std::string(properties).empty() ? "50:37:3:1"
                                        : properties[0] == 'w'          ? "20:37:3:1"
                                                                        : "50:20:3:1");
  }
  Rig boxed("cudaletterbox video-direction=90r");
  boxed.caps(video_caps(picture.desc()));
  EXPECT_NE(boxed.process(buffer_of(picture)), nullptr);
  EXPECT_EQ(boxed.output("width"), "37");
  EXPECT_EQ(boxed.output("height"), "50");
}

TEST(Orientation, CustomIsRefused) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
  for (const char *element : {"cudanormalize width=9 height=9", "cudaletterbox"}) {
    Rig rig(element);
    rig.downstream(element[4] == 'n' ? "ANY" : "video/x-raw,width=9,height=9");
    rig.caps(video_caps(picture.desc()));
    EXPECT_NE(rig.process(buffer_of(picture)), nullptr);
    rig.set("video-direction", "custom");
    expect_error(rig, buffer_of(picture), "video-direction=custom");
  }
}

// --------------------------------------------------------------------------------------- the tags

/// Pictures through an element that follows the tags.
class Followed {
 public:
  explicit Followed(const std::string &properties = " video-direction=auto")
      : rig_("cudanormalize" + properties) {
    rig_.caps(video_caps(picture_.desc()));
  }

  Rig &rig() { return rig_; }
  /// Begins the stream again, after a restart.
  void begin() {
    rig_.caps(video_caps(picture_.desc()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig_.event(gst_event_new_segment(&segment));
  }
  /// Returns whether the next picture is turned by a quarter.
  bool is_turned() {
    EXPECT_NE(rig_.process(buffer_of(picture_)), nullptr);
    return rig_.output("dimensions") == "37:50:3:1";
  }

 private:
  Picture picture_ = random_picture({PixelFormat::RGB, 50, 37});
  Rig rig_;
};

TEST(OrientationTags, EveryTagIsItsDirection) {
  const Picture picture = random_picture({PixelFormat::NV12, 50, 37});
  for (const Named &each : kNamed) {
    const std::string size = "cudanormalize width=31 height=24 video-direction=";
    Rig rig(size + "auto");
    rig.caps(video_caps(picture.desc()));
    rig.event(tag_event(each.tag));
    EXPECT_TRUE(same_bytes(
        bytes_of(rig.process(buffer_of(picture)).get()),
        output_bytes(size + each.nick, video_caps(picture.desc()), buffer_of(picture), "ANY")))
        << each.tag;
  }
}

TEST(OrientationTags, OnlyAutoFollowsThem) {
  Followed stored("");
  stored.rig().event(tag_event(kTurned.tag));
  EXPECT_FALSE(stored.is_turned());
  stored.rig().set("video-direction", "auto");
  EXPECT_TRUE(stored.is_turned());
  stored.rig().set("video-direction", "horiz");
  EXPECT_FALSE(stored.is_turned());
}

TEST(OrientationTags, OfTheStreamWinOverGlobalOnes) {
  Followed followed;
  EXPECT_FALSE(followed.is_turned());
  followed.rig().event(tag_event(kTurned.tag, GST_TAG_SCOPE_GLOBAL));
  EXPECT_TRUE(followed.is_turned());
  followed.rig().event(tag_event("rotate-180"));
  EXPECT_FALSE(followed.is_turned());
  // The latest list of the stream has none, so that the global one counts again.
  followed.rig().event(tag_event(nullptr));
  EXPECT_TRUE(followed.is_turned());
}

TEST(OrientationTags, AreForgottenWithTheirStream) {
  Followed followed;
  followed.rig().event(gst_event_new_stream_start("first"));
  followed.rig().event(tag_event(kTurned.tag));
  followed.rig().event(tag_event(kTurned.tag, GST_TAG_SCOPE_GLOBAL));
  EXPECT_TRUE(followed.is_turned());
  followed.rig().event(gst_event_new_stream_start("first"));
  EXPECT_TRUE(followed.is_turned());
  followed.rig().event(gst_event_new_stream_start("second"));
  EXPECT_FALSE(followed.is_turned());
}

TEST(OrientationTags, AreNotSentByNormalize) {
  for (const char *properties : {"", " video-direction=auto", " video-direction=180"}) {
    Followed followed(properties);
    followed.rig().event(tag_event(kTurned.tag));
    followed.is_turned();
    EXPECT_EQ(sent_orientations(followed.rig()), std::vector<std::string>{"none"});
  }
}

/// Events that replace others keep what belongs to them.
TEST(OrientationTags, KeepTheirNumberAndTheirOffset) {
  for (const char *element :
       {"cudanormalize width=8 height=8", "cudaletterbox video-direction=auto"}) {
    const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
    Rig rig(element);
    rig.caps(video_caps(picture.desc()));
    GstEvent *const tags = tag_event(kTurned.tag);
    gst_event_set_running_time_offset(tags, 5);
    const guint32 number = gst_event_get_seqnum(tags);
    rig.event(tags);
    rig.process(buffer_of(picture));
    guint found = 0;
    while (EventRef event{gst_harness_try_pull_event(rig.harness())}) {
      if (GST_EVENT_TYPE(event.get()) != GST_EVENT_TAG) continue;
      ++found;
      EXPECT_EQ(gst_event_get_seqnum(event.get()), number) << element;
      EXPECT_EQ(gst_event_get_running_time_offset(event.get()), 5) << element;
    }
    EXPECT_EQ(found, 1U) << element;
  }
}

TEST(OrientationTags, AreReplacedByLetterbox) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
  for (const auto &[method, sent] :
       {std::pair("identity", "rotate-90"), {"auto", "rotate-0"}, {"vert", "rotate-0"}}) {
    Rig rig(std::string("cudaletterbox video-direction=") + method);
    rig.caps(video_caps(picture.desc()));
    rig.event(tag_event(kTurned.tag));
    rig.process(buffer_of(picture));
    EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{sent}) << method;
  }
}

/// Downstream must not turn a picture twice, nor never, after the property has changed.
TEST(OrientationTags, AreSentAgainWhenTheMethodChanges) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
  Rig rig("cudaletterbox");
  rig.caps(video_caps(picture.desc()));
  rig.event(tag_event(kTurned.tag));
  rig.process(buffer_of(picture));
  EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{"rotate-90"});
  rig.set("video-direction", "auto");
  rig.process(buffer_of(picture));
  EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{"rotate-0"});
  rig.set("video-direction", "identity");
  rig.process(buffer_of(picture));
  EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{"rotate-90"});
}

/// A tag of another scope may come between the change and the next frame.
TEST(OrientationTags, AreThoseOfThePropertyAtAnyTime) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 37});
  for (const auto &[before, after, sent] :
       {std::tuple("identity", "auto", "rotate-0"), {"auto", "identity", "rotate-90"}}) {
    Rig rig(std::string("cudaletterbox video-direction=") + before);
    rig.caps(video_caps(picture.desc()));
    rig.event(tag_event(kTurned.tag));
    rig.process(buffer_of(picture));
    sent_orientations(rig);
    rig.set("video-direction", after);
    rig.event(tag_event(nullptr, GST_TAG_SCOPE_GLOBAL));
    rig.process(buffer_of(picture));
    EXPECT_EQ(sent_orientations(rig), (std::vector<std::string>{sent, "none"})) << after;
  }
}

/// As of videoflip: a new start is a new stream, also with the same id.
TEST(OrientationTags, AreForgottenInReady) {
  Followed followed;
  followed.rig().event(gst_event_new_stream_start("clip"));
  followed.rig().event(tag_event(kTurned.tag));
  EXPECT_TRUE(followed.is_turned());
  gst_element_set_state(followed.rig().element(), GST_STATE_READY);
  // Forgets the events that the pad would send again, the tag among them.
  GstPad *const source = followed.rig().harness()->srcpad;
  gst_pad_set_active(source, FALSE);
  gst_pad_set_active(source, TRUE);
  gst_element_set_state(followed.rig().element(), GST_STATE_PLAYING);
  followed.rig().event(gst_event_new_stream_start("clip"));
  followed.begin();
  EXPECT_FALSE(followed.is_turned());
}

// -------------------------------------------------------------------------------------- the metas

TEST(Orientation, RegionsOfInterestAreTurned) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 30});
  const BufferRef buffer = buffer_of(picture);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 10, 4, 20, 6);
  Rig rig("cudaletterbox video-direction=90r");
  rig.downstream("video/x-raw,format=RGB,width=60,height=100");
  rig.caps(video_caps(picture.desc()));
  const BufferRef out = rig.process(BufferRef(gst_buffer_ref(buffer.get())));
  auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(
      gst_buffer_get_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  ASSERT_NE(roi, nullptr);
  // x runs from the lower edge: 30 - (4 + 6) = 20, twice as large.
  EXPECT_EQ(roi->x, 40U);
  EXPECT_EQ(roi->y, 20U);
  EXPECT_EQ(roi->w, 12U);
  EXPECT_EQ(roi->h, 40U);
}

TEST(Orientation, RestoredFramesHaveTheBoxesOfTheStoredPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 30});
  for (const Named &each : kNamed) {
    Rig boxed(std::string("cudaletterbox keep-input=true video-direction=") + each.nick);
    boxed.downstream("video/x-raw,format=RGB,width=64,height=64");
    boxed.caps(video_caps(picture.desc()));
    BufferRef out = boxed.process(buffer_of(picture));
    // The corner of the stored picture, as a detector would find it.
    const auto *meta = gst_buffer_get_custom_meta(out.get(), "GstCudaTensorGeometryMeta");
    ASSERT_NE(meta, nullptr);
    const auto m =
        doubles_of<6>(gst_custom_meta_get_structure(const_cast<GstCustomMeta *>(meta)), "matrix");
    const double x[] = {m[2], m[0] * 20 + m[1] * 10 + m[2]};
    const double y[] = {m[5], m[3] * 20 + m[4] * 10 + m[5]};
    const auto rounded = [](double v) { return static_cast<guint>(v + 0.5); };
    gst_buffer_add_video_region_of_interest_meta(
        out.get(), "corner", rounded(std::min(x[0], x[1])), rounded(std::min(y[0], y[1])),
        rounded(std::abs(x[1] - x[0])), rounded(std::abs(y[1] - y[0])));
    Rig restored("cudarestore");
    restored.caps("video/x-raw,format=RGB,width=64,height=64,framerate=30/1");
    const BufferRef frame = restored.process(std::move(out));
    auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(
        gst_buffer_get_meta(frame.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    ASSERT_NE(roi, nullptr) << each.nick;
    EXPECT_LE(roi->x, 1U) << each.nick;
    EXPECT_LE(roi->y, 1U) << each.nick;
    EXPECT_NEAR(roi->w, 20.0, 1.0) << each.nick;
    EXPECT_NEAR(roi->h, 10.0, 1.0) << each.nick;
  }
}

/// The frames are as they were stored, so that what follows must turn them as before.
TEST(Orientation, RestoredFramesHaveTheTagOfTheStoredPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 30});
  for (const char *method : {"identity", "auto", "vert"}) {
    Rig rig(std::string("cudaletterbox keep-input=true video-direction=") + method +
            " ! cudarestore");
    rig.caps(video_caps(picture.desc()));
    rig.event(tag_event(kTurned.tag));
    rig.process(buffer_of(picture));
    EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{"rotate-90"}) << method;
    for (const Named &each : kNamed) {
      if (each.direction == kTurned.direction) continue;  // sent before
      rig.event(tag_event(each.tag));
      rig.process(buffer_of(picture));
      EXPECT_EQ(sent_orientations(rig), std::vector<std::string>{each.tag}) << method;
    }
    rig.event(tag_event("rotate-180"));
    rig.event(tag_event(nullptr, GST_TAG_SCOPE_GLOBAL));
    rig.process(buffer_of(picture));
    EXPECT_EQ(sent_orientations(rig), (std::vector<std::string>{"none", "rotate-180"})) << method;
  }
}

TEST(Orientation, TheGeometrySpeaksOfTheStoredPicture) {
  const Picture picture = random_picture({PixelFormat::RGB, 50, 30});
  Rig rig("cudanormalize width=60 height=100 video-direction=90r");
  rig.caps(video_caps(picture.desc()));
  const BufferRef out = rig.process(buffer_of(picture));
  GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "GstCudaTensorGeometryMeta");
  ASSERT_NE(meta, nullptr);
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  int width = 0, height = 0;
  gst_structure_get(s, "src-width", G_TYPE_INT, &width, "src-height", G_TYPE_INT, &height, nullptr);
  EXPECT_EQ(width, 50);
  EXPECT_EQ(height, 30);
  // (x, y) becomes 2 (30 - y), 2 x.
  EXPECT_EQ(doubles_of<6>(s, "matrix"), (std::array<double, 6>{0, -2, 60, 2, 0, 0}));
  EXPECT_EQ(doubles_of<6>(s, "inverse"), (std::array<double, 6>{0, 0.5, 0, -0.5, 0, 30}));
}

// --------------------------------------------------------------------------------------- the mux

TEST(OrientationOfCameras, EachPadHasItsOwn) {
  const NormalizeCase params = small_params();
  MuxRig rig(properties_of(params), 3);
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  const auto set = [&](const char *pad, const char *nick) {
    const PadRef sink(gst_element_get_static_pad(rig.element(), pad));
    gst_util_set_object_arg(G_OBJECT(sink.get()), "video-direction", nick);
  };
  set("sink_0", "90l");
  set("sink_2", "auto");
  for (size_t i = 0; i < 3; ++i) rig.camera(i).caps(video_caps(picture.desc()));
  rig.camera(1).event(tag_event(kTurned.tag));
  rig.camera(2).event(tag_event("rotate-180"));
  for (size_t i = 0; i < 3; ++i) rig.camera(i).push(frame_at(picture, 0, GST_SECOND / 30));
  const BufferRef batch = rig.pull();
  const auto turned = [&](Direction direction) {
    NormalizeCase own = params;
    own.source = source_of(picture.desc());
    own.source.direction = direction;
    return normalized(picture, own);
  };
  EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                         joined({turned(Direction::counterclockwise), turned(Direction::identity),
                                 turned(Direction::half_turn)})));
}

/// A control binding gives each batch the direction of its time, also where that exchanges the sides
/// of a batch with the size of the picture.
TEST(OrientationOfCameras, AControlledDirectionIsThatOfTheBatchsTime) {
  NormalizeCase params = small_params();
  params.out.w = params.out.h = 0;  // the picture's
  MuxRig rig(properties_of(params), 1);
  const PadRef sink(gst_element_get_static_pad(rig.element(), "sink_0"));
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_object_add_control_binding(
      GST_OBJECT(sink.get()),
      gst_direct_control_binding_new(GST_OBJECT(sink.get()), "video-direction", source));
  constexpr GstClockTime kFrame = GST_SECOND / 25;
  // From 0 for the first value of the enumeration to 1 for the last, custom.
  const auto position = [](Direction direction) {
    return (static_cast<int>(direction) + 0.25) / GST_VIDEO_ORIENTATION_CUSTOM;
  };
  for (size_t i = 0; i < std::size(kNamed); ++i)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), i * kFrame,
                                       position(kNamed[i].direction));
  gst_object_unref(source);
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  rig.camera(0).caps(video_caps(picture.desc()));
  for (size_t i = 0; i < std::size(kNamed); ++i) {
    rig.camera(0).push(frame_at(picture, i * kFrame, kFrame));
    NormalizeCase own = params;
    own.source = source_of(picture.desc());
    own.source.direction = kNamed[i].direction;
    own.out.w = own.source.seen().width;
    own.out.h = own.source.seen().height;
    const BufferRef batch = rig.pull();
    EXPECT_TRUE(same_bytes(bytes_of(batch.get()), normalized(picture, own))) << kNamed[i].nick;
  }
}

/// The mux is a GstChildProxy, so that a launch line can set the property before the pad exists.
TEST(OrientationOfCameras, LaunchLinesSetIt) {
  GstElement *made = gst_parse_launch(
      "cudatensormux name=mux sink_1::video-direction=90r backend=cpu ! fakesink "
      "videotestsrc ! mux.sink_0 videotestsrc ! mux.sink_1",
      nullptr);
  ASSERT_NE(made, nullptr);
  const ElementRef pipeline(GST_ELEMENT(gst_object_ref_sink(made)));
  const ElementRef mux(gst_bin_get_by_name(GST_BIN(pipeline.get()), "mux"));
  EXPECT_EQ(gst_child_proxy_get_children_count(GST_CHILD_PROXY(mux.get())), 2U);
  for (const auto &[name, expected] :
       {std::pair("sink_0::video-direction", 0), {"sink_1::video-direction", 1}}) {
    int method = -1;
    gst_child_proxy_get(GST_CHILD_PROXY(mux.get()), name, &method, nullptr);
    EXPECT_EQ(method, expected) << name;
  }
}

TEST(OrientationOfCameras, CustomNamesThePad) {
  MuxRig rig(properties_of(small_params()), 1);
  const PadRef sink(gst_element_get_static_pad(rig.element(), "sink_0"));
  gst_util_set_object_arg(G_OBJECT(sink.get()), "video-direction", "custom");
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  rig.camera(0).caps(video_caps(picture.desc()));
  rig.camera(0).push(frame_at(picture, 0, GST_SECOND / 30));
  const std::string error = rig.wait_for_error();
  EXPECT_TRUE(mentions(error, "sink_0"));
  EXPECT_TRUE(mentions(error, "video-direction=custom"));
}

}  // namespace
}  // namespace cudatensor
