// SPDX-License-Identifier: LGPL-2.1-or-later
// Fields of caps besides the format: interlacing, transfer functions, ranges, matrices.
#include <gst/video/video.h>

#include <functional>

#include "muxrig.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr ImageDesc kNv12 = {PixelFormat::NV12, 16, 12};
const char *const kFilters[] = {"cudaletterbox", "cudanormalize width=8 height=8",
                                "cudanv12toyuv444"};

// ----------------------------------------------------------------------------------- interlaced

std::string interlaced_caps(const char *mode) {
  return video_caps(kNv12, std::string("interlace-mode=") + mode);
}

BufferRef frame(guint flags = 0) {
  BufferRef buffer = buffer_of(random_picture(kNv12));
  GST_BUFFER_FLAG_SET(buffer.get(), flags);
  return buffer;
}

constexpr guint kFields = GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF;

TEST(Interlaced, FramesAreRefused) {
  for (const char *element : kFilters) {
    SCOPED_TRACE(element);
    for (const char *mode : {"interleaved", "fields"}) {
      Rig rig(element);
      ASSERT_TRUE(rig.caps(interlaced_caps(mode)));
      expect_error(rig, frame(), "deinterlace");
    }
  }
}

TEST(Interlaced, OnlyInterlacedFramesOfMixedVideoAreRefused) {
  for (const char *element : kFilters) {
    SCOPED_TRACE(element);
    Rig rig(element);
    ASSERT_TRUE(rig.caps(interlaced_caps("mixed")));
    rig.process(frame());
    rig.process(frame(GST_VIDEO_BUFFER_FLAG_TFF));
    expect_error(rig, frame(kFields), "interlaced=as-progressive");
  }
}

TEST(Interlaced, FramesAreResizedAsOnePictureIfAsked) {
  for (const char *element : kFilters) {
    SCOPED_TRACE(element);
    Rig progressive(element);
    ASSERT_TRUE(progressive.caps(video_caps(kNv12)));
    const Bytes expected = bytes_of(progressive.process(frame()).get());
    for (const char *mode : {"interleaved", "mixed"}) {
      Rig rig(std::string(element) + " interlaced=as-progressive");
      ASSERT_TRUE(rig.caps(interlaced_caps(mode)));
      const BufferRef out = rig.process(frame(kFields));
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected));
      EXPECT_EQ(rig.output("interlace-mode"),
                rig.output("format") == "static" ? "" : "progressive");
      if (rig.output("format") != "static") EXPECT_EQ(GST_BUFFER_FLAGS(out.get()) & kFields, 0u);
    }
  }
}

TEST(Interlaced, FramesAreRefusedWithTheNameOfTheirCamera) {
  MuxRig rig("width=4 height=4", 2);
  rig.camera(0).caps(video_caps(kNv12));
  rig.camera(1).caps(interlaced_caps("interleaved"));
  for (size_t i = 0; i < 2; ++i) {
    BufferRef buffer = frame();
    GST_BUFFER_PTS(buffer.get()) = 0;
    rig.camera(i).push(std::move(buffer));
  }
  const std::string error = rig.wait_for_error();
  EXPECT_TRUE(mentions(error, "sink_1: "));
  EXPECT_TRUE(mentions(error, "interlaced"));
}

TEST(Interlaced, FramesOfACameraAreResizedAsOnePictureIfAsked) {
  Bytes batch[2];
  for (const bool interlaced : {false, true}) {
    MuxRig rig(interlaced ? "width=4 height=4 interlaced=as-progressive" : "width=4 height=4", 1);
    rig.camera(0).caps(interlaced ? interlaced_caps("interleaved") : video_caps(kNv12));
    BufferRef buffer = frame(interlaced ? kFields : 0);
    GST_BUFFER_PTS(buffer.get()) = 0;
    rig.camera(0).push(std::move(buffer));
    batch[interlaced] = bytes_of(rig.pull().get());
  }
  EXPECT_TRUE(same_bytes(batch[true], batch[false]));
}

TEST(Interlaced, FramesAreCounted) {
  Rig rig("cudahistogram interval=0");
  ASSERT_TRUE(rig.caps(interlaced_caps("interleaved")));
  const BufferRef out = rig.process(frame(kFields));
  EXPECT_EQ(GST_BUFFER_FLAGS(out.get()) & kFields, kFields);
  EXPECT_EQ(rig.histograms(1).size(), 1u);
}

// ------------------------------------------------------------------------------------------ HDR

std::vector<std::string> warnings_of(Messages &messages) {
  std::vector<std::string> texts;
  for (const MessageRef &message : messages.of_type(GST_MESSAGE_WARNING)) {
    GError *error = nullptr;
    gst_message_parse_warning(message.get(), &error, nullptr);
    texts.push_back(error->message);
    g_error_free(error);
  }
  return texts;
}

TEST(Hdr, VideoGivesOneWarning) {
  const ImageDesc p010 = {PixelFormat::P010_10LE, 16, 12};
  for (const char *element : {"cudaletterbox", "cudanormalize width=8 height=8"})
    for (const auto &[colorimetry, name] :
         {std::pair("bt2100-pq", "PQ"), std::pair("bt2100-hlg", "HLG")}) {
      Rig rig(element);
      for (const std::string &more : {std::string(), std::string(",chroma-site=mpeg2")}) {
        ASSERT_TRUE(rig.caps(video_caps(p010, std::string("colorimetry=") + colorimetry + more)));
        rig.process(buffer_of(random_picture(p010)));
      }
      const std::vector<std::string> warnings = warnings_of(rig.messages());
      ASSERT_EQ(warnings.size(), 1u) << element;
      EXPECT_TRUE(mentions(warnings[0], name));
      EXPECT_TRUE(mentions(warnings[0], "transfer function is not converted"));
    }
}

TEST(Hdr, SdrVideoGivesNoWarning) {
  for (const char *colorimetry : {"bt2020", "bt2020-10", "bt709", "1:4:0:0"}) {
    Rig rig("cudanormalize width=8 height=8");
    ASSERT_TRUE(rig.caps(video_caps(kNv12, std::string("colorimetry=") + colorimetry)));
    rig.process(frame());
    EXPECT_TRUE(warnings_of(rig.messages()).empty()) << colorimetry;
  }
}

TEST(Hdr, VideoGivesAWarningAgainAfterARestart) {
  MuxRig rig("width=4 height=4", 1);
  const std::string caps = video_caps(kNv12, "colorimetry=bt2100-pq");
  rig.camera(0).caps(caps);
  for (const bool restarts : {false, true}) {
    if (restarts) {
      rig.restart();
      rig.camera(0).begin(caps);
    }
    BufferRef buffer = frame();
    GST_BUFFER_PTS(buffer.get()) = 0;
    rig.camera(0).push(std::move(buffer));
    rig.pull();
    EXPECT_EQ(warnings_of(rig.messages()).size(), 1u);
  }
}

TEST(Hdr, WarningNamesTheCamera) {
  MuxRig rig("width=4 height=4", 1);
  for (const char *more : {"", ",chroma-site=mpeg2"}) {
    rig.camera(0).caps(video_caps(kNv12, std::string("colorimetry=bt2100-hlg") + more));
    BufferRef buffer = frame();
    GST_BUFFER_PTS(buffer.get()) = 0;
    rig.camera(0).push(std::move(buffer));
    rig.pull();
  }
  const std::vector<std::string> warnings = warnings_of(rig.messages());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], "sink_0: the video is HDR"));
}

// ---------------------------------------------------------------------------------- colorimetry

/// JPEG pictures have full range and BT.601's matrix at any size.
TEST(Colorimetry, IsFullRangeBt601ForJpeg) {
  for (const PixelFormat format : {PixelFormat::Y42B, PixelFormat::I420, PixelFormat::Y444}) {
    const Picture picture = random_picture({format, 64, 720});
    NormalizeCase params =
        normalize_params({picture.desc(), {ColorMatrix::bt601, ColorRange::full}, false, false},
                         Color::rgb, DType::float32, Layout::nchw, 10, 20);
    EXPECT_TRUE(
        same_bytes(output_bytes("cudanormalize width=10 height=20",
                                video_caps(picture.desc(), "colorimetry=1:4:0:0,chroma-site=jpeg"),
                                buffer_of(picture), tensor_caps(params.out)),
                   normalized(picture, params)));
  }
}

/// Unknown parts follow from the height: BT.601 up to 576 rows, BT.709 above; limited range.
TEST(Colorimetry, FollowsTheHeightIfUnknown) {
  for (const int height : {576, 578}) {
    const Picture picture = random_picture({PixelFormat::YUY2, 16, height});
    const CapsRef caps(gst_caps_from_string(video_caps(picture.desc()).c_str()));
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    const bool cosited = (info.chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
    const ColorMatrix matrix = height == 576 ? ColorMatrix::bt601 : ColorMatrix::bt709;
    const NormalizeCase params =
        normalize_params({picture.desc(), {matrix, ColorRange::limited}, cosited, false},
                         Color::rgb, DType::float32, Layout::nchw, 9, 9);
    EXPECT_TRUE(
        same_bytes(output_bytes("cudanormalize width=9 height=9", video_caps(picture.desc()),
                                buffer_of(picture), tensor_caps(params.out)),
                   normalized(picture, params)))
        << height;
  }
}

}  // namespace
}  // namespace cudatensor
