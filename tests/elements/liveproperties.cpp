// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties that change while frames flow take effect at the next frame, and completely.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kInput = {PixelFormat::NV12, 12, 8};

/// Sends the query that upstream sends between frames. The element may renegotiate before it
/// answers.
void ask_for_allocation(Rig &rig) {
  const CapsRef caps(gst_pad_get_current_caps(rig.harness()->srcpad));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  gst_pad_peer_query(rig.harness()->srcpad, query.get());
}

/// A running cudanormalize, and its expected output for one picture.
class LiveNormalize : public testing::Test {
 protected:
  void start(const std::string &properties = "") {
    rig_ = std::make_unique<Rig>("cudanormalize " + properties);
    ASSERT_TRUE(rig_->caps(video_caps(kInput)));
  }
  Bytes next() { return bytes_of(rig_->process(buffer_of(picture_)).get()); }
  void expect_next(const NormalizeCase &params) {
    EXPECT_TRUE(same_bytes(next(), normalized(picture_, params)));
    EXPECT_EQ(rig_->output("dimensions"), dimensions_of(params.out));
    EXPECT_EQ(rig_->output("types"), nick(params.out.dtype));
  }

  Picture picture_ = random_picture(kInput);
  NormalizeCase params_ = normalize_params(source_of(kInput), Color::rgb, DType::float32,
                                           Layout::nchw, kInput.width, kInput.height);
  std::unique_ptr<Rig> rig_;
};

TEST_F(LiveNormalize, ChangesSizeTypeLayoutAndColour) {
  start();
  expect_next(params_);
  rig_->set("width", "5");
  params_.out.w = 5;
  expect_next(params_);
  rig_->set("height", "6");
  params_.out.h = 6;
  expect_next(params_);
  rig_->set("dtype", "uint8");
  params_.out.dtype = DType::uint8;
  expect_next(params_);
  rig_->set("layout", "nhwc");
  params_.out.layout = Layout::nhwc;
  expect_next(params_);
  rig_->set("color", "gray");
  params_.color = Color::gray;
  params_.out.c = 1;
  expect_next(params_);
}

TEST_F(LiveNormalize, ChangesAllThatKeepsTheCaps) {
  start("width=20 height=20");
  params_.out.w = params_.out.h = 20;
  expect_next(params_);
  rig_->set("resize-mode", "ultralytics");
  params_.resize.mode = ResizeMode::ultralytics;
  expect_next(params_);
  rig_->set("method", "nearest");
  params_.resize.method = Method::nearest;
  expect_next(params_);
  rig_->set("pad-value", "3");
  params_.resize.pad_value = 3;
  expect_next(params_);
  rig_->set("scale-up", "false");
  params_.resize.scale_up = false;
  expect_next(params_);
  rig_->set("color", "bgr");
  params_.color = Color::bgr;
  expect_next(params_);
  rig_->set("mean", "<0.1,0.2,0.3>");
  params_.mean = {0.1, 0.2, 0.3};
  expect_next(params_);
  rig_->set("std", "<0.5>");
  params_.std = {0.5};
  expect_next(params_);
  rig_->set("scale", "2");
  params_.scale = 2;
  expect_next(params_);
  rig_->set("normalization", "alpha-beta");
  params_.normalization = Normalization::alpha_beta;
  expect_next(params_);
  rig_->set("alpha", "<3,4,5>");
  params_.alpha = {3, 4, 5};
  expect_next(params_);
  rig_->set("beta", "<-1>");
  params_.beta = {-1};
  expect_next(params_);
  rig_->set("resize-mode", "affine");
  rig_->set("method", "bilinear");
  rig_->set("scale-up", "true");
  rig_->set("round", "true");
  params_.resize = {};
  params_.resize.mode = ResizeMode::affine;
  params_.resize.pad_value = 3;
  params_.round = true;
  expect_next(params_);
}

/// Changes one property at a time, in an order in which every combination is valid.
TEST_F(LiveNormalize, ChangesAntialiasCropAndZeroPad) {
  start("width=20 height=20 mean=<0.5>");
  params_.mean = {0.5};
  params_.out.w = params_.out.h = 20;
  const auto set = [&](const char *property, const char *value) {
    rig_->set(property, value);
    expect_next(params_);
  };
  params_.resize.antialias = true;
  set("antialias", "true");
  for (const Method method : {Method::box, Method::bicubic, Method::lanczos, Method::bilinear}) {
    params_.resize.method = method;
    set("method", nick(method).c_str());
  }
  params_.pad_normalized = true;
  set("pad-normalized", "true");
  params_.resize.mode = ResizeMode::ultralytics;
  set("resize-mode", "ultralytics");
  params_.pad_normalized = false;
  set("pad-normalized", "false");
  params_.resize.mode = ResizeMode::torchvision;
  set("resize-mode", "torchvision");
  params_.resize.shortest_edge = 23;
  set("shortest-edge", "23");
  params_.resize.mode = ResizeMode::transformers;
  set("resize-mode", "transformers");
  params_.resize.antialias = false;
  set("antialias", "false");
  params_.resize.method = Method::nearest;
  set("method", "nearest");
  params_.resize.mode = ResizeMode::affine;
  set("resize-mode", "affine");
}

TEST_F(LiveNormalize, ResizesThatExcludeEachOtherAreAnErrorUntilTheyDoNot) {
  start();
  rig_->set("method", "bicubic");
  expect_error(*rig_, buffer_of(picture_), "antialias=true");
  expect_error(*rig_, buffer_of(picture_), "antialias=true");
  rig_->set("antialias", "true");
  params_.resize.method = Method::bicubic;
  params_.resize.antialias = true;
  expect_next(params_);
  rig_->set("resize-mode", "affine");
  expect_error(*rig_, buffer_of(picture_), "resize-mode=affine");
  rig_->set("resize-mode", "torchvision");
  params_.resize.mode = ResizeMode::torchvision;
  expect_next(params_);
  rig_->set("shortest-edge", "5");
  expect_error(*rig_, buffer_of(picture_), "shortest-edge");
  rig_->set("shortest-edge", "12");
  params_.resize.shortest_edge = 12;
  expect_next(params_);
}

TEST_F(LiveNormalize, ChangesRoundingAlone) {
  start("width=20 height=20");
  params_.out.w = params_.out.h = 20;
  expect_next(params_);
  rig_->set("round", "true");
  params_.round = true;
  expect_next(params_);
}

TEST_F(LiveNormalize, ChangesALayoutWithEqualDimensions) {
  start("width=3 height=3");
  params_.out.w = params_.out.h = 3;
  expect_next(params_);
  rig_->set("layout", "nhwc");
  params_.out.layout = Layout::nhwc;
  expect_next(params_);
}

TEST_F(LiveNormalize, TheSameValueAgainChangesNothing) {
  start("width=5");
  PoolOffer offer(*rig_, PoolOffer::Kind::plain, 5 * 8 * 3 * 4);
  next();
  const int asked = offer.asked();
  rig_->set("width", "5");
  rig_->set("dtype", "float32");
  next();
  EXPECT_EQ(offer.asked(), asked) << "negotiated again";
  rig_->set("width", "6");
  next();
  EXPECT_GT(offer.asked(), asked);
}

TEST_F(LiveNormalize, AnswersAnAllocationQueryBetweenChangeAndFrame) {
  start();
  next();
  rig_->set("layout", "nhwc");
  rig_->set("width", "6");
  params_.out.layout = Layout::nhwc;
  params_.out.w = 6;
  // Upstream asks again when downstream has changed, before it pushes the next frame.
  gst_pad_push_event(rig_->harness()->sinkpad, gst_event_new_reconfigure());
  ask_for_allocation(*rig_);
  expect_next(params_);
}

TEST_F(LiveNormalize, TakesAChangeBeforeNewCaps) {
  start();
  next();
  rig_->set("layout", "nhwc");
  rig_->set("dtype", "uint8");
  const ImageDesc other = {PixelFormat::RGB, 7, 5};
  ASSERT_TRUE(rig_->caps(video_caps(other)));
  picture_ = random_picture(other);
  expect_next(normalize_params(source_of(other), Color::rgb, DType::uint8, Layout::nhwc, 7, 5));
}

TEST_F(LiveNormalize, RefusesColoursThatTheInputDoesNotHave) {
  Rig rig("cudanormalize color=yuv");
  ASSERT_TRUE(rig.caps(video_caps(kInput, "colorimetry=smpte240m")));
  rig.process(buffer_of(picture_));
  // From now on the matrix is needed, and this one cannot be converted.
  rig.set("color", "rgb");
  EXPECT_EQ(rig.push(buffer_of(picture_)), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(rig.pull(), nullptr);
}

TEST_F(LiveNormalize, AnErrorGoesWhenItsCauseGoes) {
  start("mean=<1,2>");
  expect_error(*rig_, buffer_of(picture_), "mean");
  rig_->set("mean", "<0>");
  expect_next(params_);
}

TEST_F(LiveNormalize, AnyNumberOfThreadsGivesTheSame) {
  start("n-threads=1");
  for (const char *threads : {"2", "3", "0", "4", "1"}) {
    rig_->set("n-threads", threads);
    expect_next(params_);
  }
}

int64_t cpu_time(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

/// Returns the share of other threads than the pushing one in the processor time of frames.
double share_of_others(Rig &rig, GstBuffer *frame) {
  const int64_t begin = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  const int64_t own_begin = cpu_time(CLOCK_THREAD_CPUTIME_ID);
  int64_t all = 0, own = 0;
  do {
    EXPECT_NE(rig.process(BufferRef(gst_buffer_ref(frame))), nullptr);
    all = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - begin;
    own = cpu_time(CLOCK_THREAD_CPUTIME_ID) - own_begin;
  } while (all < 50'000'000);
  return static_cast<double>(all - own) / static_cast<double>(all);
}

/// Tries several rounds, because on a busy machine another thread may get no processor at first,
/// and an idle thread looks for work for a while before it sleeps.
testing::AssertionResult others_work(Rig &rig, GstBuffer *frame, bool expected) {
  const gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
  double share = 0;
  do {
    share = share_of_others(rig, frame);
    if (expected ? share > 0.02 : share < 0.005) return testing::AssertionSuccess();
  } while (g_get_monotonic_time() < end);
  return testing::AssertionFailure() << "other threads' share is " << share;
}

TEST(LiveThreads, FollowTheProperty) {
  cpu_set_t processors;
  ASSERT_EQ(sched_getaffinity(0, sizeof processors, &processors), 0);
  if (CPU_COUNT(&processors) < 2) GTEST_SKIP() << "needs two processors";
  // Large enough that a thread can wake up while a frame is computed.
  const ImageDesc large = {PixelFormat::NV12, 3840, 2160};
  const BufferRef frame = buffer_of(random_picture(large));
  Rig rig("cudanormalize dtype=uint8 n-threads=1");
  ASSERT_TRUE(rig.caps(video_caps(large)));
  if (rig.get("active-backend") != "cpu") GTEST_SKIP() << "the property affects only the CPU";
  EXPECT_TRUE(others_work(rig, frame.get(), false));
  for (const char *threads : {"2", "0"}) {
    rig.set("n-threads", threads);
    EXPECT_TRUE(others_work(rig, frame.get(), true)) << "n-threads=" << threads;
    rig.set("n-threads", "1");
    EXPECT_TRUE(others_work(rig, frame.get(), false)) << "after n-threads=" << threads;
  }
}

TEST_F(LiveNormalize, ControlledPropertyHasItsValueAtTheFramesTime) {
  start("width=12 height=20 resize-mode=affine");
  params_.out.h = 20;
  params_.resize.mode = ResizeMode::affine;
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_object_add_control_binding(
      GST_OBJECT(rig_->element()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(rig_->element()), "pad-value", source));
  for (guint i = 0; i < 4; ++i)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), i * GST_SECOND,
                                       10.0 * i);
  gst_object_unref(source);
  for (guint i = 0; i < 4; ++i) {
    BufferRef buffer = buffer_of(picture_);
    GST_BUFFER_PTS(buffer.get()) = i * GST_SECOND;
    params_.resize.pad_value = static_cast<int>(10 * i);
    EXPECT_TRUE(
        same_bytes(bytes_of(rig_->process(std::move(buffer)).get()), normalized(picture_, params_)))
        << i;
  }
}

TEST(LiveLetterbox, ChangesItsProperties) {
  const Picture picture = random_picture(kInput);
  LetterboxParams params = {source_of(kInput), {PixelFormat::RGB, 30, 30}, {}};
  params.resize.mode = ResizeMode::affine;
  Rig rig("cudaletterbox");
  rig.downstream(video_caps(params.out));
  ASSERT_TRUE(rig.caps(video_caps(kInput)));
  const auto expect_next = [&] {
    EXPECT_TRUE(same_picture(picture_of(rig.process(buffer_of(picture)).get(), params.out),
                             letterboxed(picture, params)));
  };
  expect_next();
  rig.set("resize-mode", "top-left");
  params.resize.mode = ResizeMode::top_left;
  expect_next();
  rig.set("method", "nearest");
  params.resize.method = Method::nearest;
  expect_next();
  rig.set("pad-value", "0");
  params.resize.pad_value = 0;
  expect_next();
  rig.set("scale-up", "false");
  params.resize.scale_up = false;
  expect_next();
  rig.set("method", "bilinear");
  rig.set("antialias", "true");
  params.resize.method = Method::bilinear;
  params.resize.antialias = true;
  expect_next();
  rig.set("method", "bicubic");
  params.resize.method = Method::bicubic;
  expect_next();
  rig.set("resize-mode", "torchvision");
  params.resize.mode = ResizeMode::torchvision;
  expect_next();
  rig.set("shortest-edge", "41");
  params.resize.shortest_edge = 41;
  expect_next();
  rig.set("resize-mode", "transformers");
  params.resize.mode = ResizeMode::transformers;
  expect_next();
}

TEST(LiveYuv444, ChangesResizeAndCrop) {
  const Picture picture = random_picture(kInput);
  const ImageDesc out = {PixelFormat::Y444, 6, 4};
  Rig rig("cudanv12toyuv444");
  rig.downstream(video_caps(out));
  ASSERT_TRUE(rig.caps(video_caps(kInput)));
  Yuv444Params params = {kInput, out, 6, 4, 0, 0};
  const auto expect_next = [&] {
    EXPECT_TRUE(same_picture(picture_of(rig.process(buffer_of(picture)).get(), out),
                             as_yuv444(picture, params)));
  };
  expect_next();
  rig.set("resize-width", "10");
  params.resize_width = 10;
  expect_next();
  rig.set("crop-x", "4");
  params.crop_x = 4;
  expect_next();
  rig.set("resize-height", "7");
  rig.set("crop-y", "2");
  params.resize_height = 7;
  params.crop_y = 2;
  expect_next();
}

TEST(LiveYuv444, SizeFollowsWhereDownstreamLeavesItOpen) {
  const Picture picture = random_picture(kInput);
  Rig rig("cudanv12toyuv444 resize-width=10 resize-height=6");
  ASSERT_TRUE(rig.caps(video_caps(kInput)));
  rig.process(buffer_of(picture));
  EXPECT_EQ(rig.output("width") + "x" + rig.output("height"), "10x6");
  rig.set("crop-x", "3");
  const ImageDesc out = {PixelFormat::Y444, 7, 6};
  const BufferRef buffer = rig.process(buffer_of(picture));
  EXPECT_EQ(rig.output("width"), "7");
  EXPECT_TRUE(
      same_picture(picture_of(buffer.get(), out), as_yuv444(picture, {kInput, out, 10, 6, 3, 0})));
}

TEST(LivePixelShuffle, ChangesFactorAndScale) {
  const TensorDesc in = {DType::float32, Layout::nchw, 1, 16, 2, 3};
  const Bytes bytes = random_tensor(in, 3);
  Rig rig("cudapixelshuffle");
  ASSERT_TRUE(rig.caps(tensor_caps(in)));
  for (const int factor : {2, 4, 1, 2}) {
    rig.set("upscale-factor", std::to_string(factor));
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(buffer_of(bytes)).get()),
                           shuffled_bytes(bytes, {in, factor})));
    EXPECT_EQ(rig.output("dimensions"), dimensions_of(shuffled({in, factor})));
  }
}

TEST(LivePixelShuffle, ChangesScaleAndOffset) {
  const TensorDesc in = {DType::float32, Layout::nchw, 1, 4, 2, 3};
  const ImageDesc out = {PixelFormat::GRAY8, 6, 4};
  const Bytes bytes = random_tensor(in, 3);
  Rig rig("cudapixelshuffle");
  rig.downstream(video_caps(out));
  ASSERT_TRUE(rig.caps(tensor_caps(in)));
  PixelShuffleToVideoParams params = {in, 2, out, 0.0, 0.0};
  const auto expect_next = [&] {
    EXPECT_TRUE(same_picture(picture_of(rig.process(buffer_of(bytes)).get(), out),
                             shuffled_picture(bytes, params)));
  };
  expect_next();
  rig.set("scale", "100");
  params.scale = 100;
  expect_next();
  rig.set("offset", "-5");
  params.offset = -5;
  expect_next();
}

// ----------------------------------------------------------------------------------------- races

using Settings = std::map<std::string, std::string>;

/// Calls `visit` for every combination of the choices.
void for_combinations(const std::vector<std::pair<std::string, std::vector<std::string>>> &choices,
                      const std::function<void(const Settings &)> &visit, Settings chosen = {}) {
  const size_t next = chosen.size();
  if (next == choices.size()) return visit(chosen);
  for (const std::string &value : choices[next].second) {
    Settings more = chosen;
    more[choices[next].first] = value;
    for_combinations(choices, visit, more);
  }
}

/// An output with the caps that it came with.
using Result = std::pair<std::string, Bytes>;

std::string text_of(GstCaps *caps) {
  gchar *text = gst_caps_to_string(caps);
  const std::string result = text;
  g_free(text);
  return result;
}

/// Reads buffers on the pad that pushes them, where their caps are certain.
class OutputProbe {
 public:
  OutputProbe(Rig &rig, std::function<void(const Result &)> visit)
      : pad_(gst_element_get_static_pad(rig.element(), "src")), visit_(std::move(visit)) {
    const auto look = [](GstPad *pad, GstPadProbeInfo *info, gpointer self) {
      const CapsRef caps(gst_pad_get_current_caps(pad));
      static_cast<OutputProbe *>(self)->visit_(
          {text_of(caps.get()), samples_of(GST_PAD_PROBE_INFO_BUFFER(info), caps.get())});
      return GST_PAD_PROBE_OK;
    };
    id_ = gst_pad_add_probe(pad_.get(), GST_PAD_PROBE_TYPE_BUFFER, look, this, nullptr);
  }
  ~OutputProbe() { gst_pad_remove_probe(pad_.get(), id_); }

 private:
  PadRef pad_;
  std::function<void(const Result &)> visit_;
  gulong id_;
};

struct Race {
  std::string element, caps, downstream;
  BufferRef frame;
  std::vector<std::pair<std::string, std::vector<std::string>>> choices;
};

std::string described(const Race &race, const Settings &settings) {
  std::string text = race.element;
  for (const auto &[name, value] : settings) text += " " + name + "=" + value;
  return text;
}

/// Returns all right results, from elements whose settings never change.
std::set<Result> right_results(const Race &race) {
  std::set<Result> results;
  for_combinations(race.choices, [&](const Settings &settings) {
    Rig rig(described(race, settings));
    if (!race.downstream.empty()) rig.downstream(race.downstream);
    OutputProbe probe(rig, [&](const Result &result) { results.insert(result); });
    ASSERT_TRUE(rig.caps(race.caps));
    rig.process(BufferRef(gst_buffer_ref(race.frame.get())));
  });
  return results;
}

/// Sets random properties, queries caps and lets downstream request negotiation, until `stop`.
void toggle(Rig &rig, const Race &race, const std::atomic<bool> &stop) {
  Noise noise(11);
  while (!stop) {
    const auto &[name, values] = race.choices[static_cast<size_t>(
        noise.integer(0, static_cast<int>(race.choices.size()) - 1))];
    const std::string &value =
        values[static_cast<size_t>(noise.integer(0, static_cast<int>(values.size()) - 1))];
    gst_util_set_object_arg(G_OBJECT(rig.element()), name.c_str(), value.c_str());
    if (noise.integer(0, 3) == 0)
      gst_pad_push_event(rig.harness()->sinkpad, gst_event_new_reconfigure());
    if (noise.integer(0, 3) == 0)
      CapsRef(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr)).reset();
    if (noise.integer(0, 7) == 0) std::this_thread::yield();
  }
}

/// Runs frames while a thread changes properties: every output must be one of the right ones, with
/// the caps that belong to it, and not always the same.
void run_race(Race race) {
  const std::set<Result> right = right_results(race);
  Settings first;
  for (const auto &[name, values] : race.choices) first[name] = values[0];
  Rig rig(described(race, first));
  if (!race.downstream.empty()) rig.downstream(race.downstream);
  ASSERT_TRUE(rig.caps(race.caps));
  std::set<Result> seen;
  size_t wrong = 0;
  OutputProbe probe(rig, [&](const Result &result) {
    seen.insert(result);
    if (right.count(result) == 0 && ++wrong == 1)
      ADD_FAILURE() << "an output that no settings give: " << result.first;
  });
  gst_harness_set_drop_buffers(rig.harness(), TRUE);
  std::atomic<bool> stop{false};
  std::thread thread([&] { toggle(rig, race, stop); });
  const gint64 begin = g_get_monotonic_time();
  // Runs for at least a second, longer if frames are rare.
  const auto is_over = [&] {
    const gint64 time = g_get_monotonic_time() - begin;
    return time > 10 * G_USEC_PER_SEC || (time > G_USEC_PER_SEC && seen.size() >= right.size() / 2);
  };
  int frames = 0, failed = 0;
  for (; !is_over() && failed == 0; ++frames) {
    if (frames % 5 == 0) ask_for_allocation(rig);
    failed += rig.push(BufferRef(gst_buffer_ref(race.frame.get()))) != GST_FLOW_OK;
  }
  stop = true;
  thread.join();
  EXPECT_EQ(failed, 0) << "after " << frames << " frames";
  for (const ElementError &error : rig.messages().errors()) ADD_FAILURE() << error.text;
  EXPECT_EQ(wrong, 0u) << "of " << frames << " outputs";
  // If there are many right results, not all need to occur, but changes must have had effects.
  EXPECT_GE(seen.size(), right.size() / 2) << "of " << right.size() << " in " << frames;
}

TEST(Race, Normalize) {
  run_race({"cudanormalize",
            video_caps(kInput),
            "",
            buffer_of(random_picture(kInput)),
            {{"width", {"3", "8"}},
             {"height", {"3"}},
             {"dtype", {"float32", "uint8"}},
             {"layout", {"nchw", "nhwc"}},
             {"color", {"rgb", "gray", "bgr"}},
             {"mean", {"<0>", "<-0.5>"}}}});
}

TEST(Race, NormalizeFollowsDownstreamOrItself) {
  run_race({"cudanormalize",
            video_caps(kInput),
            "other/tensors,format=static,num_tensors=1,types={(string)float32,(string)uint8},"
            "dimensions={(string)6:5:3:1,(string)6:5:1:1},framerate=30/1",
            buffer_of(random_picture(kInput)),
            {{"color", {"rgb", "gray"}}, {"dtype", {"float32", "uint8"}}, {"width", {"0", "6"}}}});
}

TEST(Race, NormalizeRegions) {
  run_race({"cudanormalize width=3 height=3 region-list=<1,1,5,4,0,2,6,3>",
            video_caps(kInput),
            "",
            buffer_of(random_picture(kInput)),
            {{"regions", {"none", "tiles", "list", "meta"}},
             {"tile-columns", {"1", "3"}},
             {"tile-overlap", {"0", "0.5"}},
             {"max-batch", {"0", "6"}},
             {"region-edge", {"clip", "pad"}}}});
}

TEST(Race, NormalizeFilters) {
  run_race({"cudanormalize width=9 height=7 antialias=true mean=<0.5>",
            video_caps(kInput),
            "",
            buffer_of(random_picture(kInput)),
            {{"method", {"bilinear", "box", "bicubic", "lanczos"}},
             {"resize-mode", {"stretch", "ultralytics", "torchvision"}},
             {"shortest-edge", {"0", "13"}},
             {"pad-normalized", {"false", "true"}}}});
}

TEST(Race, LetterboxFiltersAndCrops) {
  run_race({"cudaletterbox",
            video_caps(kInput),
            video_caps({PixelFormat::RGB, 20, 19}),
            buffer_of(random_picture(kInput)),
            {{"resize-mode", {"ultralytics", "torchvision", "transformers"}},
             {"antialias", {"false", "true"}},
             {"shortest-edge", {"0", "25"}}}});
}

TEST(Race, Letterbox) {
  run_race({"cudaletterbox",
            video_caps(kInput),
            video_caps({PixelFormat::RGB, 20, 20}),
            buffer_of(random_picture(kInput)),
            {{"resize-mode", {"affine", "ultralytics", "top-left"}},
             {"method", {"nearest", "bilinear"}},
             {"pad-value", {"0", "200"}},
             {"n-threads", {"1", "2"}}}});
}

TEST(Race, Yuv444) {
  run_race(
      {"cudanv12toyuv444",
       video_caps(kInput),
       "",
       buffer_of(random_picture(kInput)),
       {{"resize-width", {"8", "12"}}, {"crop-x", {"0", "5"}}, {"resize-height", {"0", "4"}}}});
}

TEST(Race, PixelShuffle) {
  const TensorDesc in = {DType::uint8, Layout::nchw, 1, 36, 3, 2};
  run_race({"cudapixelshuffle",
            tensor_caps(in),
            "",
            buffer_of(noise(in.bytes(), 1)),
            {{"upscale-factor", {"1", "2", "3", "6"}}}});
}

}  // namespace
}  // namespace cudatensor
