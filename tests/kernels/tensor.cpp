// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/tensor.h"

#include <cmath>
#include <limits>

#include "oracle.h"
#include "random.h"

namespace cudatensor {
namespace {

bool is_nan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

testing::AssertionResult rounds_as_expected(float value) {
  const uint16_t bits = to_half(value).bits, expected = oracle::half_from(value);
  if (bits == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " (bits " << std::hex << bit_cast<uint32_t>(value)
                                     << ") gives " << bits << ", not " << expected;
}

TEST(Half, WidensEveryValueExactly) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = to_float(Half{half});
    if (is_nan(half)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else {
      EXPECT_EQ(value, oracle::from_half(half)) << bits;
      EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(Half, KeepsEveryValueThatItCanHold) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Half half = {static_cast<uint16_t>(bits)};
    const uint16_t back = to_half(to_float(half)).bits;
    if (is_nan(half.bits))
      EXPECT_EQ(back, (bits & 0x8000) | 0x7e00) << bits;
    else
      EXPECT_EQ(back, half.bits);
  }
}

TEST(Half, RoundsAroundEveryHalfway) {
  for (uint16_t bits = 0; bits < 0x7c00; ++bits) {
    const double next = bits == 0x7bff ? 65536.0 : oracle::from_half(bits + 1);
    const auto middle = static_cast<float>((oracle::from_half(bits) + next) / 2.0);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      ASSERT_TRUE(rounds_as_expected(value));
      ASSERT_TRUE(rounds_as_expected(-value));
    }
  }
}

TEST(Half, RoundsKnownValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    float value;
    uint16_t bits;
  } known[] = {{0.0f, 0x0000},         {-0.0f, 0x8000},       {1.0f, 0x3c00},
               {-2.0f, 0xc000},        {65504.0f, 0x7bff},    {65519.996f, 0x7bff},
               {65520.0f, 0x7c00},     {1e10f, 0x7c00},       {infinity, 0x7c00},
               {-infinity, 0xfc00},    {0x1p-14f, 0x0400},    {0x1p-24f, 0x0001},
               {0x1p-25f, 0x0000},     {0x1.8p-24f, 0x0002},  {0x1.000002p-25f, 0x0001},
               {0x1p-149f, 0x0000},    {2049.0f, 0x6800},     {2051.0f, 0x6802},
               {0x1.ff8p-15f, 0x03ff}, {0x1.ffcp-15f, 0x0400}};
  for (const auto &[value, bits] : known) EXPECT_EQ(to_half(value).bits, bits) << value;
}

TEST(Half, RoundsRandomBits) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (int i = 0; i < 1000000; ++i) {
    const auto value = bit_cast<float>(static_cast<uint32_t>(random.bits()));
    if (std::isnan(value))
      ASSERT_TRUE(is_nan(to_half(value).bits));
    else
      ASSERT_TRUE(rounds_as_expected(value));
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    float value;
    uint16_t bits;
  } known[] = {{0.0f, 0x0000},          {-0.0f, 0x8000},        {1.0f, 0x3f80},
               {-2.0f, 0xc000},         {0x1.01p0f, 0x3f80},    {0x1.03p0f, 0x3f82},
               {0x1.010002p0f, 0x3f81}, {0x1.fep127f, 0x7f7f},  {0x1.fefffep127f, 0x7f7f},
               {0x1.ffp127f, 0x7f80},   {infinity, 0x7f80},     {-infinity, 0xff80},
               {0x1p-133f, 0x0001},     {0x1p-134f, 0x0000},    {0x1.8p-133f, 0x0002},
               {0x1p-149f, 0x0000},     {0x1.fcp-127f, 0x007f}, {0x1.fep-127f, 0x0080}};
  for (const auto &[value, bits] : known) EXPECT_EQ(to_bfloat16(value).bits, bits) << value;
}

TEST(BFloat16, RoundsRandomBits) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (int i = 0; i < 1000000; ++i) {
    const auto value = bit_cast<float>(static_cast<uint32_t>(random.bits()));
    const uint16_t bits = to_bfloat16(value).bits;
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(oracle::from_bfloat16(bits)));
    else
      ASSERT_EQ(bits, oracle::bfloat16_from(value)) << value;
  }
}

TEST(Half, HasASizeOfTwoBytes) {
  EXPECT_EQ(size_of(DType::float32), 4u);
  EXPECT_EQ(size_of(DType::float16), 2u);
  EXPECT_EQ(size_of(DType::bfloat16), 2u);
  EXPECT_EQ(size_of(DType::uint8), 1u);
  EXPECT_EQ(size_of(DType::int8), 1u);
  EXPECT_EQ((TensorDesc{DType::float16, Layout::nchw, 1, 256, 1088, 1920}.bytes()),
            size_t{1069547520});
  EXPECT_EQ((TensorDesc{DType::float32, Layout::nchw, 2, 3, 32767, 32767}.bytes()),
            size_t{32767} * 32767 * 24);
}

TEST(Element, RoundsHalvesUpAndLimits) {
  const struct {
    float value;
    uint8_t as_uint8;
    int8_t as_int8;
  } known[] = {{0.0f, 0, 0},       {0.5f, 1, 1},       {0.49f, 0, 0},      {1.5f, 2, 2},
               {2.5f, 3, 3},       {-0.5f, 0, 0},      {-0.51f, 0, -1},    {-1.5f, 0, -1},
               {126.5f, 127, 127}, {127.4f, 127, 127}, {127.5f, 128, 127}, {254.5f, 255, 127},
               {255.5f, 255, 127}, {1e30f, 255, 127},  {-1e30f, 0, -128},  {-127.5f, 0, -127},
               {-128.5f, 0, -128}, {-129.0f, 0, -128}};
  for (const auto &[value, as_uint8, as_int8] : known) {
    EXPECT_EQ(to_element<uint8_t>(value), as_uint8) << value;
    EXPECT_EQ(to_element<int8_t>(value), as_int8) << value;
    EXPECT_EQ(to_element<float>(value), value);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_element<uint8_t>(infinity), 255);
  EXPECT_EQ(to_element<uint8_t>(-infinity), 0);
  EXPECT_EQ(to_element<int8_t>(infinity), 127);
  EXPECT_EQ(to_element<int8_t>(-infinity), -128);
}

}  // namespace
}  // namespace cudatensor
