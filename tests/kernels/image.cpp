// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/image.h"

#include <cmath>

#include "oracle.h"
#include "pictures.h"

namespace cudatensor {
namespace {

TEST(Format, IsKnownToTheOracle) { EXPECT_EQ(kAllFormats.size(), oracle::number_of_formats()); }

TEST(Format, HasItsName) {
  for (const PixelFormat format : kAllFormats)
    EXPECT_STREQ(name_of(format), oracle::format_of(format).name);
}

/// Returns the upper eight bits of a sample.
int upper_bits(const FormatLayout &layout, const uint8_t *at) {
  if (!layout.is_deep()) return at[0];
  return (at[0] | at[1] << 8) >> (layout.shift + layout.bits - 8) & 0xff;
}

TEST(Format, SaysWhereEverySampleLies) {
  for (const PixelFormat format : kAllFormats) {
    const oracle::Format &expected = oracle::format_of(format);
    SCOPED_TRACE(expected.name);
    Random random(0);
    const InputPicture picture(random, {format, 7, 5});
    const ConstImage image = picture.view();
    const FormatLayout layout = layout_of(format);
    ASSERT_EQ(layout.components, expected.components.size());
    EXPECT_EQ(layout.planes, expected.planes.size());
    EXPECT_EQ(1 << layout.chroma_shift_x, expected.across);
    EXPECT_EQ(1 << layout.chroma_shift_y, expected.down);
    EXPECT_EQ(layout.bits, expected.bits);
    EXPECT_EQ(layout.shift, expected.shift);
    for (int c = 0; c < layout.components; ++c) {
      const int width = component_length(layout.chroma_shift_x, c, 7);
      const int height = component_length(layout.chroma_shift_y, c, 5);
      ASSERT_EQ(width, std::ceil(7.0 / (c > 0 ? expected.across : 1)));
      ASSERT_EQ(height, std::ceil(5.0 / (c > 0 ? expected.down : 1)));
      const Component &component = layout.component[c];
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          EXPECT_EQ(upper_bits(layout, image.row(component, y) + x * component.step),
                    oracle::sample(image, expected.components[static_cast<size_t>(c)], x, y));
    }
  }
}

TEST(Format, HasItsModel) {
  for (const PixelFormat format : kAllFormats) {
    const oracle::Format &expected = oracle::format_of(format);
    EXPECT_EQ(layout_of(format).model, expected.is_rgb()   ? ColorModel::rgb
                                       : expected.is_yuv() ? ColorModel::yuv
                                                           : ColorModel::gray);
  }
}

TEST(Format, KnowsThePaddingByte) {
  for (const PixelFormat format : kPackedFormats) {
    const std::string &letters = oracle::format_of(format).planes[0];
    const size_t at = letters.find_first_of("xA");
    if (at == std::string::npos) continue;
    EXPECT_EQ(layout_of(format).padding_offset, at) << letters;
  }
}

TEST(ComponentLength, RoundsUp) {
  EXPECT_EQ(component_length(1, 1, 1), 1);
  EXPECT_EQ(component_length(1, 2, 32767), 16384);
  EXPECT_EQ(component_length(2, 1, 5), 2);
  EXPECT_EQ(component_length(2, 2, 32767), 8192);
  EXPECT_EQ(component_length(1, 0, 7), 7);
  EXPECT_EQ(component_length(0, 1, 7), 7);
}

}  // namespace
}  // namespace cudatensor
