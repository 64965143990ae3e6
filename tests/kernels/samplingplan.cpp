// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/samplingplan.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

constexpr Chroma kNone, kCosited = {1, true}, kCentered = {1, false};
const std::vector<Chroma> kChromas = {
    kNone,           kCosited,         kCentered,       {2, true},       {2, false},
    {1, true, true}, {1, false, true}, {2, true, true}, {2, false, true}};

/// A resize and its chroma siting.
struct Case {
  ResizeMode mode;
  Method method;
  Size src, dst;
  bool scale_up;
  Chroma x, y;
};

std::string text_of(const Case &c) {
  Resize resize;
  resize.mode = c.mode;
  resize.method = c.method;
  resize.scale_up = c.scale_up;
  std::ostringstream text;
  text << text_of(resize) << ", " << c.src.width << "x" << c.src.height << " -> " << c.dst.width
       << "x" << c.dst.height;
  for (const Chroma &chroma : {c.x, c.y})
    text << ", chroma over " << (1 << chroma.shift) << (chroma.cosited ? " cosited" : "")
         << (chroma.mirrored ? " mirrored" : "");
  return text.str();
}

std::string text_of(const Tap &tap) {
  std::ostringstream text;
  text.precision(9);
  text << tap.i0 << ", " << tap.i1 << ", w " << tap.w << ", inside " << tap.inside;
  return text.str();
}

/// Returns whether an entry is `expected`. Padding is not read, but its sample must exist, because
/// a backend may fetch it.
bool is(const Tap &tap, const oracle::Reading &expected, int length) {
  const bool exists = std::min(tap.i0, tap.i1) >= 0 && std::max(tap.i0, tap.i1) < length;
  if (!exists || !(tap.w >= 0.0f && tap.w <= 1.0f)) return false;
  if (tap.inside != static_cast<float>(expected.inside)) return false;
  return expected.inside == 0.0 || (tap.i0 == expected.i0 && tap.i1 == expected.i1 &&
                                    tap.w == static_cast<float>(expected.w));
}

void expect_taps(const char *name, const std::vector<Tap> &taps,
                 const std::vector<oracle::Reading> &expected, int length) {
  ASSERT_EQ(taps.size(), expected.size()) << name;
  for (size_t k = 0; k < taps.size(); ++k) {
    const oracle::Reading &e = expected[k];
    if (is(taps[k], e, length)) continue;
    FAIL() << name << " " << k << " reads " << text_of(taps[k]) << "; not "
           << text_of(Tap{e.i0, e.i1, static_cast<float>(e.w), static_cast<float>(e.inside)});
  }
}

oracle::Part whole_axis(int src) { return {0.0, static_cast<double>(src), src}; }

void expect_axis(const AxisPlan &plan, const oracle::Axis &axis, Chroma chroma) {
  std::vector<oracle::Reading> luma, subsampled;
  for (int k = 0; k < axis.dst; ++k) {
    luma.push_back(oracle::read_luma(axis, k));
    if (chroma.shift > 0)
      subsampled.push_back(
          oracle::read_chroma(axis, k, chroma.cosited, 1 << chroma.shift, chroma.mirrored));
  }
  expect_taps("luma", plan.luma, luma, axis.src.picture);
  expect_taps("chroma", plan.chroma, subsampled,
              component_length(chroma.shift, 1, axis.src.picture));
}

void expect_as_the_oracle(const Case &c) {
  SCOPED_TRACE(text_of(c));
  const Geometry g =
      make_geometry({c.mode, c.scale_up}, c.src.width, c.src.height, c.dst.width, c.dst.height);
  const SamplingPlan plan = make_sampling_plan(g, c.method, c.x, c.y);
  Resize resize;
  resize.mode = c.mode;
  resize.method = c.method;
  const oracle::Placement p =
      oracle::place(c.mode, c.src.width, c.src.height, c.dst.width, c.dst.height, c.scale_up);
  expect_axis(plan.x, oracle::x_axis(p, resize, whole_axis(c.src.width), c.dst.width), c.x);
  expect_axis(plan.y, oracle::y_axis(p, resize, whole_axis(c.src.height), c.dst.height), c.y);
}

TEST(SamplingPlan, AllSmallSizes) {
  for (const ResizeMode mode : kModes)
    for (const Method method : kMethods)
      for (const bool scale_up : kBools)
        for (int sizes = 0; sizes < 6 * 6 * 6 * 6; ++sizes) {
          const Size src = {1 + sizes % 6, 1 + sizes / 6 % 6};
          const Size dst = {1 + sizes / 36 % 6, 1 + sizes / 216};
          expect_as_the_oracle(
              {mode, method, src, dst, scale_up, kChromas[sizes % 9], kChromas[sizes / 7 % 9]});
          if (testing::Test::HasFailure()) return;
        }
}

TEST(SamplingPlan, RandomSizes) {
  for_cases(800, [](Random &random) {
    const auto length = [&] { return random.integer(1, random.chance(80) ? 700 : 32767); };
    expect_as_the_oracle({random.pick(kModes),
                          random.pick(kMethods),
                          {length(), length()},
                          {length(), length()},
                          random.chance(50),
                          random.pick(kChromas),
                          random.pick(kChromas)});
  });
}

TEST(SamplingPlan, LargestSizes) {
  for (const ResizeMode mode : kModes)
    for (const Method method : kMethods)
      for (const Size src : {Size{32767, 32767}, Size{32767, 1}, Size{1, 32767}})
        for (const Size dst : {Size{32767, 32766}, Size{1, 1}})
          expect_as_the_oracle({mode, method, src, dst, true, kCosited, kCentered});
}

AxisPlan plan_of(ResizeMode mode, Method method, int src, int dst, Chroma chroma) {
  const Geometry g = make_geometry({mode}, src, src, dst, dst);
  return make_sampling_plan(g, method, chroma, kNone).x;
}

TEST(SamplingPlan, EqualSizesReadEverySampleItself) {
  for (const ResizeMode mode : kModes)
    for (const Method method : kMethods) {
      const AxisPlan plan = plan_of(mode, method, 9, 9, kNone);
      for (int k = 0; k < 9; ++k) {
        EXPECT_EQ(plan.luma[k].i0, k);
        EXPECT_EQ(plan.luma[k].w, 0.0f);
        EXPECT_EQ(plan.luma[k].inside, 1.0f);
      }
    }
}

TEST(SamplingPlan, ChromaSitingMovesByAQuarterOfASample) {
  // With four luma samples, co-sited chroma lies on luma 0 and 2; centered chroma lies between 0
  // and 1 and between 2 and 3.
  const AxisPlan cosited = plan_of(ResizeMode::stretch, Method::bilinear, 4, 4, kCosited);
  EXPECT_EQ(cosited.chroma[0].w, 0.0f);
  EXPECT_EQ(cosited.chroma[1].i0, 0);
  EXPECT_EQ(cosited.chroma[1].i1, 1);
  EXPECT_EQ(cosited.chroma[1].w, 0.5f);
  EXPECT_EQ(cosited.chroma[2].i0, 1);
  EXPECT_EQ(cosited.chroma[2].w, 0.0f);
  const AxisPlan centered = plan_of(ResizeMode::stretch, Method::bilinear, 4, 4, kCentered);
  EXPECT_EQ(centered.chroma[0].i0, 0);  // f = -0.25: before clamping the weight is 0.75
  EXPECT_EQ(centered.chroma[0].i1, 0);
  EXPECT_EQ(centered.chroma[0].w, 0.75f);
  EXPECT_EQ(centered.chroma[1].i0, 0);
  EXPECT_EQ(centered.chroma[1].i1, 1);
  EXPECT_EQ(centered.chroma[1].w, 0.25f);
}

TEST(SamplingPlan, ChromaOfFourColumnsLiesAtTheFirstOrAmidThem) {
  const AxisPlan cosited = plan_of(ResizeMode::stretch, Method::bilinear, 8, 8, {2, true});
  EXPECT_EQ(cosited.chroma[3].i0, 0);  // f = 0.75
  EXPECT_EQ(cosited.chroma[3].w, 0.75f);
  EXPECT_EQ(cosited.chroma[4].i0, 1);
  EXPECT_EQ(cosited.chroma[4].w, 0.0f);
  const AxisPlan centered = plan_of(ResizeMode::stretch, Method::bilinear, 8, 8, {2, false});
  EXPECT_EQ(centered.chroma[1].i0, 0);  // f = -0.125
  EXPECT_EQ(centered.chroma[1].i1, 0);
  EXPECT_EQ(centered.chroma[2].i0, 0);  // f = 0.125
  EXPECT_EQ(centered.chroma[2].w, 0.125f);
  EXPECT_EQ(centered.chroma[5].w, 0.875f);
}

TEST(SamplingPlan, AffineBordersAreSharesOfASample) {
  // Four samples over eight pixels: a step of 0.5, f = -0.75, -0.25, 0.25, …
  const Geometry g = make_geometry({ResizeMode::affine}, 4, 8, 16, 16);
  const AxisPlan x = make_sampling_plan(g, Method::bilinear, kNone, kNone).x;
  EXPECT_EQ(x.luma[2].inside, 0.0f);   // f = -1.25
  EXPECT_EQ(x.luma[3].inside, 0.25f);  // f = -0.75
  EXPECT_EQ(x.luma[4].inside, 0.75f);  // f = -0.25
  EXPECT_EQ(x.luma[5].inside, 1.0f);
  EXPECT_EQ(x.luma[11].inside, 0.75f);
  EXPECT_EQ(x.luma[12].inside, 0.25f);
  EXPECT_EQ(x.luma[13].inside, 0.0f);
}

TEST(SamplingPlan, NearestTakesTheSampleUnderThePixelsStart) {
  const AxisPlan plan = plan_of(ResizeMode::stretch, Method::nearest, 5, 3, kCentered);
  EXPECT_EQ(plan.luma[0].i0, 0);
  EXPECT_EQ(plan.luma[1].i0, 1);  // 5 div 3
  EXPECT_EQ(plan.luma[2].i0, 3);  // 10 div 3
  EXPECT_EQ(plan.chroma[1].i0, 0);
  EXPECT_EQ(plan.chroma[2].i0, 1);
}

/// Expects the two taps of the formula, limited to the picture.
void expect_fixed(int src, int resized, int first, int count, int shift, bool mirrored = false) {
  std::ostringstream text;
  text << src << " -> " << resized << " from " << first << ", chroma over " << (1 << shift)
       << (mirrored ? " mirrored" : "");
  SCOPED_TRACE(text.str());
  const FixedAxisPlan plan = make_fixed_axis_plan({0.0, static_cast<double>(src)}, resized, first,
                                                  count, {shift, false, mirrored}, src);
  ASSERT_EQ(plan.luma.size(), static_cast<size_t>(count));
  ASSERT_EQ(plan.chroma.size(), static_cast<size_t>(shift > 0 ? count : 0));
  const int64_t scale = (static_cast<int64_t>(src) * 262144) / resized;
  for (int k = 0; k < count; ++k) {
    const int64_t x = (first + int64_t{k}) * scale + scale / 2 - 131072;
    const auto i = static_cast<int64_t>(std::floor(static_cast<double>(x) / 262144.0));
    const auto limited = [&](int64_t tap) {
      return std::min<int64_t>(std::max<int64_t>(tap, 0), src - 1);
    };
    ASSERT_EQ(plan.luma[k].i0, limited(i));
    ASSERT_EQ(plan.luma[k].i1, limited(i + 1));
    ASSERT_EQ(plan.luma[k].w, x - i * 262144);
    if (shift == 0) continue;
    const auto chroma_of = [&](int64_t luma) {
      const int64_t each = int64_t{1} << shift, last = (src - 1) / each;
      return mirrored ? last - (src - 1 - luma) / each : luma / each;
    };
    ASSERT_EQ(plan.chroma[k].i0, chroma_of(limited(i)));
    ASSERT_EQ(plan.chroma[k].i1, chroma_of(limited(i + 1)));
    ASSERT_EQ(plan.chroma[k].w, plan.luma[k].w);
  }
}

TEST(FixedAxisPlan, AllSmallSizes) {
  for (int src = 1; src <= 20; ++src)
    for (int resized = 1; resized <= 20; ++resized)
      for (int first = 0; first < resized; ++first)
        expect_fixed(src, resized, first, resized - first, first % 3, resized % 2 == 0);
}

TEST(FixedAxisPlan, LargestSizes) {
  expect_fixed(32767, 32767, 0, 32767, 1);
  expect_fixed(32767, 32766, 32000, 766, 2);
  expect_fixed(1, 32767, 0, 32767, 1);
  expect_fixed(32767, 1, 0, 1, 2);
  expect_fixed(2, 32767, 16000, 767, 0);
}

TEST(FixedAxisPlan, EqualSizesReadEverySampleItself) {
  const FixedAxisPlan plan = make_fixed_axis_plan({0.0, 7.0}, 7, 0, 7, {1}, 7);
  for (int k = 0; k < 7; ++k) {
    EXPECT_EQ(plan.luma[k].i0, k);
    EXPECT_EQ(plan.luma[k].w, 0);
    EXPECT_EQ(plan.chroma[k].i0, k / 2);
  }
}

}  // namespace
}  // namespace cudatensor
