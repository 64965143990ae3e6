// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA streams: the order of work, and the waits between streams. A gate in a stream delays the
// work behind it.
#include "gpu.h"
#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 64, 48};
const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 12, 16, 20};

/// An element with an output, and an input that it takes.
struct Subject {
  const char *element;
  const char *output;  ///< caps
  bool tensor = false;

  std::string caps() const { return tensor ? tensor_caps(kTensor) : video_caps(kNv12); }
  Bytes bytes(uint64_t seed) const {
    return tensor ? random_tensor(kTensor, seed)
                  : bytes_of(buffer_of(random_picture(kNv12, seed)).get());
  }
};

void PrintTo(const Subject &subject, std::ostream *os) { *os << subject.element; }

// libgstcuda does not pad rows of these pictures, so all bytes can be compared.
const Subject kSubjects[] = {
    {"cudanormalize width=40 height=24", "other/tensors"},
    {"cudanormalize regions=tiles width=40 height=24", "other/tensors"},
    {"cudaletterbox", "video/x-raw,format=RGBA,width=128,height=64,framerate=30/1"},
    {"cudanv12toyuv444", "video/x-raw,width=512,height=20"},
    {"cudapixelshuffle", "other/tensors", true}};

class Order : public GpuTest, public testing::WithParamInterface<Subject> {
 protected:
  /// Starts an element that has run on `stream`, and keeps `buffers` buffers for later.
  void start(gstcuda::Stream *stream, size_t buffers = 1) {
    rig_ = std::make_unique<Rig>(GetParam().element);
    rig_->downstream(in_cuda(GetParam().output));
    ASSERT_TRUE(rig_->caps(in_cuda(GetParam().caps())));
    std::vector<BufferRef> held;
    for (size_t i = 0; i < buffers; ++i)
      held.push_back(rig_->process(input(Bytes(GetParam().bytes(1).size(), 7), stream)));
    for (const BufferRef &out : held) bytes_of(out.get());
  }

  static BufferRef input(const Bytes &bytes, gstcuda::Stream *stream) {
    return to_cuda(buffer_of(bytes), {shared_context(), stream});
  }
  /// Returns the output for these bytes.
  static Bytes expected(const Bytes &bytes) {
    return output_bytes(std::string(GetParam().element) + " backend=cpu", GetParam().caps(),
                        buffer_of(bytes), GetParam().output);
  }
  Bytes right() const { return GetParam().bytes(1); }
  Bytes wrong() const { return GetParam().bytes(2); }

  std::unique_ptr<Rig> rig_;
};

/// Streams are libgstcuda objects.
class StreamOrder : public Order {
 protected:
  void SetUp() override {
    Order::SetUp();
    if (!IsSkipped() && !has_streams()) GTEST_SKIP() << "needs the streams of GStreamer 1.24";
  }

  /// Writes the input when the gate opens, and overwrites it after it was pushed.
  void expect_order(gstcuda::Stream *stream);
};

std::string name_of_subject(const testing::TestParamInfo<Subject> &info) {
  const std::string text = info.param.element;
  const bool regions = text.find("regions=") != std::string::npos;
  return text.substr(0, text.find(' ')) + (regions ? "Regions" : "");
}
INSTANTIATE_TEST_SUITE_P(CudaOrder, Order, testing::ValuesIn(kSubjects), name_of_subject);
INSTANTIATE_TEST_SUITE_P(CudaOrder, StreamOrder, testing::ValuesIn(kSubjects), name_of_subject);

// ----------------------------------------------------------------------------------- no streams

TEST_P(Order, OutputIsCompleteWhereNobodyKnowsItsStream) {
  start(nullptr);
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const BufferRef out = rig_->process(input(GetParam().bytes(seed), nullptr));
    // Reads in the memory's stream, and then without a stream, at once.
    EXPECT_TRUE(same_bytes(device_bytes_of(out.get()), expected(GetParam().bytes(seed)))) << seed;
  }
}

TEST_P(Order, InputMayChangeOnceItHasBeenPushed) {
  start(nullptr, 4);
  Rig &rig = *rig_;
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const Bytes bytes = GetParam().bytes(seed);
    BufferRef frame = buffer_of(bytes);
    GstMemory *memory = gst_memory_ref(gst_buffer_peek_memory(frame.get(), 0));
    ASSERT_EQ(rig.push(std::move(frame)), GST_FLOW_OK);
    GstMapInfo map;
    ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
    memset(map.data, 0, map.size);
    gst_memory_unmap(memory, &map);
    gst_memory_unref(memory);
    const BufferRef out = rig.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected(bytes))) << seed;
  }
}

TEST_P(Order, HostOutputIsComplete) {
  const Subject &subject = GetParam();
  Rig rig(subject.element);
  rig.downstream(subject.output);
  ASSERT_TRUE(rig.caps(in_cuda(subject.caps())));
  std::vector<BufferRef> held;
  for (uint64_t seed = 1; seed < 20; ++seed)
    held.push_back(rig.process(input(subject.bytes(seed), nullptr)));
  for (uint64_t seed = 1; seed < 20; ++seed)
    EXPECT_TRUE(same_bytes(bytes_of(held[seed - 1].get()), expected(subject.bytes(seed)))) << seed;
}

TEST_P(Order, BuffersOfTheOfferedPoolAreNotGivenOutWhileTheyAreRead) {
  Rig rig(GetParam().element);
  rig.downstream(in_cuda(GetParam().output));
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  const Ref<GstBufferPool> pool = offered_pool(rig);
  ASSERT_NE(pool, nullptr);
  for (uint64_t seed = 1; seed < 40; ++seed) {
    BufferRef buffer = acquire(pool);
    const Bytes bytes = GetParam().bytes(seed);
    ASSERT_EQ(gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size()), bytes.size());
    const BufferRef out = rig.process(std::move(buffer));
    // Overwrites the pool's next buffer, as the next frame would.
    const BufferRef next = acquire(pool);
    gst_buffer_memset(next.get(), 0, 0, gst_buffer_get_size(next.get()));
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected(bytes))) << seed;
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

// -------------------------------------------------------------------------------------- streams

TEST_P(StreamOrder, OutputIsOnTheInputsStream) {
  const StreamRef stream = new_stream();
  start(stream.get());
  for (int i = 0; i < 3; ++i) {
    const BufferRef out = rig_->process(input(right(), stream.get()));
    EXPECT_EQ(stream_of(out.get()), stream.get());
  }
}

TEST_P(StreamOrder, OutputHasAStreamWhereTheInputHasNone) {
  start(nullptr);
  const BufferRef out = rig_->process(input(right(), nullptr));
  EXPECT_NE(stream_of(out.get()), nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected(right())));
}

void StreamOrder::expect_order(gstcuda::Stream *stream) {
  const BufferRef frame = input(wrong(), stream);
  const Bytes expected_bytes = expected(right());
  BufferRef out;
  {
    const Entered entered;
    const PinnedBytes right_bytes(entered.device(), right()),
        wrong_bytes(entered.device(), wrong());
    Gate gate(handle_of(stream));
    right_bytes.write_to(frame.get(), handle_of(stream));
    ASSERT_EQ(rig_->push(BufferRef(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
    EXPECT_TRUE(gate.holds()) << "the push has waited";
    out = rig_->pull();
    ASSERT_NE(out, nullptr);
    // The memory's owner then overwrites it in the same stream.
    wrong_bytes.write_to(frame.get(), handle_of(stream));
    EXPECT_TRUE(gate.holds());
    gate.open();
    entered.device().synchronize(handle_of(stream));
  }
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected_bytes));
}

TEST_P(StreamOrder, IsKeptOnTheInputsStream) {
  const StreamRef stream = new_stream();
  start(stream.get());
  for (int i = 0; i < 3; ++i) expect_order(stream.get());
}

TEST_P(StreamOrder, IsKeptBetweenStreams) {
  const StreamRef stream = new_stream(), second = new_stream(), third = new_stream();
  start(stream.get());
  // The element does not follow this stream any more.
  rig_->process(input(right(), second.get()));
  for (const StreamRef *each : {&second, &third, &stream, &third}) expect_order(each->get());
}

TEST_P(StreamOrder, UploadsDoNotWait) {
  const Subject &subject = GetParam();
  Rig rig(subject.element);
  rig.downstream(in_cuda(subject.output));
  ASSERT_TRUE(rig.caps(subject.caps()));
  StreamRef stream;
  {
    const BufferRef out = rig.process(buffer_of(right()));
    stream.reset(reinterpret_cast<gstcuda::Stream *>(
        gst_mini_object_ref(reinterpret_cast<GstMiniObject *>(stream_of(out.get())))));
  }
  const Bytes right_bytes = expected(right()), wrong_bytes = expected(wrong());
  // The first round allocates all that several frames at once need.
  for (int round = 0; round < 2; ++round) {
    std::vector<BufferRef> outs;
    {
      const Entered entered;
      Gate gate(handle_of(stream.get()));
      for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(rig.push(buffer_of(i % 2 == 0 ? right() : wrong())), GST_FLOW_OK);
        outs.push_back(rig.pull());
        ASSERT_NE(outs.back(), nullptr);
      }
      EXPECT_TRUE(gate.holds() || round == 0) << "the push has waited";
    }
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(same_bytes(bytes_of(outs[i].get()), i % 2 == 0 ? right_bytes : wrong_bytes)) << i;
  }
}

// --------------------------------------------------------------------------------------- chains

class StreamChains : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !has_streams()) GTEST_SKIP() << "needs the streams of GStreamer 1.24";
  }
};

TEST_F(StreamChains, RunOnUpstreamsStreamWithoutWaiting) {
  const Picture picture = random_picture(kNv12);
  const std::string chain =
      "cudahistogram%s interval=0 ! cudaletterbox%s ! "
      "video/x-raw%s,format=RGBA,width=64,height=64 ! cudanormalize%s";
  const auto with = [&](const char *properties, const char *memory) {
    std::string text = chain;
    for (size_t at; (at = text.find("%s")) != std::string::npos;)
      text.replace(at, 2, text.compare(at - 5, 5, "x-raw") == 0 ? memory : properties);
    return text;
  };
  const Bytes bytes = bytes_of(buffer_of(picture).get());
  const Bytes expected =
      output_bytes(with(" backend=cpu", ""), video_caps(kNv12), buffer_of(picture), "ANY");
  const StreamRef stream = new_stream();
  const CudaLocation place = {shared_context(), stream.get()};
  Rig rig(with("", "(memory:CUDAMemory)"));
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(kNv12))));
  for (int i = 0; i < 2; ++i) bytes_of(rig.process(to_cuda(buffer_of(picture), place)).get());
  // The counters of these frames are free again.
  rig.messages().elements("cudahistogram", 2, 20000);
  const BufferRef frame = to_cuda(buffer_of(Bytes(bytes.size())), place);
  BufferRef out;
  {
    const Entered entered;
    const PinnedBytes pinned(entered.device(), bytes);
    Gate gate(handle_of(stream.get()));
    pinned.write_to(frame.get(), handle_of(stream.get()));
    ASSERT_EQ(rig.push(BufferRef(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
    EXPECT_TRUE(gate.holds()) << "the push has waited";
    out = rig.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(stream_of(out.get()), stream.get());
    gate.open();
    entered.device().synchronize(handle_of(stream.get()));
  }
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected));
}

TEST_F(StreamChains, TakeThePoolAndTheStreamOfTheNext) {
  Rig rig("cudaletterbox name=a ! cudanormalize name=b");
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  gstcuda::Stream *between = nullptr;
  const ElementRef a(gst_bin_get_by_name(GST_BIN(rig.element()), "a"));
  const PadRef pad(gst_element_get_static_pad(a.get(), "src"));
  const auto look = [](GstPad *, GstPadProbeInfo *info, gpointer stream) {
    *static_cast<gstcuda::Stream **>(stream) = stream_of(GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, look, &between, nullptr);
  BufferRef out;
  for (int i = 0; i < 3; ++i) out = rig.process(buffer_of(random_picture(kNv12)));
  ASSERT_NE(between, nullptr);
  EXPECT_EQ(stream_of(out.get()), between);
}

}  // namespace
}  // namespace cudatensor
