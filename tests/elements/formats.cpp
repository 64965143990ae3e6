// SPDX-License-Identifier: LGPL-2.1-or-later
// Every format of every pad, byte for byte, compared with the kernels, and for counts and
// permutations with a loop in this file.
#include <algorithm>
#include <tuple>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

// Odd sizes, so that chroma sizes and strides are rounded.
constexpr int kWidth = 13, kHeight = 9;

class EveryInput : public testing::TestWithParam<PixelFormat> {
 protected:
  ImageDesc in_ = {GetParam(), kWidth, kHeight};
  Picture picture_ = random_picture(in_);
};

class EveryYuv420 : public EveryInput {};

std::string format_name(const testing::TestParamInfo<PixelFormat> &info) {
  return name_of(info.param);
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryInput, testing::ValuesIn(kInputFormats), format_name);
INSTANTIATE_TEST_SUITE_P(Formats, EveryYuv420, testing::ValuesIn(kYuv420Formats), format_name);

TEST_P(EveryInput, LetterboxGivesEveryOutput) {
  for (const PixelFormat format : kLetterboxFormats) {
    const ImageDesc out = {format, 16, 11};
    LetterboxParams params = {source_of(in_), out, {}};
    params.resize.mode = ResizeMode::affine;
    EXPECT_TRUE(
        same_picture(output_picture("cudaletterbox", video_caps(in_), buffer_of(picture_), out),
                     letterboxed(picture_, params)));
  }
}

std::vector<Color> colors_of(PixelFormat format) {
  std::vector<Color> colors = {Color::rgb, Color::bgr, Color::gray};
  if (layout_of(format).model == ColorModel::yuv) colors.push_back(Color::yuv);
  return colors;
}

TEST_P(EveryInput, NormalizeGivesEveryTensor) {
  for (const Color color : colors_of(GetParam()))
    for (const Layout layout : {Layout::nchw, Layout::nhwc})
      for (const DType dtype :
           {DType::float32, DType::float16, DType::bfloat16, DType::uint8, DType::int8}) {
        const NormalizeCase params = normalize_params(source_of(in_), color, dtype, layout, 10, 7);
        const std::string description = "cudanormalize width=10 height=7 color=" + nick(color) +
                                        " layout=" + nick(layout) + " dtype=" + nick(dtype);
        EXPECT_TRUE(same_bytes(output_bytes(description, video_caps(in_), buffer_of(picture_),
                                            tensor_caps(params.out)),
                               normalized(picture_, params)))
            << description;
      }
}

TEST_P(EveryInput, NormalizeTakesEveryModeAndMethod) {
  for (const ResizeMode mode :
       {ResizeMode::stretch, ResizeMode::affine, ResizeMode::ultralytics, ResizeMode::top_left})
    for (const Method method : {Method::bilinear, Method::nearest})
      for (const bool scale_up : {true, false}) {
        NormalizeCase params =
            normalize_params(source_of(in_), Color::rgb, DType::float32, Layout::nchw, 24, 30);
        params.resize = {mode, method, 17, scale_up};
        const std::string description =
            "cudanormalize width=24 height=30 pad-value=17 method=" + nick(method) +
            " resize-mode=" + nick(mode) + " scale-up=" + (scale_up ? "true" : "false");
        EXPECT_TRUE(same_bytes(output_bytes(description, video_caps(in_), buffer_of(picture_),
                                            tensor_caps(params.out)),
                               normalized(picture_, params)))
            << description;
      }
}

TEST_P(EveryYuv420, Yuv444ResizesAndCrops) {
  const struct {
    std::string properties;
    int resize_width, resize_height, crop_x, crop_y;
  } cases[] = {{"", 7, 5, 0, 0},
               {"resize-width=21 crop-x=3", 21, 5, 3, 0},
               {"resize-height=6 crop-y=1", 7, 6, 0, 1},
               {"resize-width=8 resize-height=9 crop-x=1 crop-y=4", 8, 9, 1, 4}};
  const ImageDesc out = {PixelFormat::Y444, 7, 5};
  for (const auto &c : cases)
    EXPECT_TRUE(same_picture(
        output_picture("cudanv12toyuv444 " + c.properties, video_caps(in_), buffer_of(picture_),
                       out),
        as_yuv444(picture_, {in_, out, c.resize_width, c.resize_height, c.crop_x, c.crop_y})))
        << c.properties;
}

// ------------------------------------------------------------------------------------ histogram

/// Returns the luminance of a pixel by the formula of the documentation.
uint8_t luminance_of(const ConstImage &image, int x, int y) {
  const FormatLayout layout = layout_of(image.desc.format);
  const auto sample = [&](int c) {
    const uint8_t *const at = &image.row(layout.component[c], y)[x * layout.component[c].step];
    if (layout.bits == 8) return static_cast<int>(*at);
    return ((at[0] | at[1] << 8) >> layout.shift & ((1 << layout.bits) - 1)) >> (layout.bits - 8);
  };
  if (layout.model != ColorModel::rgb) return sample(0);
  volatile float r = 0.299f * sample(0), g = 0.587f * sample(1), b = 0.114f * sample(2);
  volatile float sum = r + g;
  return static_cast<uint8_t>(sum + b);
}

std::vector<guint64> count_luminance(const Picture &picture) {
  std::vector<guint64> bins(256);
  for (int y = 0; y < picture.desc().height; ++y)
    for (int x = 0; x < picture.desc().width; ++x) ++bins[luminance_of(picture.view(), x, y)];
  return bins;
}

std::vector<guint64> posted_bins(Rig &rig) {
  const std::vector<MessageRef> messages = rig.messages().elements("cudahistogram", 1);
  EXPECT_EQ(messages.size(), 1u);
  std::vector<guint64> bins;
  if (messages.empty()) return bins;
  const GValue *array =
      gst_structure_get_value(gst_message_get_structure(messages[0].get()), "histogram");
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    bins.push_back(g_value_get_uint64(gst_value_array_get_value(array, i)));
  return bins;
}

TEST_P(EveryInput, HistogramCounts) {
  const Picture picture = random_picture({GetParam(), kWidth, kHeight});
  Rig rig("cudahistogram interval=0");
  ASSERT_TRUE(rig.caps(video_caps(picture.desc())));
  const BufferRef out = rig.process(buffer_of(picture));
  EXPECT_TRUE(same_bytes(picture_of(out.get(), picture.desc()).bytes(), picture.bytes()));
  EXPECT_EQ(posted_bins(rig), count_luminance(picture));
}

// --------------------------------------------------------------------------------- pixel shuffle

/// Shuffles by the formula of the documentation, element by element; `size` bytes each.
Bytes permuted(const Bytes &in, const TensorDesc &d, int r) {
  const int64_t channels = d.c / (r * r), height = d.h * r, width = d.w * r;
  const size_t size = size_of(d.dtype);
  Bytes out;
  for (int64_t n = 0; n < d.n; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t h = 0; h < height; ++h)
        for (int64_t w = 0; w < width; ++w) {
          const int64_t channel = c * r * r + r * (h % r) + w % r;
          const int64_t index = ((n * d.c + channel) * d.h + h / r) * d.w + w / r;
          const auto at = in.begin() + static_cast<ptrdiff_t>(index) * static_cast<ptrdiff_t>(size);
          out.insert(out.end(), at, at + static_cast<ptrdiff_t>(size));
        }
  return out;
}

class EveryShuffle : public testing::TestWithParam<std::tuple<DType, int>> {
 protected:
  TensorDesc desc(int64_t batch, int channels) const {
    return {dtype_, Layout::nchw, batch, int64_t{channels} * factor_ * factor_, 3, 5};
  }
  DType dtype_ = std::get<0>(GetParam());
  int factor_ = std::get<1>(GetParam());
  std::string description_ = "cudapixelshuffle upscale-factor=" + std::to_string(factor_);
};

INSTANTIATE_TEST_SUITE_P(Formats, EveryShuffle,
                         testing::Combine(testing::Values(DType::float32, DType::float16,
                                                          DType::uint8),
                                          testing::Values(1, 2, 3, 4)),
                         [](const auto &info) {
                           return nick(std::get<0>(info.param)) + "By" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(EveryShuffle, PermutesElements) {
  const TensorDesc in = desc(2, 3);
  const TensorDesc out = {dtype_, Layout::nchw, 2, 3, in.h * factor_, in.w * factor_};
  const Bytes bytes = noise(in.bytes(), 5);
  EXPECT_TRUE(
      same_bytes(output_bytes(description_, tensor_caps(in), buffer_of(bytes), tensor_caps(out)),
                 permuted(bytes, in, factor_)));
}

TEST_P(EveryShuffle, MakesPictures) {
  for (const PixelFormat format :
       {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP, PixelFormat::GRAY8}) {
    const TensorDesc in = desc(1, format == PixelFormat::GRAY8 ? 1 : 3);
    const ImageDesc out = {format, static_cast<int>(in.w) * factor_,
                           static_cast<int>(in.h) * factor_};
    const Bytes bytes = random_tensor(in, 7);
    EXPECT_TRUE(same_picture(output_picture(description_, tensor_caps(in), buffer_of(bytes), out),
                             shuffled_picture(bytes, {in, factor_, out, 0.0, 0.0})));
  }
}

}  // namespace
}  // namespace cudatensor
