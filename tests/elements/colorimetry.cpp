// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps' field `colorimetry`: each known part is used, even if other parts are unknown, as in
// the caps of decoders.
#include <cmath>

#include "muxrig.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

/// GstVideoColorRange and GstVideoColorMatrix; 0 is unknown.
struct Told {
  int range, matrix, transfer, primaries;

  std::string text() const {
    return std::to_string(range) + ":" + std::to_string(matrix) + ":" + std::to_string(transfer) +
           ":" + std::to_string(primaries);
  }
  std::string field() const { return "colorimetry=(string)" + text() + ",chroma-site=jpeg"; }
  bool is_full() const { return range == GST_VIDEO_COLOR_RANGE_0_255; }
};

/// Returns every range and matrix, known or unknown, with and without a transfer function and
/// primaries.
std::vector<Told> all_told() {
  std::vector<Told> all;
  for (const int range : {0, 1, 2, 7})
    for (const int matrix : {0, 1, 3, 4, 6})
      for (const auto &[transfer, primaries] : {std::pair(0, 0), std::pair(5, 1), std::pair(16, 4)})
        all.push_back({range, matrix, transfer, primaries});
  return all;
}

/// Returns the matrix of a YUV picture: that of its size, if the caps' matrix is unknown or RGB's.
ColorMatrix matrix_of(const Told &told, int height) {
  switch (told.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709: return ColorMatrix::bt709;
    case GST_VIDEO_COLOR_MATRIX_BT601: return ColorMatrix::bt601;
    case GST_VIDEO_COLOR_MATRIX_BT2020: return ColorMatrix::bt2020;
    default: return height > 576 ? ColorMatrix::bt709 : ColorMatrix::bt601;
  }
}

int number_of(ColorMatrix matrix) {
  return matrix == ColorMatrix::bt709   ? GST_VIDEO_COLOR_MATRIX_BT709
         : matrix == ColorMatrix::bt601 ? GST_VIDEO_COLOR_MATRIX_BT601
                                        : GST_VIDEO_COLOR_MATRIX_BT2020;
}

Source source_for(const ImageDesc &desc, const Told &told) {
  return {desc,
          {matrix_of(told, desc.height), told.is_full() ? ColorRange::full : ColorRange::limited},
          false,
          false};
}

Bytes mux_bytes(const std::string &properties, const std::string &caps, BufferRef frame) {
  MuxRig rig(properties, 1);
  rig.camera(0).caps(caps);
  GST_BUFFER_PTS(frame.get()) = 0;
  rig.camera(0).push(std::move(frame));
  return bytes_of(rig.pull().get());
}

const std::vector<ImageDesc> kYuvPictures = {{PixelFormat::I420, 16, 12},
                                             {PixelFormat::NV12, 8, 720},
                                             {PixelFormat::YUY2, 16, 12},
                                             {PixelFormat::Y444, 8, 578},
                                             {PixelFormat::P010_10LE, 8, 576}};

TEST(ColorimetryParts, AreUsedForTensors) {
  for (const ImageDesc &desc : kYuvPictures) {
    for (const Told &told : all_told()) {
      SCOPED_TRACE(text_of(desc) + " " + told.text());
      const Picture picture = random_picture(desc);
      const NormalizeCase params =
          normalize_params(source_for(desc, told), Color::rgb, DType::uint8, Layout::nhwc, 5, 4);
      const Bytes expected = normalized(picture, params);
      const std::string properties = "width=5 height=4 dtype=uint8 layout=nhwc",
                        caps = video_caps(desc, told.field());
      EXPECT_TRUE(same_bytes(output_bytes("cudanormalize " + properties, caps, buffer_of(picture),
                                          tensor_caps(params.out)),
                             expected));
      if (told.transfer != 5) continue;
      EXPECT_TRUE(same_bytes(mux_bytes(properties, caps, buffer_of(picture)), expected));
    }
  }
}

TEST(ColorimetryParts, AreUsedForLetterboxes) {
  for (const ImageDesc &desc : kYuvPictures)
    for (const Told &told : all_told()) {
      SCOPED_TRACE(text_of(desc) + " " + told.text());
      const Picture picture = random_picture(desc);
      const ImageDesc out = {PixelFormat::RGB, 10, 12};
      Rig rig("cudaletterbox");
      rig.downstream("video/x-raw,format=RGB,width=10,height=12");
      ASSERT_TRUE(rig.caps(video_caps(desc, told.field())));
      const BufferRef made = rig.process(buffer_of(picture));
      Resize resize;
      resize.mode = ResizeMode::affine;
      EXPECT_TRUE(same_picture(picture_of(made.get(), out),
                               letterboxed(picture, {source_for(desc, told), out, resize})));
      // The transfer function and the primaries are those of the input.
      GstVideoColorimetry said;
      ASSERT_TRUE(gst_video_colorimetry_from_string(&said, rig.output("colorimetry").c_str()));
      EXPECT_EQ(said.range, GST_VIDEO_COLOR_RANGE_0_255);
      EXPECT_EQ(said.matrix, GST_VIDEO_COLOR_MATRIX_RGB);
      EXPECT_EQ(static_cast<int>(said.transfer), told.transfer);
      EXPECT_EQ(static_cast<int>(said.primaries), told.primaries);
    }
}

/// The caps name range and matrix, because downstream would assume limited range for an unknown
/// matrix. The matrix is that of the input's size.
TEST(ColorimetryParts, AreNamedByConvertersThatKeepThem) {
  for (const int height : {12, 720})
    for (const Told &told : all_told()) {
      SCOPED_TRACE(told.text());
      const ImageDesc desc = {PixelFormat::NV12, 16, height};
      Rig rig("cudanv12toyuv444");
      rig.downstream("video/x-raw,width=8,height=6");
      ASSERT_TRUE(rig.caps(video_caps(desc, told.field())));
      rig.process(buffer_of(random_picture(desc)));
      GstVideoColorimetry said;
      ASSERT_TRUE(gst_video_colorimetry_from_string(&said, rig.output("colorimetry").c_str()));
      EXPECT_EQ(said.range,
                told.is_full() ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235);
      EXPECT_EQ(static_cast<int>(said.matrix), number_of(matrix_of(told, height)));
      EXPECT_EQ(static_cast<int>(said.transfer), told.transfer);
      EXPECT_EQ(static_cast<int>(said.primaries), told.primaries);
    }
}

/// Downstream may ask for the same text, or for one with the same meaning.
TEST(ColorimetryParts, AreTakenBackFromDownstream) {
  for (const char *asked : {"1:0:5:1", "1:4:5:1"}) {
    Rig rig("cudanv12toyuv444");
    rig.downstream(std::string("video/x-raw,colorimetry=(string)") + asked);
    const ImageDesc desc = {PixelFormat::NV12, 16, 12};
    ASSERT_TRUE(rig.caps(video_caps(desc, Told{1, 0, 5, 1}.field())));
    rig.process(buffer_of(random_picture(desc)));
    EXPECT_EQ(rig.output("colorimetry"), asked);
  }
}

/// Returns the fractions of pixels at or below black and at or above white, for luma from 0 to 255.
std::pair<double, double> clipped(const std::string &caps, const Picture &picture) {
  Rig rig("cudahistogram interval=0");
  EXPECT_TRUE(rig.caps(caps));
  rig.process(buffer_of(picture));
  const std::vector<MessageRef> messages = rig.histograms(1);
  if (messages.size() != 1) return {-1, -1};
  double low = -1, high = -1;
  gst_structure_get(gst_message_get_structure(messages[0].get()), "clipped-low", G_TYPE_DOUBLE,
                    &low, "clipped-high", G_TYPE_DOUBLE, &high, nullptr);
  return {low, high};
}

TEST(ColorimetryParts, SetTheClipLevels) {
  for (const PixelFormat format : {PixelFormat::I420, PixelFormat::GRAY8})
    for (const int rows : {1, 3}) {  // 256 and 768 lines
      Picture picture({format, 2, 256 * rows}, 128);
      for (size_t i = 0; i < picture.planes()[0].bytes.size(); ++i)
        picture.planes()[0].bytes[i] = static_cast<uint8_t>(i / 2 / static_cast<size_t>(rows));
      for (const Told &told : all_told()) {
        SCOPED_TRACE(std::string(name_of(format)) + " " + told.text());
        const bool whole = format == PixelFormat::GRAY8 || told.is_full();
        const auto [low, high] = clipped(video_caps(picture.desc(), told.field()), picture);
        EXPECT_EQ(low, (whole ? 1 : 17) / 256.0);
        EXPECT_EQ(high, (whole ? 1 : 21) / 256.0);
      }
    }
}

/// The values of RGB and gray are used unchanged, whatever their caps say.
TEST(ColorimetryParts, DoNotChangeRgbAndGray) {
  for (const PixelFormat format : {PixelFormat::RGB, PixelFormat::GRAY8})
    for (const Told &told : all_told()) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + told.text());
      const ImageDesc desc = {format, 5, 4};
      const Picture picture = random_picture(desc);
      const ImageDesc out = {format, 5, 4};
      EXPECT_TRUE(same_picture(
          output_picture("cudaletterbox", video_caps(desc, "colorimetry=(string)" + told.text()),
                         buffer_of(picture), out),
          picture));
    }
}

TEST(ColorimetryParts, WarnOfHdrWithoutAMatrix) {
  const ImageDesc desc = {PixelFormat::P010_10LE, 16, 12};
  for (const auto &[transfer, name] : {std::pair(14, "PQ"), std::pair(15, "HLG")})
    for (const int matrix : {0, 6}) {
      Rig rig("cudanormalize");
      ASSERT_TRUE(rig.caps(video_caps(desc, Told{2, matrix, transfer, 7}.field())));
      rig.process(buffer_of(random_picture(desc)));
      const std::vector<std::string> warnings = rig.messages().warnings();
      ASSERT_EQ(warnings.size(), 1u) << transfer << " " << matrix;
      EXPECT_TRUE(mentions(warnings[0], name));
    }
}

}  // namespace
}  // namespace cudatensor
