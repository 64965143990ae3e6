// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of a picture in the slots of a batch, compared with the oracle, and with pictures that
// were cropped or padded first.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"
#include "slots.h"

namespace cudatensor {
namespace {

/// Returns a number on one of several grids, so that whole and even numbers occur.
double on_a_grid(Random &random, double low, double high) {
  const double value = random.real(low, high);
  switch (random.integer(0, 3)) {
    case 0: return std::clamp(std::round(value), std::ceil(low), std::floor(high));
    case 1: return std::clamp(2.0 * std::round(value / 2.0), std::ceil(low), std::floor(high));
    case 2: return std::clamp(std::round(value * 8.0) / 8.0, low, high);
    default: return value;
  }
}

struct Stretch {
  double begin, length;
};

/// Returns a part of an axis of `length` pixels, of which `beyond` may lie outside.
Stretch random_stretch(Random &random, int length, double beyond) {
  const double begin = on_a_grid(random, -beyond, length - 1.0 + beyond);
  const double most = length + beyond - begin;
  return {begin, std::max(0.01, on_a_grid(random, 0.0, std::max(most, 0.0)))};
}

Region random_region(Random &random, const ImageDesc &image, bool beyond) {
  if (random.chance(10)) return whole(image);
  const Stretch x = random_stretch(random, image.width, beyond ? 5.0 : 0.0);
  const Stretch y = random_stretch(random, image.height, beyond ? 5.0 : 0.0);
  const Region region = {x.begin, y.begin, x.length, y.length};
  return beyond ? region : clip(region, image.width, image.height).value();
}

std::vector<Region> random_regions(Random &random, const NormalizeCase &p, size_t count) {
  std::vector<Region> regions;
  for (size_t i = 0; i < count; ++i)
    regions.push_back(random_region(random, p.source.image, p.pad_outside));
  return regions;
}

NormalizeCase of_one_slot(NormalizeCase c) {
  c.out = slot_desc(c.out);
  return c;
}

std::string text_of(const std::vector<Region> &regions) {
  std::ostringstream text;
  text.precision(17);
  for (const Region &r : regions)
    text << "\n  " << r.width << "x" << r.height << " at " << r.x << "," << r.y;
  return text.str();
}

/// Returns parameters of a batch of `slots` slots.
NormalizeCase random_params(Random &random, PixelFormat format, Color color, int64_t slots) {
  const Size in = {random.integer(1, 20), random.integer(1, 16)};
  NormalizeCase p =
      random_normalize(random, format, color, in, {random.integer(1, 12), random.integer(1, 10)});
  p.out.n = slots;
  p.pad_outside = random.chance(50);
  // The fixed-point path needs the default resize, so half of the cases use it.
  if (color == Color::yuv && random.chance(50)) p.resize = {};
  if (color != Color::yuv && random.chance(30)) p.resize = random_filter(random);
  return p;
}

NormalizeCase random_params(Random &random, int64_t slots) {
  const Color color = random.pick(kColors);
  return random_params(random, random.pick(color == Color::yuv ? kYuvFormats : kSourceFormats),
                       color, slots);
}

class RegionsTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const NormalizeCase &p,
                            const std::vector<Region> &before,
                            const std::vector<Region> &regions) const {
    SCOPED_TRACE(text_of(p) + text_of(regions));
    const InputPicture other(random, p.source.image), in(random, p.source.image);
    OutputTensor out(random, p.out);
    NormalizeCase slot = of_one_slot(p);
    for (size_t i = 0; i < static_cast<size_t>(p.out.n); ++i) {
      if (i >= regions.size()) {
        fill_with_pad(slot, slot_of(out.expected(), i));
        continue;
      }
      slot.region = regions[i];
      oracle::normalize(slot, in.view(), slot_of(out.expected(), i));
    }
    expect_all([&](const Machine &m) { return normalize_regions(m, p); },
               PictureRegions{&other, before}, PictureRegions{&in, regions}, out);
  }

  /// The previous regions are others, the same, or some of them.
  void expect_random(Random &random, const NormalizeCase &p) const {
    const auto slots = static_cast<size_t>(p.out.n);
    const size_t count = random.bits() % (slots + 1);
    const std::vector<Region> regions = random_regions(random, p, count);
    std::vector<Region> before = regions;
    if (random.chance(60)) before = random_regions(random, p, random.bits() % (slots + 1));
    if (random.chance(20)) before.resize(std::min(before.size(), count / 2));
    expect_as_the_oracle(random, p, before, regions);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(RegionsTest);

TEST_P(RegionsTest, RandomCasesOfOneSlot) {
  for_cases(300, [&](Random &random) { expect_random(random, random_params(random, 1)); });
}

TEST_P(RegionsTest, RandomCasesOfFourSlots) {
  for_cases(150, [&](Random &random) { expect_random(random, random_params(random, 4)); });
}

/// A launch on a GPU takes at most 64 slots.
TEST_P(RegionsTest, RandomCasesOf66Slots) {
  for_cases(8, [&](Random &random) { expect_random(random, random_params(random, 66)); });
}

TEST_P(RegionsTest, EveryFormatAndColor) {
  uint64_t number = 0;
  for (const PixelFormat format : kSourceFormats)
    for (const Color color : kColors)
      for (const bool beyond : kBools) {
        if (!is_possible(format, color)) continue;
        Random random(number++);
        SCOPED_TRACE(random.name());
        NormalizeCase p = random_params(random, format, color, 3);
        p.pad_outside = beyond;
        expect_as_the_oracle(random, p, random_regions(random, p, 3), random_regions(random, p, 3));
        if (HasFailure()) return;
      }
}

/// The regions are at the picture's edges and as small as possible.
TEST_P(RegionsTest, SmallestRegions) {
  for_cases(100, [&](Random &random) {
    NormalizeCase p = random_params(random, 4);
    const double width = p.source.image.width, height = p.source.image.height;
    const auto place = [&](double length) {
      return random.pick(std::vector<double>{0.0, 0.5, length - kMinSide, length - 1.0});
    };
    std::vector<Region> regions;
    for (int i = 0; i < 4; ++i)
      regions.push_back({place(width), place(height), kMinSide, kMinSide});
    for (Region &region : regions)
      region = clip(region, p.source.image.width, p.source.image.height).value_or(region);
    expect_as_the_oracle(random, p, {}, regions);
  });
}

TEST_P(RegionsTest, OutputsOfSeveralBlocks) {
  uint64_t number = 0;
  for (const Color color : kColors)
    for (const bool beyond : kBools) {
      Random random(number++);
      SCOPED_TRACE(random.name());
      NormalizeCase p = random_params(random, PixelFormat::NV12, color, 3);
      p.source.image.width = 160;
      p.source.image.height = 90;
      p.out.w = random.integer(33, 75);
      p.out.h = random.integer(17, 40);
      p.pad_outside = beyond;
      expect_random(random, p);
    }
}

/// Returns the picture of a region that begins on whole samples.
ConstImage cropped(const ConstImage &in, const Rect &rect) {
  ConstImage crop = in;
  crop.desc.width = rect.width;
  crop.desc.height = rect.height;
  const FormatLayout layout = layout_of(in.desc.format);
  for (int c = 0; c < layout.components; ++c) {
    const Component &component = layout.component[c];
    const int x = c > 0 ? rect.x >> layout.chroma_shift_x : rect.x;
    const int y = c > 0 ? rect.y >> layout.chroma_shift_y : rect.y;
    auto &plane = crop.planes[component.plane];
    const auto &whole = in.planes[component.plane];
    plane.data = whole.data + y * whole.stride + static_cast<ptrdiff_t>(x) * component.step;
  }
  return crop;
}

/// The expected values come from the operation without regions.
TEST_P(RegionsTest, ARegionOfWholePixelsIsACrop) {
  const auto cpu = open_cpu_backend(1);
  for_cases(200, [&](Random &random) {
    NormalizeCase p = random_params(random, 2);
    p.pad_outside = p.pad_outside && p.color != Color::yuv;
    Rect rect = random_rect(random, p.source.image.width, p.source.image.height);
    const FormatLayout layout = layout_of(p.source.image.format);
    rect.x -= rect.x % (1 << layout.chroma_shift_x);
    rect.y -= rect.y % (1 << layout.chroma_shift_y);
    const InputPicture in(random, p.source.image);
    OutputTensor out(random, p.out);
    NormalizeCase alone = of_one_slot(p);
    alone.source.image.width = rect.width;
    alone.source.image.height = rect.height;
    normalize_picture(cpu, alone)->run(cropped(in.view(), rect), slot_of(out.expected(), 0));
    fill_with_pad(alone, slot_of(out.expected(), 1));
    const Region region = {double(rect.x), double(rect.y), double(rect.width), double(rect.height)};
    SCOPED_TRACE(text_of(p) + text_of({region}));
    expect_all([&](const Machine &m) { return normalize_regions(m, p); }, PictureRegions{&in, {}},
               PictureRegions{&in, {region}}, out);
  });
}

/// Returns a picture with a border of the pad colour.
InputPicture padded(Random &random, const InputPicture &in, const ImageDesc &desc, int border,
                    uint8_t pad) {
  InputPicture wide(random, {desc.format, desc.width + 2 * border, desc.height + 2 * border});
  wide.fill(pad);
  const ConstImage from = in.view(), to = wide.view();
  const Component &component = layout_of(desc.format).component[0];
  for (int y = 0; y < desc.height; ++y)
    std::copy_n(from.planes[0].data + y * from.planes[0].stride, desc.width * component.step,
                const_cast<uint8_t *>(to.planes[0].data) + (y + border) * to.planes[0].stride +
                    border * component.step);
  return wide;
}

TEST_P(RegionsTest, PadColorLiesBeyondThePicture) {
  constexpr int kBorder = 8;
  for_cases(100, [&](Random &random) {
    NormalizeCase p = random_params(random, PixelFormat::RGB, Color::rgb, 1);
    p.pad_outside = true;
    p.round = false;
    p.out.dtype = DType::float32;
    p.normalization = Normalization::alpha_beta;
    p.alpha = {1.0};
    p.beta = {0.0};
    // An antialiased resize ignores pixels outside of the picture.
    if (p.resize.mode == ResizeMode::affine || p.resize.antialias) p.resize = {};
    const Region region = random_region(random, p.source.image, true);
    SCOPED_TRACE(text_of(p) + text_of({region}));
    const InputPicture in(random, p.source.image);
    const InputPicture wide =
        padded(random, in, p.source.image, kBorder, static_cast<uint8_t>(p.resize.pad_value));
    OutputTensor out(random, p.out), expected(random, p.out);
    NormalizeCase whole = p;
    whole.source.image = wide.view().desc;
    whole.region = Region{region.x + kBorder, region.y + kBorder, region.width, region.height};
    oracle::normalize(whole, wide.view(), expected.expected());
    const auto operation = normalize_regions(machine(), p);
    machine().run(*operation, PictureRegions{&in, {region}}, out);
    for (int64_t i = 0; i < p.out.c * p.out.h * p.out.w; ++i)
      ASSERT_NEAR(oracle::element(constant(out.view()), i),
                  oracle::element(constant(expected.expected()), i), 1e-3)
          << i;
  });
}

/// A few cases of each kernel for compute-sanitizer. tests/gpu.sh selects them by the suite's name.
class CudaEdgesRegionsTest : public RegionsTest {};

INSTANTIATE_TEST_SUITE_P(, CudaEdgesRegionsTest, testing::Values("cuda"),
                         [](const auto &info) { return info.param; });

TEST_P(CudaEdgesRegionsTest, RegionsThatChange) {
  uint64_t number = 0;
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::I420, PixelFormat::BGR})
    for (const Color color : kColors)
      for (const bool beyond : kBools) {
        if (!is_possible(format, color)) continue;
        Random random(number++);
        SCOPED_TRACE(random.name());
        NormalizeCase p = random_params(random, format, color, 3);
        p.pad_outside = beyond;
        expect_random(random, p);
      }
}

// ------------------------------------------------------------------------------------ refusals

NormalizeCase good_params(int64_t slots) {
  NormalizeCase p = {};
  p.source.image = {PixelFormat::NV12, 64, 48};
  p.out = {DType::float32, Layout::nchw, slots, 3, 10, 20};
  return p;
}

TEST_P(RegionsTest, RefusesAnEmptyBatch) {
  for (const int64_t slots : {-1, 0})
    expect_refusal(Error::Code::settings, ", got " + std::to_string(slots),
                   [&] { normalize_regions(machine(), good_params(slots)); });
}

TEST_P(RegionsTest, RefusesRegionsThatItCannotTake) {
  Random random(0);
  const InputPicture in(random, good_params(2).source.image);
  const Region good = {1.5, 2.0, 10.0, 3.0};
  const auto expect_refused = [&](Error::Code code, const std::string &cause,
                                  const std::vector<Region> &regions, bool beyond = false) {
    NormalizeCase p = good_params(2);
    p.pad_outside = beyond;
    OutputTensor out(random, p.out);
    const auto operation = normalize_regions(machine(), p);
    expect_refusal(code, cause, [&] {
      machine().run(*operation, PictureRegions{&in, regions}, out);
    });
    EXPECT_NO_THROW(machine().run(*operation, PictureRegions{&in, {good}}, out));
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expect_refused(Error::Code::input, "3 slots for a batch of 2", {good, good, good});
  expect_refused(Error::Code::settings, "leaves the picture of 64x48", {good, {60, 0, 4.5, 4}});
  expect_refused(Error::Code::settings, "leaves the picture of 64x48", {{0, -0.5, 4, 4}});
  expect_refused(Error::Code::settings, "leaves the picture of 64x48", {{70, 0, 4, 4}});
  for (const bool beyond : kBools) {
    expect_refused(Error::Code::settings, "a region of 0x4", {good, {1, 1, 0, 4}}, beyond);
    expect_refused(Error::Code::settings, "a region of 4x-1", {{1, 1, 4, -1}}, beyond);
    expect_refused(Error::Code::settings, "at 64,0", {{64, 0, 1e-16, 4}}, beyond);
    expect_refused(Error::Code::settings, "a region of 4x", {{0, 1, 4, 1e-320}}, beyond);
    expect_refused(Error::Code::settings, "nan", {{kNan, 1, 4, 4}}, beyond);
    expect_refused(Error::Code::settings, "a region of inf", {{1, 1, kInfinity, 4}}, beyond);
    expect_refused(Error::Code::settings, "a region of", {{1, -2e9, 4, 4}}, beyond);
  }
}

}  // namespace
}  // namespace cudatensor
