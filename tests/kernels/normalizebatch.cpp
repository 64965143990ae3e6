// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch equals, byte for byte, single runs of the CPU backend for its pictures.
#include <algorithm>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"
#include "slots.h"

namespace cudatensor {
namespace {

/// Common properties of a batch's pictures, which may select code paths in backends.
enum class Kind {
  mixed,    ///< nothing
  strewn,   ///< their format
  aligned,  ///< the same, and aligned to words
  one_off,  ///< aligned, except one plane of one picture
};
const std::vector<Kind> kKinds = {Kind::mixed, Kind::strewn, Kind::aligned, Kind::one_off};

const char *name_of(Kind kind) {
  return kind == Kind::mixed     ? "mixed"
         : kind == Kind::strewn  ? "of one format"
         : kind == Kind::aligned ? "aligned"
                                 : "aligned but for one";
}

struct Batch {
  Kind kind;
  std::vector<Source> sources;
  NormalizeCase params;
};

std::string text_of(const Batch &batch) {
  std::string text = text_of(batch.params) + ", " + name_of(batch.kind) + ":";
  for (const Source &source : batch.sources) text += "\n  " + text_of(source);
  return text;
}

PixelFormat random_format(Random &random, Color color) {
  return random.pick(color == Color::yuv ? kYuvFormats : kSourceFormats);
}

Size small_size(Random &random) { return {random.integer(1, 14), random.integer(1, 12)}; }

/// Returns a batch. All pictures have `format`, unless they are mixed.
Batch random_batch(Random &random, Kind kind, size_t count, PixelFormat format, Color color) {
  const Size out = {random.integer(1, 11), random.integer(1, 10)};
  Batch batch = {kind, {}, random_normalize(random, format, color, {1, 1}, out)};
  batch.params.out.n = static_cast<int64_t>(count);
  const Size all = small_size(random);
  const bool of_one_size = random.chance(25);
  for (size_t i = 0; i < count; ++i) {
    const PixelFormat own = kind == Kind::mixed ? random_format(random, color) : format;
    batch.sources.push_back(random_source(random, own, of_one_size ? all : small_size(random)));
  }
  return batch;
}

Batch random_batch(Random &random, Kind kind, size_t count) {
  const Color color = random.pick(kColors);
  Batch batch = random_batch(random, kind, count, random_format(random, color), color);
  // The fixed-point path needs the default resize, so half of the cases use it.
  if (color == Color::yuv && random.chance(50)) batch.params.resize = {};
  return batch;
}

struct Pictures {
  std::vector<InputPicture> all;
  Slots slots;
};

Pictures pictures_of(Random &random, const Batch &batch, int empty_percent) {
  Pictures pictures;
  const size_t count = batch.sources.size();
  const size_t odd = random.bits() % count;
  for (size_t i = 0; i < count; ++i) {
    const ImageDesc &desc = batch.sources[i].image;
    if (batch.kind == Kind::mixed || batch.kind == Kind::strewn) {
      pictures.all.emplace_back(random, desc, random.pick(kAllContents));
      continue;
    }
    Lays lays = {};
    if (batch.kind == Kind::one_off && i == odd) {
      const size_t last = oracle::format_of(desc.format).planes.size() - 1;
      lays[last] = random.chance(50) ? Lay{1, 64, 0} : Lay{0, 64, 1};
    }
    pictures.all.emplace_back(random, desc, lays, random.pick(kAllContents));
  }
  for (const InputPicture &picture : pictures.all)
    pictures.slots.push_back(random.chance(empty_percent) ? nullptr : &picture);
  return pictures;
}

NormalizeCase params_of(const Batch &batch, size_t slot) {
  NormalizeCase p = batch.params;
  p.source = batch.sources[slot];
  p.out = slot_desc(p.out);
  return p;
}

/// Compares a batch with `single`, which computes one slot from one picture.
template <class Single>
void fill_expected(const Batch &batch, const Slots &in, const Tensor &out, const Single &single) {
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] == nullptr)
      fill_with_pad(params_of(batch, i), slot_of(out, i));
    else
      single(params_of(batch, i), in[i]->view(), slot_of(out, i));
}

class BatchTest : public KernelTest {
 protected:
  /// Compares on every machine, twice: first with other pictures, in other slots.
  void expect_as_single_runs(Random &random, const Batch &batch, int empty_percent) const {
    expect_as(random, batch, empty_percent,
              [&](const NormalizeCase &p, const ConstImage &in, const Tensor &out) {
                normalize_picture(cpu_, p)->run(in, out);
              });
  }

  template <class Single>
  void expect_as(Random &random, const Batch &batch, int empty_percent,
                 const Single &single) const {
    SCOPED_TRACE(text_of(batch));
    const Pictures other = pictures_of(random, batch, random.integer(0, 100)),
                   in = pictures_of(random, batch, empty_percent);
    OutputTensor out(random, batch.params.out);
    fill_expected(batch, in.slots, out.expected(), single);
    expect_all([&](const Machine &m) { return normalize_pictures(m, batch.sources, batch.params); },
               other.slots, in.slots, out);
  }

  void expect_random_batches(size_t count, uint64_t cases) const {
    for_cases(cases, [&](Random &random) {
      const int empty_percent = random.chance(50) ? 0 : random.integer(0, 60);
      expect_as_single_runs(random, random_batch(random, random.pick(kKinds), count),
                            empty_percent);
    });
  }

 private:
  std::unique_ptr<Backend> cpu_ = open_cpu_backend(1);
};

CUDATENSOR_FOR_EVERY_BACKEND(BatchTest);

TEST_P(BatchTest, RandomCasesOfOne) { expect_random_batches(1, 100); }
TEST_P(BatchTest, RandomCasesOfTwo) { expect_random_batches(2, 100); }
TEST_P(BatchTest, RandomCasesOfFive) { expect_random_batches(5, 100); }

/// A launch on a GPU takes at most 64 pictures.
TEST_P(BatchTest, RandomCasesOf64) { expect_random_batches(64, 15); }
TEST_P(BatchTest, RandomCasesOf65) { expect_random_batches(65, 15); }
TEST_P(BatchTest, RandomCasesOf130) { expect_random_batches(130, 10); }

TEST_P(BatchTest, EveryFormatAndColorLyingInEveryWay) {
  uint64_t number = 0;
  for (const PixelFormat format : kSourceFormats)
    for (const Color color : kColors)
      for (const Kind kind : {Kind::strewn, Kind::aligned, Kind::one_off})
        for (const Method method : kMethods) {
          if (!is_possible(format, color)) continue;
          Random random(number++);
          SCOPED_TRACE(random.name());
          Batch batch = random_batch(random, kind, 3, format, color);
          batch.params.resize.method = method;
          expect_as_single_runs(random, batch, 10);
          if (HasFailure()) return;
        }
}

/// Tests both ways to make yuv, in fixed point and in floating point.
TEST_P(BatchTest, EveryTensorOfEveryColor) {
  uint64_t number = 0;
  for (const Color color : kColors)
    for (const ResizeMode mode : {ResizeMode::stretch, ResizeMode::affine})
      for (const DType type : kTypes)
        for (const Layout layout : kLayouts)
          for (const Kind kind : {Kind::mixed, Kind::aligned}) {
            Random random(number++);
            if (random.is_left_out()) continue;
            SCOPED_TRACE(random.name());
            Batch batch = random_batch(random, kind, 5, random_format(random, color), color);
            batch.params.out.dtype = type;
            batch.params.out.layout = layout;
            batch.params.resize.mode = mode;
            randomize_factors(random, batch.params);
            expect_as_single_runs(random, batch, 20);
            if (HasFailure()) return;
          }
}

TEST_P(BatchTest, EqualsTheOracle) {
  for_cases(20, [&](Random &random) {
    expect_as(random, random_batch(random, random.pick(kKinds), 6), 20,
              [](const NormalizeCase &p, const ConstImage &in, const Tensor &out) {
                oracle::normalize(p, in, out);
              });
  });
}

/// The frames of a clip are written one by one, each without touching the others.
TEST_P(BatchTest, FramesOfAClipAreWrittenAlone) {
  for_cases(40, [&](Random &random) {
    Batch batch = random_batch(random, random.pick(kKinds), 5);
    batch.params.out.layout = Layout::ncthw;
    SCOPED_TRACE(text_of(batch));
    const Pictures in = pictures_of(random, batch, 0);
    OutputTensor out(random, batch.params.out);
    for (const size_t frame : {random.bits() % 5, random.bits() % 5}) {
      const NormalizeCase p = params_of(batch, frame);
      fill_with_pad(p, slot_of(out.expected(), frame));
      const bool is_empty = random.chance(20);
      if (!is_empty) oracle::normalize(p, in.slots[frame]->view(), slot_of(out.expected(), frame));
      const auto operation = machine()->normalize(p, p.out);
      machine().run_pictures(
          [&](const auto &views, const Tensor &to, Stream stream) {
            const std::vector<Slot> slots = {{p.source, views[frame]}};
            operation->run(is_empty ? std::vector<Slot>() : slots,
                           slots_of(to, static_cast<int64_t>(frame), 1), stream);
          },
          in.slots, out);
    }
    EXPECT_TRUE(out.matches());
  });
}

TEST_P(BatchTest, EmptySlotsHoldThePadColor) {
  uint64_t number = 0;
  for (const Color color : kColors)
    for (const DType type : kTypes)
      for (const size_t count : {size_t{1}, size_t{3}, size_t{66}}) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        Batch batch =
            random_batch(random, random.pick(kKinds), count, random_format(random, color), color);
        batch.params.out.dtype = type;
        if (random.chance(50)) batch.params.resize.mode = ResizeMode::stretch;
        batch.params.resize.pad_value = random.integer(0, 255);
        expect_as_single_runs(random, batch, 100);
      }
}

/// Outputs have more than a block of threads along both axes, and batches have more pictures than a
/// launch takes.
TEST_P(BatchTest, OutputsOfSeveralBlocks) {
  uint64_t number = 0;
  for (const Kind kind : kKinds) {
    Random random(number++);
    SCOPED_TRACE(random.name());
    Batch batch = random_batch(random, kind, 66);
    batch.params.out.w = random.integer(33, 75);
    batch.params.out.h = random.integer(17, 40);
    expect_as_single_runs(random, batch, 10);
  }
}

/// Returns a batch of pictures that are enlarged, and perhaps one that is not.
Batch random_enlarged_batch(Random &random, size_t count, PixelFormat format) {
  Batch batch = random_batch(random, Kind::aligned, count, format, Color::rgb);
  batch.params.resize = {random.pick(kModes), Method::bilinear, 114, true};
  batch.params.out.w = random.integer(20, 70);
  batch.params.out.h = random.integer(20, 70);
  for (Source &source : batch.sources)
    source.image = {format, random.integer(1, 12), random.integer(3, 9)};
  if (random.chance(50)) {
    const Size other = random.chance(50) ? Size{5, 1} : Size{90, 80};
    batch.sources[random.bits() % count].image = {format, other.width, other.height};
  }
  return batch;
}

TEST_P(BatchTest, EnlargedPictures) {
  for_cases(40, [&](Random &random) {
    const size_t count = random.pick(std::vector<size_t>{1, 2, 5, 65});
    const PixelFormat format = random.pick(kSourceFormats);
    expect_as_single_runs(random, random_enlarged_batch(random, count, format),
                          random.chance(50) ? 0 : 20);
  });
}

TEST_P(BatchTest, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const Kind kind : {Kind::aligned, Kind::one_off}) {
    Batch batch = random_batch(random, kind, 3, PixelFormat::NV12, Color::rgb);
    for (Source &source : batch.sources) source.image = {PixelFormat::NV12, 1280, 720};
    batch.params.resize = {ResizeMode::affine, Method::bilinear, 114, true};
    batch.params.out.w = batch.params.out.h = 320;
    expect_as_single_runs(random, batch, 0);
  }
}

/// A few cases of each kernel for compute-sanitizer. tests/gpu.sh selects them by the suite's name.
class CudaEdgesBatchTest : public BatchTest {};

INSTANTIATE_TEST_SUITE_P(, CudaEdgesBatchTest, testing::Values("cuda"),
                         [](const auto &info) { return info.param; });

TEST_P(CudaEdgesBatchTest, EveryKind) {
  uint64_t number = 0;
  for (const Kind kind : kKinds)
    for (const Color color : kColors)
      for (const PixelFormat format :
           {PixelFormat::NV12, PixelFormat::I420, PixelFormat::Y444, PixelFormat::BGR,
            PixelFormat::xRGB, PixelFormat::RGBP, PixelFormat::GRAY8}) {
        if (!is_possible(format, color)) continue;
        Random random(number++);
        SCOPED_TRACE(random.name());
        expect_as_single_runs(random, random_batch(random, kind, 3, format, color), 20);
      }
}

TEST_P(CudaEdgesBatchTest, EnlargedPictures) {
  uint64_t number = 0;
  for (const PixelFormat format :
       {PixelFormat::NV12, PixelFormat::I420, PixelFormat::BGR, PixelFormat::RGBx}) {
    Random random(number++);
    SCOPED_TRACE(random.name());
    expect_as_single_runs(random, random_enlarged_batch(random, 3, format), 20);
  }
}

TEST_P(CudaEdgesBatchTest, MoreSlotsThanALaunchTakes) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const Kind kind : kKinds) expect_as_single_runs(random, random_batch(random, kind, 65), 20);
}

// ------------------------------------------------------------------------------------ refusals

NormalizeCase good_params(int64_t count) {
  NormalizeCase p = {};
  p.out = {DType::float32, Layout::nchw, count, 3, 10, 20};
  return p;
}

const std::vector<Source> kGoodSources = {{{PixelFormat::NV12, 64, 48}, {}, false, false},
                                          {{PixelFormat::BGR, 31, 17}, {}, false, false}};

TEST_P(BatchTest, RefusesAnEmptyBatchAndOneBeyondAnyTensor) {
  EXPECT_NO_THROW(normalize_pictures(machine(), kGoodSources, good_params(2)));
  for (const int64_t count : {int64_t{-2}, int64_t{0}, kMaxBatch + 1, int64_t{1} << 32 | 2})
    expect_refusal(
        Error::Code::settings,
        "a batch of 1 to " + std::to_string(kMaxBatch) + ", got " + std::to_string(count),
        [&] { normalize_pictures(machine(), kGoodSources, good_params(count)); });
}

/// Any of the pictures may be the one that is refused.
TEST_P(BatchTest, RefusesWhatASingleOneRefuses) {
  for (size_t i = 0; i < 2; ++i) {
    const auto refused = [&](const char *cause, auto change) {
      std::vector<Source> sources = kGoodSources;
      NormalizeCase p = good_params(2);
      change(sources[i], p);
      expect_refusal(Error::Code::settings, cause,
                     [&] { normalize_pictures(machine(), sources, p); });
    };
    refused("0x", [](Source &s, auto &) { s.image.width = 0; });
    refused("x32768", [](Source &s, auto &) { s.image.height = 32768; });
    refused("yuv", [](Source &s, auto &p) {
      s.image.format = PixelFormat::RGB;
      p.color = Color::yuv;
    });
    refused("channels", [](Source &, auto &p) { p.out.c = 4; });
    refused("std is 0", [](Source &, auto &p) { p.std = {0.0}; });
    refused("pad-value", [](Source &, auto &p) { p.resize.pad_value = 256; });
  }
}

/// It is refused even if no resize uses it, because it fills slots without a picture.
TEST_P(BatchTest, RefusesAPadValueOutsideAByte) {
  NormalizeCase p = good_params(1);
  p.color = Color::yuv;
  for (const int pad : {-1, 256}) {
    p.resize.pad_value = pad;
    expect_refusal(Error::Code::settings, "pad-value", [&] {
      normalize_pictures(machine(), {{{PixelFormat::NV12, 64, 48}, {}, false, false}}, p);
    });
  }
}

class BatchRunTest : public BatchTest {
 protected:
  void expect_run_refused(const std::string &cause, const std::vector<ConstImage> &in,
                          const Tensor &out) const {
    const auto operation = normalize_pictures(machine(), kGoodSources, good_params(2));
    expect_refusal(Error::Code::input, cause, [&] { operation->run(in, out); });
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(BatchRunTest);

/// The refusal comes before anything is written.
TEST_P(BatchRunTest, RefusesWhatItWasNotMadeFor) {
  Random random(0);
  const InputPicture first(random, kGoodSources[0].image), second(random, kGoodSources[1].image),
      wide(random, {PixelFormat::BGR, 32, 17});
  const ConstImage a = first.view(), b = second.view();
  OutputTensor out(random, good_params(2).out), more(random, good_params(3).out);
  expect_run_refused("3 slots for a batch of 2", {a, b, b}, out.view());
  expect_run_refused("BGR 32x17", {a, wide.view()}, out.view());
  expect_run_refused("BGR 31x17", {b, a}, out.view());
  expect_run_refused("shape", {a, b}, more.view());
  expect_run_refused("shape", {{}, {}}, more.view());
  ConstImage broken = a;
  broken.planes[1].data = nullptr;
  expect_run_refused("no memory", {broken, b}, out.view());
  broken = b;
  broken.planes[0].stride = 3 * 31 - 1;
  expect_run_refused("stride", {a, broken}, out.view());
  expect_run_refused("no memory", {a, b}, {good_params(2).out, nullptr});
  Tensor misaligned = out.view();
  misaligned.data = static_cast<uint8_t *>(misaligned.data) + 1;
  expect_run_refused("aligned", {a, b}, misaligned);
  EXPECT_TRUE(out.matches());
  EXPECT_TRUE(more.matches());
}

}  // namespace
}  // namespace cudatensor
