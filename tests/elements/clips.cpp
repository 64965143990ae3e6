// SPDX-License-Identifier: LGPL-2.1-or-later
// cudanormalize's clips: which frames a tensor has, against the definition of a clip.
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "gpu.h"
#include "muxrig.h"
#include "pools.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"
#include "tests/kernels/random.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kDuration = 40 * GST_MSECOND;
const ImageDesc kFrame = {PixelFormat::NV12, 24, 18};

enum class Fate { good, faulty, late };

struct Shape {
  int64_t frames = 4, step = 1, hop = 0;
  Layout layout = Layout::nchw;

  int64_t real_hop() const { return hop != 0 ? hop : frames * step; }
  std::string properties() const {
    return "frames-per-tensor=" + std::to_string(frames) + " frame-step=" + std::to_string(step) +
           " clip-hop=" + std::to_string(hop);
  }
};

NormalizeCase params_of(const Shape &shape) {
  NormalizeCase params = small_params();
  params.out.layout = shape.layout == Layout::nhwc ? Layout::nhwc : Layout::nchw;
  return params;
}

/// Returns the numbers of clip k's frames.
std::vector<int64_t> clip(const Shape &shape, int64_t k) {
  std::vector<int64_t> numbers;
  for (int64_t j = 0; j < shape.frames; ++j)
    numbers.push_back(k * shape.real_hop() + j * shape.step);
  return numbers;
}

/// Returns the clips that come of a stream which ends after these frames.
std::vector<std::vector<int64_t>> clips_of(const Shape &shape, const std::vector<Fate> &fates) {
  std::vector<std::vector<int64_t>> clips;
  std::set<int64_t> shown;
  const auto count = static_cast<int64_t>(fates.size());
  const auto is_good = [&](int64_t i) {
    return i < count && fates[static_cast<size_t>(i)] == Fate::good;
  };
  for (int64_t k = 0;; ++k) {
    const std::vector<int64_t> numbers = clip(shape, k);
    const bool is_full = numbers.back() < count;
    const bool is_wanted = std::any_of(numbers.begin(), numbers.end(), [&](int64_t i) {
      return is_good(i) && (is_full || shown.count(i) == 0);
    });
    if (is_wanted) clips.push_back(numbers);
    if (!is_full) return clips;
    shown.insert(numbers.begin(), numbers.end());
  }
}

/// Returns a clip from the slots of its frames.
Bytes tensor_of(const Shape &shape, const std::vector<Bytes> &slots) {
  if (shape.layout != Layout::ncthw) return joined(slots);
  Bytes all;
  const auto plane = static_cast<ptrdiff_t>(slots[0].size() / 3);
  for (ptrdiff_t c = 0; c < 3; ++c)
    for (const Bytes &slot : slots)
      all.insert(all.end(), slot.begin() + c * plane, slot.begin() + (c + 1) * plane);
  return all;
}

/// Plays streams to the element, and checks all of its tensors.
class Player {
 public:
  explicit Player(const Shape &shape, const std::string &more = "",
                  const std::string &downstream = "other/tensors", bool in_cuda = false)
      : shape_(shape), rig_(description_of(shape, more)), in_cuda_(in_cuda) {
    rig_.downstream(downstream);
    caps(kFrame);
  }

  Rig &rig() { return rig_; }
  void set_shape(const Shape &shape) {
    shape_ = shape;
    rig_.set("frames-per-tensor", std::to_string(shape.frames));
    rig_.set("frame-step", std::to_string(shape.step));
    rig_.set("clip-hop", std::to_string(shape.hop));
    rig_.set("layout", nick(shape.layout));
  }
  void caps(const ImageDesc &desc) {
    desc_ = desc;
    const std::string text = video_caps(desc, "framerate=25/1");
    forget_caps(rig_.harness()->srcpad);
    EXPECT_TRUE(rig_.caps(in_cuda_ ? in_cuda(text) : text));
  }
  /// Pushes the next frame of the stream.
  void push(Fate fate = Fate::good) {
    const GstClockTime time = static_cast<GstClockTime>(number_++) * kDuration;
    const Picture picture = random_picture(desc_, static_cast<uint64_t>(number_));
    if (fate == Fate::late)
      gst_harness_push_upstream_event(rig_.harness(),
                                      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, 0, time));
    BufferRef frame =
        fate == Fate::faulty ? buffer_of(Bytes(7)) : frame_at(picture, time, kDuration);
    GST_BUFFER_PTS(frame.get()) = time;
    GST_BUFFER_DURATION(frame.get()) = kDuration;
    if (in_cuda_ && fate != Fate::faulty) frame = to_cuda(std::move(frame));
    EXPECT_EQ(rig_.push(std::move(frame)), GST_FLOW_OK);
    fates_.push_back(fate);
    widths_.push_back(desc_.width);
    slots_.push_back(fate == Fate::good ? slot_bytes(picture, params_of(shape_)) : Bytes());
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) push();
  }
  /// Expects the tensors of a stream that has ended; the next frame is the first of another one.
  void expect_end() {
    for (const auto &numbers : clips_of(shape_, fates_)) expect_clip(numbers);
    expect_discarded();
  }
  /// Expects no tensor; the next frame is the first of another stream.
  void expect_discarded() {
    EXPECT_EQ(rig_.pull(), nullptr);
    fates_.clear();
    slots_.clear();
    widths_.clear();
    first_ = number_;
  }

 private:
  static std::string description_of(const Shape &shape, const std::string &more) {
    NormalizeCase params = params_of(shape);
    params.out.layout = shape.layout;
    return "cudanormalize " + properties_of(params) + " " + shape.properties() + " " + more;
  }

  void expect_clip(const std::vector<int64_t> &numbers) {
    SCOPED_TRACE("the clip from frame " + std::to_string(numbers[0]));
    const BufferRef tensor = rig_.pull();
    ASSERT_NE(tensor, nullptr);
    std::vector<Bytes> slots;
    int64_t last = 0;
    for (const int64_t i : numbers) {
      const bool is_there = i < static_cast<int64_t>(fates_.size());
      if (is_there) last = i;
      const bool is_good = is_there && !slots_[static_cast<size_t>(i)].empty();
      slots.push_back(is_good ? slots_[static_cast<size_t>(i)] : pad_bytes(params_of(shape_)));
    }
    EXPECT_TRUE(same_bytes(bytes_of(tensor.get()), tensor_of(shape_, slots)));
    EXPECT_EQ(GST_BUFFER_PTS(tensor.get()), time_of(numbers[0]));
    EXPECT_EQ(GST_BUFFER_DURATION(tensor.get()), time_of(last) + kDuration - time_of(numbers[0]));
    expect_slots(tensor.get(), numbers);
  }

  void expect_slots(GstBuffer *tensor, const std::vector<int64_t> &numbers) {
    if (shape_.frames == 1) {
      EXPECT_EQ(batch_meta(tensor), nullptr);
      return;
    }
    const auto told = slots_of(tensor);
    ASSERT_EQ(told.size(), numbers.size());
    for (size_t i = 0; i < told.size(); ++i) {
      const auto number = static_cast<size_t>(numbers[i]);
      ASSERT_EQ(told[i].valid, number < fates_.size() && fates_[number] == Fate::good) << i;
      if (!told[i].valid) continue;
      EXPECT_EQ(told[i].pts, time_of(numbers[i]));
      EXPECT_EQ(told[i].running_time, time_of(numbers[i]));
      EXPECT_EQ(told[i].duration, kDuration);
      EXPECT_EQ(told[i].src_width, widths_[number]);
    }
  }

  GstClockTime time_of(int64_t frame) const {
    return static_cast<GstClockTime>(first_ + frame) * kDuration;
  }

  Shape shape_;
  Rig rig_;
  bool in_cuda_;
  ImageDesc desc_ = kFrame;
  int64_t number_ = 0, first_ = 0;  // of the next frame; of the stream's first frame
  std::vector<Fate> fates_;
  std::vector<Bytes> slots_;
  std::vector<int> widths_;
};

Shape random_shape(Random &random) {
  Shape shape;
  shape.frames = random.integer(1, 6);
  shape.step = random.integer(1, 4);
  shape.hop = random.chance(30) ? 0 : random.integer(1, 14);
  shape.layout = random.pick<Layout>({Layout::nchw, Layout::nhwc, Layout::ncthw});
  return shape;
}

ImageDesc random_frame(Random &random) {
  return {random.pick<PixelFormat>({PixelFormat::NV12, PixelFormat::RGB, PixelFormat::GRAY8}),
          random.integer(8, 30), random.integer(8, 30)};
}

/// Ends a stream in one of the ways that end clips. Some discard.
void end(Random &random, Player &player) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  switch (random.integer(0, 3)) {
    case 0:
      player.rig().event(gst_event_new_segment_done(GST_FORMAT_TIME, 0));
      return player.expect_end();
    case 1: player.rig().event(gst_event_new_segment(&segment)); return player.expect_end();
    case 2:
      while (player.rig().pull() != nullptr) continue;
      player.rig().event(gst_event_new_flush_start());
      player.rig().event(gst_event_new_flush_stop(TRUE));
      player.rig().event(gst_event_new_segment(&segment));
      return player.expect_discarded();
    default: {
      player.caps(random_frame(random));
      player.rig().event(gst_event_new_segment(&segment));
      player.expect_end();
    }
  }
}

void play(Random &random, Player &player, int frames) {
  const int faulty = random.pick<int>({0, 0, 20, 70}), late = random.pick<int>({0, 0, 0, 20});
  for (int i = 0; i < frames; ++i)
    player.push(random.chance(faulty) ? Fate::faulty
                : random.chance(late) ? Fate::late
                                      : Fate::good);
}

class Clips : public testing::Test {};
class CudaClips : public GpuTest {};

void expect_random_clips(const std::string &downstream, bool in_cuda) {
  for_cases(60, [&](Random &random) {
    Shape shape = random_shape(random);
    SCOPED_TRACE(shape.properties() + " layout=" + nick(shape.layout));
    Player player(shape, "", downstream, in_cuda);
    for (int stream = random.integer(1, 4); stream > 0; --stream) {
      play(random, player, random.integer(0, 40));
      end(random, player);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_TRUE(player.rig().messages().errors().empty());
  });
}

TEST_F(Clips, HaveTheFramesOfTheDefinition) { expect_random_clips("other/tensors", false); }

TEST_F(CudaClips, HaveTheFramesOfTheDefinition) {
  for (const char *downstream : {"other/tensors(memory:CUDAMemory)", "other/tensors"})
    for (const bool in_cuda : {false, true}) expect_random_clips(downstream, in_cuda);
}

TEST_F(Clips, MayChangeWhilePlaying) {
  for_cases(30, [&](Random &random) {
    Shape shape = random_shape(random);
    SCOPED_TRACE(shape.properties());
    Player player(shape);
    for (int i = 0; i < 3; ++i) {
      player.push(random.integer(1, 12));
      Shape next = random_shape(random);
      if (random.chance(30)) {
        // The caps stay the same.
        next = shape;
        next.hop = shape.real_hop();
        next.step = shape.step + 1;
      }
      const bool same = next.properties() == shape.properties() && next.layout == shape.layout;
      if (same) continue;
      player.rig().event(gst_event_new_segment_done(GST_FORMAT_TIME, 0));
      player.expect_end();
      player.set_shape(next);
      shape = next;
    }
    player.push(9);
    player.rig().event(gst_event_new_eos());
    player.expect_end();
    EXPECT_TRUE(player.rig().messages().errors().empty());
  });
}

/// The first frame after the change begins a clip; the old one is completed before.
TEST_F(Clips, CountAnewAfterAChange) {
  Player player({4, 1, 1, Layout::nchw});
  player.push(6);
  player.rig().set("frame-step", "2");
  const BufferRef frame = frame_at(random_picture(kFrame), 6 * kDuration, kDuration);
  EXPECT_EQ(player.rig().push(BufferRef(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
  player.rig().event(gst_event_new_eos());
  std::vector<GstClockTime> times;
  while (const BufferRef tensor = player.rig().pull())
    times.push_back(GST_BUFFER_PTS(tensor.get()) / kDuration);
  // Clips 0, 1 and 2 are full; clip 3 has no frame that those do not have.
  EXPECT_EQ(times, (std::vector<GstClockTime>{0, 1, 2, 6}));
}

TEST_F(Clips, HaveFiveDimensionsChannelByChannel) {
  Player player({5, 2, 3, Layout::ncthw});
  EXPECT_EQ(player.rig().output("dimensions"), "12:10:5:3:1");
  EXPECT_EQ(player.rig().output("framerate"), "25/3");
  Player brief({5, 1, 0, Layout::ncthw}, "", "other/tensors,dimensions=(string)12:10:5:3");
  EXPECT_EQ(brief.rig().output("dimensions"), "12:10:5:3");
  Player one({1, 1, 0, Layout::ncthw});
  EXPECT_EQ(one.rig().output("dimensions"), "12:10:1:3:1");
  one.push(2);
  one.rig().event(gst_event_new_eos());
  one.expect_end();
  Player sized({2, 1, 0, Layout::ncthw}, "width=0 height=0",
               "other/tensors,dimensions=(string)8:6:2:3:1");
  EXPECT_EQ(sized.rig().output("dimensions"), "8:6:2:3:1");
}

TEST_F(Clips, RefuseTensorsOfOtherDimensions) {
  for (const char *dimensions : {"12:10:3:5:1", "12:10:5:3:2", "12:10:4:3:1", "12:10:5:1:1"}) {
    Rig rig("cudanormalize width=12 height=10 layout=ncthw frames-per-tensor=5");
    rig.downstream(std::string("other/tensors,dimensions=(string)") + dimensions);
    const std::string text =
        expect_refusal(rig, video_caps(kFrame), buffer_of(random_picture(kFrame)));
    EXPECT_TRUE(mentions(text, dimensions)) << text;
  }
}

TEST_F(Clips, AreNotMadeOfRegions) {
  for (const char *setting : {"layout=ncthw", "frame-step=2", "clip-hop=3"}) {
    Rig rig(std::string("cudanormalize width=12 height=10 frames-per-tensor=2 regions=tiles ") +
            setting);
    rig.downstream("other/tensors");
    ASSERT_TRUE(rig.caps(video_caps(kFrame)));
    expect_error(rig, buffer_of(random_picture(kFrame)), setting);
  }
  // One region does not change the caps.
  Player player({2, 2, 0, Layout::nchw}, "region-list=<0,0,8,8>");
  player.push(2);
  player.rig().set("regions", "list");
  expect_error(player.rig(), frame_at(random_picture(kFrame), kDuration, kDuration),
               "frame-step=2");
}

TEST_F(Clips, AreNotMadeByTheMux) {
  MuxRig rig("width=8 height=8 layout=ncthw", 1);
  rig.camera(0).caps(video_caps(kFrame, "framerate=25/1"));
  rig.camera(0).push(frame_at(random_picture(kFrame), 0, kDuration));
  EXPECT_TRUE(mentions(rig.wait_for_error(), "layout=ncthw"));
}

/// A frame in no clip is not looked at.
TEST_F(Clips, LeaveFramesOut) {
  Player player({2, 1, 4, Layout::nchw});
  for (int i = 0; i < 3; ++i) {
    player.push(2);
    player.push(Fate::faulty);
    player.push(Fate::faulty);
  }
  player.rig().event(gst_event_new_eos());
  player.expect_end();
  EXPECT_TRUE(player.rig().messages().warnings().empty());
}

TEST_F(Clips, TellOfAMissingFrame) {
  Player player({4, 1, 1, Layout::ncthw});
  player.push(3);
  player.push(Fate::faulty);
  player.push(6);
  player.rig().event(gst_event_new_eos());
  player.expect_end();
  const auto warnings = player.rig().messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], "missing in its clip"));
}

/// Another number of threads replaces the session that made the first frames.
TEST_F(Clips, GoOnWithAnotherNumberOfThreads) {
  Player player({4, 1, 2, Layout::ncthw}, "n-threads=1");
  for (const char *threads : {"2", "3", "1"}) {
    player.push(3);
    player.rig().set("n-threads", threads);
  }
  player.rig().event(gst_event_new_eos());
  player.expect_end();
}

TEST_F(Clips, AddTheirLengthToTheLatency) {
  Player player({5, 3, 2, Layout::nchw});
  player.push();
  gst_harness_set_upstream_latency(player.rig().harness(), 0);
  EXPECT_EQ(gst_harness_query_latency(player.rig().harness()), 12 * kDuration);
  // The caps stay the same.
  const auto latencies = [&] {
    return player.rig().messages().of_type(GST_MESSAGE_LATENCY).size();
  };
  latencies();
  player.rig().set("frame-step", "4");
  player.push();
  EXPECT_EQ(latencies(), 1u);
  EXPECT_EQ(gst_harness_query_latency(player.rig().harness()), 16 * kDuration);
}

/// Metas that are copied come from a clip's first frame, also where the clip begins with copies.
TEST_F(Clips, HaveTheMetasOfTheirFirstFrame) {
  Player player({3, 1, 1, Layout::nchw});
  const Ref<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-test"));
  for (GstClockTime i = 0; i < 6; ++i) {
    BufferRef frame = frame_at(random_picture(kFrame), i * kDuration, kDuration);
    gst_buffer_add_reference_timestamp_meta(frame.get(), reference.get(), 1000 + i, 1);
    EXPECT_EQ(player.rig().push(std::move(frame)), GST_FLOW_OK);
  }
  for (GstClockTime i = 0; i < 4; ++i) {
    const BufferRef tensor = player.rig().pull();
    ASSERT_NE(tensor, nullptr);
    const auto *meta = gst_buffer_get_reference_timestamp_meta(tensor.get(), reference.get());
    ASSERT_NE(meta, nullptr);
    EXPECT_EQ(meta->timestamp, 1000 + i);
  }
}

/// Downstream's pool is not used if the tensors that the element keeps could exhaust it.
TEST_F(Clips, DoNotExhaustAPool) {
  for (const bool is_exhausted : {false, true}) {
    const Shape shape = {4, is_exhausted ? 3 : 2, is_exhausted ? 1 : 2, Layout::nchw};
    Rig rig("cudanormalize " + properties_of(small_params()) + " " + shape.properties());
    rig.downstream("other/tensors");
    PoolOffer offer(rig, PoolOffer::Kind::two, 4 * 12 * 10 * 3 * 4);
    ASSERT_TRUE(rig.caps(video_caps(kFrame, "framerate=25/1")));
    for (GstClockTime i = 0; i < 20; ++i) {
      EXPECT_EQ(rig.push(frame_at(random_picture(kFrame), i * kDuration, kDuration)), GST_FLOW_OK);
      while (const BufferRef tensor = rig.pull())
        EXPECT_EQ(tensor->pool == offer.pool(), !is_exhausted);
    }
  }
}

/// Tensors that are open are at most those that the clips need, however many frames are in a clip.
TEST_F(Clips, HoldFewTensors) {
  for (const auto &[step, hop, most] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {1, 8, 1}, {4, 1, 4}, {4, 2, 2}, {3, 6, 1}}) {
    Player player({8, step, hop, Layout::nchw});
    std::set<GstMemory *> memories;
    // Downstream releases a tensor at once, so that the pool gives its memory again.
    for (int i = 0; i < 100; ++i) {
      player.push();
      while (const BufferRef tensor = player.rig().pull())
        memories.insert(gst_buffer_peek_memory(tensor.get(), 0));
    }
    EXPECT_LE(memories.size(), static_cast<size_t>(most) + 1) << step << " " << hop;
  }
}

}  // namespace
}  // namespace cudatensor
