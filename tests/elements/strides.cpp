// SPDX-License-Identifier: LGPL-2.1-or-later
// The positions of samples in memory, from a GstVideoMeta and from downstream's pool.
#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const Padding kPaddings[] = {{0, 0, 0, false},
                             {0, 0, 1, false},
                             {5, 0, 0, false},
                             {0, 7, 3, false},
                             {64, 128, 64, false},
                             {3, 1, 19, false},
                             {0, 0, 0, true},
                             {2, 9, 5, true},
                             // Upside down, and with a GstVideoMeta of a larger picture.
                             {0, 0, 0, false, true},
                             {3, 2, 5, true, true},
                             {0, 0, 0, false, false, 1, 0},
                             {0, 0, 2, false, false, 0, 1},
                             {1, 8, 24, true, false, 32, 16},
                             {0, 3, 8, false, true, 4, 8}};

struct Size {
  int width, height;
};

const Size kSizes[] = {{1, 1}, {2, 2}, {3, 1}, {1, 4}, {5, 3}, {17, 13}, {64, 2}, {33, 7}};

class Input : public testing::TestWithParam<PixelFormat> {
 protected:
  /// Calls `visit` with every size and padding of this format.
  template <class Visit>
  void for_layouts(const Visit &visit) const {
    for (const Size &size : kSizes)
      for (const Padding &padding : kPaddings) {
        const Picture picture = random_picture({GetParam(), size.width, size.height});
        SCOPED_TRACE(text_of(picture.desc()) + " padded by " + std::to_string(padding.before) +
                     ", " + std::to_string(padding.between) + ", " +
                     std::to_string(padding.stride) + (padding.memory_each ? " apart" : "") +
                     (padding.upside_down ? " upside down" : "") + " in " +
                     std::to_string(padding.columns) + "x" + std::to_string(padding.rows) +
                     " more");
        visit(picture, padded_buffer_of(picture, padding));
      }
  }
};

class InputYuv420 : public Input {};

std::string format_name(const testing::TestParamInfo<PixelFormat> &info) {
  return name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(Strides, Input, testing::ValuesIn(kInputFormats), format_name);
INSTANTIATE_TEST_SUITE_P(Strides, InputYuv420, testing::ValuesIn(kYuv420Formats), format_name);

TEST_P(Input, MayHaveAnyLayoutInLetterbox) {
  for_layouts([](const Picture &picture, BufferRef buffer) {
    LetterboxParams params = {source_of(picture.desc()), {PixelFormat::RGB, 9, 7}, {}};
    params.resize.mode = ResizeMode::affine;
    EXPECT_TRUE(same_picture(
        output_picture("cudaletterbox", video_caps(picture.desc()), std::move(buffer), params.out),
        letterboxed(picture, params)));
  });
}

TEST_P(Input, MayHaveAnyLayoutInNormalize) {
  for_layouts([](const Picture &picture, BufferRef buffer) {
    const NormalizeCase params =
        normalize_params(source_of(picture.desc()), Color::rgb, DType::float32, Layout::nchw, 9, 7);
    EXPECT_TRUE(same_bytes(output_bytes("cudanormalize", video_caps(picture.desc()),
                                        std::move(buffer), tensor_caps(params.out)),
                           normalized(picture, params)));
  });
}

TEST_P(Input, MayHaveAnyLayoutInHistogram) {
  for_layouts([](const Picture &picture, BufferRef buffer) {
    Rig rig("cudahistogram interval=0");
    ASSERT_TRUE(rig.caps(video_caps(picture.desc())));
    rig.process(std::move(buffer));
    const std::vector<MessageRef> padded = rig.messages().elements("cudahistogram", 1);
    rig.process(buffer_of(picture));
    const std::vector<MessageRef> plain = rig.messages().elements("cudahistogram", 1);
    ASSERT_EQ(padded.size(), 1u);
    ASSERT_EQ(plain.size(), 1u);
    EXPECT_TRUE(gst_structure_is_equal(gst_message_get_structure(padded[0].get()),
                                       gst_message_get_structure(plain[0].get())));
  });
}

TEST_P(InputYuv420, MayHaveAnyLayoutInYuv444) {
  for_layouts([](const Picture &picture, BufferRef buffer) {
    const ImageDesc out = {PixelFormat::Y444, 9, 7};
    EXPECT_TRUE(same_picture(
        output_picture("cudanv12toyuv444", video_caps(picture.desc()), std::move(buffer), out),
        as_yuv444(picture, {picture.desc(), out, 9, 7, 0, 0})));
  });
}

TEST(Strides, MetaMayChangeFromBufferToBuffer) {
  const Picture picture = random_picture({PixelFormat::NV12, 11, 5});
  const NormalizeCase params =
      normalize_params(source_of(picture.desc()), Color::rgb, DType::float32, Layout::nchw, 11, 5);
  Rig rig("cudanormalize");
  ASSERT_TRUE(rig.caps(video_caps(picture.desc())));
  for (const Padding &padding : kPaddings)
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(padded_buffer_of(picture, padding)).get()),
                           normalized(picture, params)));
}

/// Decoders with padded sizes attach both metas. The crop is mapped to the output as usual.
TEST(Strides, ALargerMetaMayComeWithACrop) {
  const ImageDesc desc = {PixelFormat::NV12, 32, 20};
  const Picture picture = random_picture(desc);
  BufferRef buffer = padded_buffer_of(picture, {0, 64, 16, false, false, 16, 12});
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->width = 32;
  crop->height = 20;
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw,format=RGB,width=16,height=10");
  ASSERT_TRUE(rig.caps(video_caps(desc)));
  const BufferRef out = rig.process(std::move(buffer));
  LetterboxParams params = {source_of(desc), {PixelFormat::RGB, 16, 10}, {}};
  params.resize.mode = ResizeMode::affine;
  EXPECT_TRUE(same_picture(picture_of(out.get(), params.out), letterboxed(picture, params)));
  const GstVideoCropMeta *mapped = gst_buffer_get_video_crop_meta(out.get());
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(mapped->width, 16u);
  EXPECT_EQ(mapped->height, 10u);
}

TEST(Strides, PicturesMayHaveSeveralMemories) {
  // Without a GstVideoMeta, the memories follow each other, wherever they are split.
  const Picture picture = random_picture({PixelFormat::RGB, 11, 5});
  const Bytes whole = bytes_of(buffer_of(picture).get());
  const BufferRef for_each_piece = buffer_of(whole, {1, 50, whole.size() - 51});
  const ImageDesc out = {PixelFormat::RGB, 11, 5};
  EXPECT_TRUE(same_picture(output_picture("cudaletterbox", video_caps(picture.desc()),
                                          BufferRef(gst_buffer_ref(for_each_piece.get())), out),
                           picture));
}

TEST(Strides, TensorsMayHaveSeveralMemories) {
  const TensorDesc desc = {DType::float32, Layout::nchw, 1, 4, 3, 5};
  const Bytes bytes = random_tensor(desc, 1);
  EXPECT_TRUE(same_bytes(
      output_bytes("cudapixelshuffle", tensor_caps(desc), buffer_of(bytes, {100, 4, 136}), "ANY"),
      shuffled_bytes(bytes, {desc, 2})));
}

// --------------------------------------------------------------------------------------- output

struct OutputCase {
  const char *element;
  std::string caps;
  ImageDesc out;
  BufferRef (*frame)();
  Picture (*expected)(const ImageDesc &out);
};

const ImageDesc kNv12 = {PixelFormat::NV12, 10, 6};
const TensorDesc kTensor = {DType::uint8, Layout::nchw, 1, 12, 3, 5};

BufferRef nv12_frame() { return buffer_of(random_picture(kNv12)); }
BufferRef tensor_frame() { return buffer_of(random_tensor(kTensor, 1)); }

Picture expected_letterbox(const ImageDesc &out) {
  LetterboxParams params = {source_of(kNv12), out, {}};
  params.resize.mode = ResizeMode::affine;
  return letterboxed(random_picture(kNv12), params);
}
Picture expected_yuv444(const ImageDesc &out) {
  return as_yuv444(random_picture(kNv12), {kNv12, out, out.width, out.height, 0, 0});
}
Picture expected_shuffle(const ImageDesc &out) {
  return shuffled_picture(random_tensor(kTensor, 1), {kTensor, 2, out, 0.0, 0.0});
}

std::vector<OutputCase> output_cases() {
  std::vector<OutputCase> cases;
  for (const PixelFormat format : kLetterboxFormats)
    cases.push_back(
        {"cudaletterbox", video_caps(kNv12), {format, 13, 7}, nv12_frame, expected_letterbox});
  cases.push_back({"cudanv12toyuv444",
                   video_caps(kNv12),
                   {PixelFormat::Y444, 13, 7},
                   nv12_frame,
                   expected_yuv444});
  for (const PixelFormat format : {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP})
    cases.push_back({"cudapixelshuffle",
                     tensor_caps(kTensor),
                     {format, 10, 6},
                     tensor_frame,
                     expected_shuffle});
  return cases;
}

class Output : public testing::TestWithParam<OutputCase> {};

INSTANTIATE_TEST_SUITE_P(Strides, Output, testing::ValuesIn(output_cases()), [](const auto &info) {
  return std::string(info.param.element) + name_of(info.param.out.format);
});

TEST_P(Output, GoesWhereDownstreamsPoolWantsIt) {
  Rig rig(GetParam().element);
  rig.downstream(video_caps(GetParam().out));
  // The pool aligns rows to 64 bytes, with columns and rows of padding around the picture.
  PoolOffer offer(rig, PoolOffer::Kind::padded_video);
  ASSERT_TRUE(rig.caps(GetParam().caps));
  const BufferRef out = rig.process(GetParam().frame());
  const GstVideoMeta *meta = gst_buffer_get_video_meta(out.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->stride[0] % 64, 0);
  EXPECT_GT(meta->offset[0], 0u);
  EXPECT_TRUE(
      same_picture(picture_of(out.get(), GetParam().out), GetParam().expected(GetParam().out)));
}

TEST_P(Output, IsLaidOutByItsCapsWhereDownstreamKnowsNoMeta) {
  Rig rig(GetParam().element);
  rig.downstream(video_caps(GetParam().out));
  PoolOffer offer(rig, PoolOffer::Kind::none);
  ASSERT_TRUE(rig.caps(GetParam().caps));
  const BufferRef out = rig.process(GetParam().frame());
  EXPECT_EQ(gst_buffer_get_video_meta(out.get()), nullptr);
  EXPECT_EQ(gst_buffer_get_size(out.get()), video_info_of(GetParam().out).size);
  EXPECT_TRUE(
      same_picture(picture_of(out.get(), GetParam().out), GetParam().expected(GetParam().out)));
}

}  // namespace
}  // namespace cudatensor
