// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of several pictures in one batch, and the plans that are replaced from frame to frame.
#include "kernels/slotplans.h"

#include <tuple>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"
#include "slots.h"

namespace cudatensor {
namespace {

constexpr TensorDesc kOut = {DType::float32, Layout::nchw, 4, 3, 10, 20};
constexpr Source kCamera = {{PixelFormat::NV12, 64, 48}, {}, false, false};
constexpr Source kOther = {{PixelFormat::BGR, 31, 17}, {}, false, false};

Slot slot(const Source &source, std::optional<Region> region = {}) {
  static const uint8_t memory = 0;
  return {source, {source.image, {{&memory, 0}, {}, {}}}, region};
}

std::vector<size_t> places_of(const std::vector<SlotPlans::NewPlan> &made) {
  std::vector<size_t> places;
  for (const SlotPlans::NewPlan &each : made) places.push_back(each.place);
  return places;
}

using Places = std::vector<size_t>;

TEST(SlotPlans, AreMadeOnceForSlotsThatShowTheSame) {
  SlotPlans plans({}, kOut);
  EXPECT_TRUE(plans.has_pad());
  EXPECT_EQ(places_of(plans.update({slot(kCamera), slot(kOther), slot(kCamera)})), (Places{0, 1}));
  EXPECT_EQ(plans.place(0), plans.place(2));
  EXPECT_NE(plans.place(0), plans.place(1));
  EXPECT_EQ(plans.place(3), SlotPlans::kPad);
  EXPECT_TRUE(plans.has_pad());
  EXPECT_TRUE(plans.update({slot(kCamera), slot(kOther), slot(kCamera)}).empty());
}

TEST(SlotPlans, FollowPicturesToOtherSlots) {
  SlotPlans plans({}, kOut);
  plans.update({slot(kCamera), slot(kOther)});
  EXPECT_TRUE(plans.update({slot(kOther), slot(kCamera), slot(kCamera), slot(kOther)}).empty());
  EXPECT_FALSE(plans.has_pad());
  EXPECT_EQ(plans.place(0), 1U);
  EXPECT_EQ(plans.place(1), 0U);
}

TEST(SlotPlans, AreKeptForACameraThatReturns) {
  SlotPlans plans({}, kOut);
  plans.update({slot(kCamera), slot(kOther)});
  EXPECT_TRUE(plans.update({{}, slot(kOther)}).empty());
  EXPECT_EQ(plans.place(0), SlotPlans::kPad);
  EXPECT_EQ(plans.geometries()[0].dst_width, 0);
  EXPECT_TRUE(plans.update({slot(kCamera), slot(kOther)}).empty());
  EXPECT_EQ(plans.geometries()[0].src_width, 64);
}

TEST(SlotPlans, TakePlacesThatNoSlotUses) {
  SlotPlans plans({}, kOut);
  const auto tile = [](double x) { return slot(kCamera, Region{x, 0, 8, 8}); };
  EXPECT_EQ(places_of(plans.update({tile(0), tile(1), tile(2), tile(3)})), (Places{0, 1, 2, 3}));
  EXPECT_EQ(places_of(plans.update({tile(0), tile(9), tile(2), tile(8)})), (Places{1, 3}));
  EXPECT_EQ(places_of(plans.update({tile(4), tile(5), tile(6), tile(7)})), (Places{0, 1, 2, 3}));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plans.place(i), i);
    EXPECT_EQ(plans.geometries()[i].region.x, 4.0 + static_cast<double>(i));
  }
}

TEST(SlotPlans, AreMadeAnewForOtherColorimetry) {
  SlotPlans plans({}, kOut);
  Source full = kCamera;
  full.colorimetry.range = ColorRange::full;
  plans.update({slot(kCamera)});
  EXPECT_EQ(places_of(plans.update({slot(full)})), (Places{0}));
}

TEST(SlotPlans, AreAllMadeAgainAfterARefusal) {
  SlotPlans plans({}, kOut);
  plans.update({slot(kCamera), slot(kOther)});
  expect_refusal(Error::Code::settings, "leaves the picture", [&] {
    plans.update({slot(kCamera), slot(kOther), slot(kCamera, Region{60, 0, 8, 8})});
  });
  plans.forget();
  EXPECT_EQ(places_of(plans.update({slot(kCamera), slot(kOther)})), (Places{0, 1}));
}

TEST(SlotPlans, AreKeptForOtherFactorsAlone) {
  NormalizeParams params;
  SlotPlans plans(params, kOut);
  plans.update({slot(kCamera), slot(kOther)});
  params.mean = {0.5};
  params.round = true;
  plans.set_params(params);
  EXPECT_TRUE(plans.update({slot(kCamera), slot(kOther)}).empty());
  EXPECT_TRUE(plans.tensor().round);
  params.resize.mode = ResizeMode::ultralytics;
  plans.set_params(params);
  EXPECT_EQ(places_of(plans.update({slot(kCamera), slot(kOther)})), (Places{0, 1}));
  EXPECT_EQ(plans.geometries()[0].mode, ResizeMode::ultralytics);
}

TEST(SlotPlans, AreAsBeforeAfterRefusedParameters) {
  NormalizeParams params;
  SlotPlans plans(params, kOut);
  plans.update({slot(kCamera)});
  NormalizeParams bad = params;
  bad.resize.mode = ResizeMode::affine;
  bad.std = {0.0};
  expect_refusal(Error::Code::settings, "std is 0", [&] { plans.set_params(bad); });
  EXPECT_TRUE(plans.update({slot(kCamera)}).empty());
  EXPECT_EQ(plans.geometries()[0].mode, ResizeMode::stretch);
}

// --------------------------------------------------------------- several pictures with regions

/// A batch of regions of some pictures, in which some slots are padding.
struct Batch {
  NormalizeCase params;
  std::vector<Source> sources;
  struct Shown {
    size_t picture;
    std::optional<Region> region;
  };
  std::vector<std::optional<Shown>> slots;
};

Region random_part(Random &random, const ImageDesc &image) {
  const double x = random.real(0.0, image.width - 0.5), y = random.real(0.0, image.height - 0.5);
  return {x, y, random.real(0.1, image.width - x), random.real(0.1, image.height - y)};
}

/// Makes the slots show other regions, with the pictures and parameters of `batch`.
void show_others(Random &random, Batch &batch) {
  for (auto &slot : batch.slots) {
    slot.reset();
    if (random.chance(15)) continue;
    const size_t picture = random.bits() % batch.sources.size();
    slot = Batch::Shown{picture, std::nullopt};
    if (random.chance(80)) slot->region = random_part(random, batch.sources[picture].image);
  }
}

Batch random_batch(Random &random, int64_t slots) {
  const Color color = random.pick(kColors);
  Batch batch;
  batch.params = random_normalize(random, PixelFormat::NV12, color, {1, 1},
                                  {random.integer(1, 40), random.integer(1, 20)});
  batch.params.out.n = slots;
  batch.params.pad_outside = random.chance(30);
  if (color == Color::yuv && random.chance(50)) batch.params.resize = {};
  for (int i = random.integer(1, 4); i > 0; --i)
    batch.sources.push_back(
        random_source(random, random.pick(color == Color::yuv ? kYuvFormats : kSourceFormats),
                      {random.integer(1, 30), random.integer(1, 20)}));
  batch.slots.resize(static_cast<size_t>(slots));
  show_others(random, batch);
  return batch;
}

/// Changes the factors, and perhaps the resize.
void change_params(Random &random, NormalizeOperation &operation, NormalizeCase &params) {
  randomize_factors(random, params);
  params.round = random.chance(50);
  if (random.chance(50)) params.resize = random_resize(random);
  operation.set_params(params);
}

class SlotsTest : public KernelTest {
 protected:
  static void run(const Machine &machine, NormalizeOperation &operation, const Batch &batch,
                  const std::vector<InputPicture> &pictures, OutputTensor &out) {
    Slots inputs;
    for (const InputPicture &picture : pictures) inputs.push_back(&picture);
    machine.run_pictures(
        [&](const std::vector<ConstImage> &views, const Tensor &to, Stream stream) {
          std::vector<Slot> slots;
          for (const auto &shown : batch.slots)
            slots.push_back(shown ? Slot{batch.sources[shown->picture], views[shown->picture],
                                         turned(shown->region, batch.sources[shown->picture])}
                                  : Slot{});
          expect_geometries(batch, operation.run(slots, to, stream));
        },
        inputs, out);
  }

  static void fill_expected(const Batch &batch, const std::vector<InputPicture> &pictures,
                            const Tensor &expected) {
    for (size_t i = 0; i < batch.slots.size(); ++i) {
      NormalizeCase one = batch.params;
      one.out = slot_desc(one.out);
      if (!batch.slots[i]) {
        fill_with_pad(one, slot_of(expected, i));
        continue;
      }
      one.source = batch.sources[batch.slots[i]->picture];
      one.region = batch.slots[i]->region;
      oracle::normalize(one, pictures[batch.slots[i]->picture].view(), slot_of(expected, i));
    }
  }

 private:
  static void expect_geometries(const Batch &batch, const std::vector<Geometry> &geometries) {
    ASSERT_EQ(geometries.size(), batch.slots.size());
    const NormalizeCase &p = batch.params;
    for (size_t i = 0; i < geometries.size(); ++i) {
      const Geometry &g = geometries[i];
      if (!batch.slots[i]) {
        EXPECT_EQ(g.dst_width, 0);
        continue;
      }
      const Source &source = batch.sources[batch.slots[i]->picture];
      const ImageDesc image = source.seen();
      const Region region = batch.slots[i]->region.value_or(whole(source.image));
      const Geometry expected = make_geometry(p.resize.fit(), image.width, image.height,
                                              seen(region, source.image, source.direction),
                                              static_cast<int>(p.out.w), static_cast<int>(p.out.h));
      EXPECT_EQ(g.src_width, expected.src_width);
      EXPECT_EQ(std::tie(g.sx, g.sy, g.tx, g.ty),
                std::tie(expected.sx, expected.sy, expected.tx, expected.ty));
      EXPECT_EQ(std::tie(g.pad_left, g.pad_top, g.content_width, g.content_height),
                std::tie(expected.pad_left, expected.pad_top, expected.content_width,
                         expected.content_height));
    }
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(SlotsTest);

/// One operation computes several batches, each with other slots of other pictures.
TEST_P(SlotsTest, EqualTheOracle) {
  for_cases(40, [&](Random &random) {
    const int64_t slots = random.pick(std::vector<int64_t>{1, 2, 5, 66});
    Batch batch = random_batch(random, slots);
    SCOPED_TRACE(text_of(batch.params));
    const Machine &machine = any(random);
    const auto operation = machine->normalize(batch.params, batch.params.out);
    for (int round = 0; round < 4; ++round) {
      if (round > 0 && random.chance(80)) show_others(random, batch);
      if (round > 0 && random.chance(50)) change_params(random, *operation, batch.params);
      std::vector<InputPicture> pictures;
      for (const Source &source : batch.sources) pictures.emplace_back(random, source.image);
      OutputTensor out(random, batch.params.out);
      fill_expected(batch, pictures, out.expected());
      run(machine, *operation, batch, pictures, out);
      EXPECT_TRUE(out.matches());
    }
  });
}

TEST_P(SlotsTest, ContinueAfterARefusedOne) {
  Random random(0);
  Batch batch = random_batch(random, 3);
  batch.params.pad_outside = false;
  std::vector<InputPicture> pictures;
  for (const Source &source : batch.sources) pictures.emplace_back(random, source.image);
  OutputTensor out(random, batch.params.out);
  const auto operation = machine()->normalize(batch.params, batch.params.out);
  run(machine(), *operation, batch, pictures, out);
  Batch broken = batch;
  broken.slots[1] = Batch::Shown{0, Region{1e6, 0.0, 1.0, 1.0}};
  expect_refusal(Error::Code::settings, "leaves the picture",
                 [&] { run(machine(), *operation, broken, pictures, out); });
  out.reset();
  fill_expected(batch, pictures, out.expected());
  run(machine(), *operation, batch, pictures, out);
  EXPECT_TRUE(out.matches());
}

}  // namespace
}  // namespace cudatensor
