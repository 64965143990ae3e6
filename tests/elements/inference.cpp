// SPDX-License-Identifier: LGPL-2.1-or-later
// cudainference: its caps, its outputs, and what goes with them.
#include <numeric>
#include <regex>
#include <set>

#include "../kernels/random.h"
#include "gst/caps/flexibletensor.h"
#include "gst/caps/tensorcaps.h"
#include "inferencerig.h"

namespace cudatensor {
namespace {

/// Returns what the sink pad lists for system memory, joined by spaces.
std::string listed(Rig &rig, const char *field = "dimensions") {
  PadRef pad(gst_element_get_static_pad(rig.element(), "sink"));
  const CapsRef caps(gst_pad_query_caps(pad.get(), nullptr));
  std::string all;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    const GstCapsFeatures *features = gst_caps_get_features(caps.get(), i);
    if (!gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) continue;
    const GValue *value = gst_structure_get_value(gst_caps_get_structure(caps.get(), i), field);
    if (value == nullptr) continue;
    const bool is_list = GST_VALUE_HOLDS_LIST(value);
    for (guint k = 0; k < (is_list ? gst_value_list_get_size(value) : 1); ++k)
      all += (all.empty() ? "" : " ") +
             std::string(g_value_get_string(is_list ? gst_value_list_get_value(value, k) : value));
  }
  return all;
}

TEST_F(InferenceTest, CapsAreTheNetworks) {
  Rig fixed(element(identity({"1", "3", "24", "32"})));
  EXPECT_EQ(listed(fixed), "32:24:3:1");
  EXPECT_EQ(listed(fixed, "layout"), "nchw");
  EXPECT_EQ(listed(fixed, "types"), "float32");
  Rig interleaved(element(identity({"1", "24", "32", "3"}, onnx_uint8)));
  EXPECT_EQ(listed(interleaved), "3:32:24:1");
  EXPECT_EQ(listed(interleaved, "layout"), "nhwc");
  EXPECT_EQ(listed(interleaved, "types"), "uint8");
  Rig both(element(identity({"1", "4", "2", "3"})));
  EXPECT_EQ(listed(both, "layout"), "nchw");
  Rig neither(element(identity({"1", "5", "2", "2"})));
  EXPECT_EQ(listed(neither, "layout"), "");
  Rig batch(element(identity({"4", "3", "8", "8"})));
  EXPECT_EQ(listed(batch), "8:8:3:4 8:8:3:3 8:8:3:2 8:8:3:1");
  Rig open_batch(element(identity({"batch", "3", "8", "8"})));
  EXPECT_TRUE(mentions(listed(open_batch), "8:8:3:1 8:8:3:2 "));
  EXPECT_TRUE(mentions(listed(open_batch), "8:8:3:63 8:8:3:64"));
  Rig open_size(element(identity({"1", "3", "h", "w"})));
  EXPECT_EQ(listed(open_size), "");
  EXPECT_EQ(listed(open_size, "layout"), "nchw");
  Rig picture(element(identity({"3", "8", "8"})));
  EXPECT_EQ(listed(picture), "8:8:3");
  EXPECT_EQ(listed(picture, "layout"), "nchw");
  Rig vector(element(identity({"n", "7"})));
  EXPECT_TRUE(mentions(listed(vector), "7:1 7:2"));
  EXPECT_EQ(listed(vector, "layout"), "");
}

TEST_F(InferenceTest, CapsBeforeTheStartAreTheTemplates) {
  Rig rig(element(identity({"1", "3", "2", "2"})));
  gst_element_set_state(rig.element(), GST_STATE_READY);
  EXPECT_TRUE(mentions(listed(rig, "types"), "float16"));
  EXPECT_EQ(rig.get("active-provider"), "auto");
  gst_element_set_state(rig.element(), GST_STATE_PAUSED);
  EXPECT_EQ(rig.get("active-provider"), "cpu");
}

TEST_F(InferenceTest, OutputsAreTheNetworks) {
  for_cases(40, [&](Random &random) {
    const bool open_batch = random.chance(50), open_size = random.chance(30);
    const int n = random.integer(1, 5), c = random.pick<int>({1, 3, 4});
    const int h = random.integer(1, 9), w = random.integer(1, 9);
    Rig rig(element(two_outputs({open_batch ? "batch" : std::to_string(n), std::to_string(c),
                                 open_size ? "height" : std::to_string(h),
                                 open_size ? "width" : std::to_string(w)}),
                    random.chance(50) ? "warm-up=false" : ""));
    const std::string shape = std::to_string(w) + ":" + std::to_string(h) + ":" +
                              std::to_string(c) + ":" + std::to_string(n);
    ASSERT_TRUE(rig.caps(tensor_caps_text(shape)));
    for (int frame = 0; frame < 3; ++frame) {
      const auto plane = static_cast<size_t>(h) * w;
      const std::vector<float> numbers = random_numbers(random, plane * n * c);
      const BufferRef out = rig.process(buffer_of_numbers(numbers));
      EXPECT_EQ(rig.output("dimensions"),
                shape + ",1:1:" + std::to_string(c) + ":" + std::to_string(n));
      EXPECT_EQ(rig.output("types"), "float32,float32");
      EXPECT_EQ(rig.output("names"), "scaled,means");
      ASSERT_EQ(gst_buffer_n_memory(out.get()), 2u);
      std::vector<float> scaled(numbers);
      for (float &x : scaled) x = x * 2 + 1;
      EXPECT_EQ(numbers_in<float>(out.get(), 0), scaled);
      const std::vector<float> means = numbers_in<float>(out.get(), 1);
      ASSERT_EQ(means.size(), static_cast<size_t>(n) * c);
      for (size_t i = 0; i < means.size(); ++i) {
        const auto first = numbers.begin() + static_cast<ptrdiff_t>(i * plane);
        const float sum = std::accumulate(first, first + static_cast<ptrdiff_t>(plane), 0.0f);
        EXPECT_NEAR(means[i], sum / static_cast<float>(plane), 1e-5);
      }
    }
  });
}

TEST_F(InferenceTest, ChosenOutputsAreSentInTheirOrder) {
  Rig rig(element(two_outputs({"1", "3", "2", "2"}), "outputs=<means,scaled>"));
  ASSERT_TRUE(rig.caps(tensor_caps_text("2:2:3:1")));
  const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(12, 3)));
  EXPECT_EQ(rig.output("names"), "means,scaled");
  EXPECT_EQ(numbers_in<float>(out.get(), 0), (std::vector<float>(3, 3)));
  EXPECT_EQ(numbers_in<float>(out.get(), 1), (std::vector<float>(12, 7)));
  Rig one(element(two_outputs({"1", "3", "2", "2"}), "outputs=<means>"));
  ASSERT_TRUE(one.caps(tensor_caps_text("2:2:3:1")));
  EXPECT_EQ(gst_buffer_n_memory(one.process(buffer_of_numbers(std::vector<float>(12, 3))).get()),
            1u);
  EXPECT_EQ(one.output("dimensions"), "1:1:3:1");
}

/// The network adds the mean over its batch, to which missing slots contribute zeros.
TEST_F(InferenceTest, MissingSlotsOfAFixedBatchAreZeros) {
  const std::string model =
      OnnxGraph()
          .input("x", onnx_float, {"4", "1", "1", "2"})
          .node("ReduceMean", {"x"}, {"mean"}, attribute("axes", std::vector<int64_t>{0}))
          .node("Add", {"x", "mean"}, {"y"})
          .output("y", onnx_float, {"4", "1", "1", "2"})
          .model();
  Rig rig(element(model));
  for (const int n : {3, 1, 4, 2}) {
    ASSERT_TRUE(rig.caps(tensor_caps_text("2:1:1:" + std::to_string(n))));
    for (int frame = 0; frame < 2; ++frame) {
      std::vector<float> numbers(static_cast<size_t>(n) * 2, 8.0f * static_cast<float>(frame + 1));
      const BufferRef out = rig.process(buffer_of_numbers(numbers));
      EXPECT_EQ(rig.output("dimensions"), "2:1:1:" + std::to_string(n));
      for (float &x : numbers) x += x * static_cast<float>(n) / 4;
      EXPECT_EQ(numbers_in<float>(out.get()), numbers);
      EXPECT_EQ(gst_buffer_get_size(out.get()), numbers.size() * 4);
    }
  }
}

TEST_F(InferenceTest, BatchOfOutputsThatCannotBeCutIsWhole) {
  const std::string model =
      OnnxGraph()
          .input("x", onnx_float, {"4", "1", "1", "2"})
          .node("ReduceMean", {"x"}, {"y"}, attribute("axes", std::vector<int64_t>{0}))
          .output("y", onnx_float, {"1", "1", "1", "2"})
          .model();
  Rig rig(element(model));
  EXPECT_EQ(listed(rig), "2:1:1:4");
  WarningLog log;
  EXPECT_FALSE(rig.caps(tensor_caps_text("2:1:1:3")));
}

TEST_F(InferenceTest, TypesAreCarried) {
  Rig bytes(element(identity({"1", "3", "1", "2"}, onnx_uint8)));
  ASSERT_TRUE(bytes.caps(tensor_caps_text("2:1:3:1", "uint8")));
  const std::vector<uint8_t> numbers = {0, 1, 2, 128, 254, 255};
  EXPECT_EQ(numbers_in<uint8_t>(bytes.process(buffer_of_numbers(numbers)).get()), numbers);
  Rig halves(element(identity({"1", "3", "1", "2"}, onnx_float16)));
  ASSERT_TRUE(halves.caps(tensor_caps_text("2:1:3:1", "float16")));
  const std::vector<uint16_t> bits = {0, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0x0001};
  EXPECT_EQ(numbers_in<uint16_t>(halves.process(buffer_of_numbers(bits)).get()), bits);
  EXPECT_EQ(halves.output("types"), "float16");
  const std::string model = OnnxGraph()
                                .constant("zero", {0})
                                .input("x", onnx_float, {"1", "3"})
                                .node("Greater", {"x", "zero"}, {"positive"})
                                .node("Cast", {"x"}, {"whole"}, attribute("to", onnx_int64))
                                .output("positive", onnx_bool, {"1", "3"})
                                .output("whole", onnx_int64, {"1", "3"})
                                .model();
  Rig mixed(element(model));
  ASSERT_TRUE(mixed.caps(tensor_caps_text("3:1")));
  const BufferRef out = mixed.process(buffer_of_numbers(std::vector<float>{-1, 0, 5}));
  EXPECT_EQ(mixed.output("types"), "uint8,int64");
  EXPECT_EQ(numbers_in<uint8_t>(out.get(), 0), (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(numbers_in<int64_t>(out.get(), 1), (std::vector<int64_t>{-1, 0, 5}));
}

TEST_F(InferenceTest, ScalarIsOneElement) {
  const std::string model = OnnxGraph()
                                .input("x", onnx_float, {"n", "3"})
                                .node("ReduceSum", {"x"}, {"sum"}, attribute("keepdims", 0))
                                .output("sum", onnx_float, {})
                                .model();
  Rig rig(element(model));
  ASSERT_TRUE(rig.caps(tensor_caps_text("3:2")));
  const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(rig.output("format"), "static");
  EXPECT_EQ(rig.output("dimensions"), "1");
  EXPECT_EQ(numbers_in<float>(out.get()), std::vector<float>{21});
}

class FlexibleInferenceTest : public InferenceTest {
 protected:
  /// The positions of all elements that are not 0, and the input. `axes`: what the model tells of the
  /// positions.
  static std::string positions(const OnnxGraph::Axes &axes) {
    OnnxGraph graph;
    graph.input("x", onnx_float, {"1", "4"}).node("NonZero", {"x"}, {"positions"});
    if (axes.empty())
      graph.open_output("positions", onnx_int64);
    else
      graph.output("positions", onnx_int64, axes);
    return graph.node("Identity", {"x"}, {"y"}).output("y", onnx_float, {"1", "4"}).model();
  }
};

TEST_F(FlexibleInferenceTest, OutputsWhoseShapesDependOnTheDataHaveHeaders) {
  for (const OnnxGraph::Axes &axes : std::vector<OnnxGraph::Axes>{{"2", "found"}, {"2", ""}, {}}) {
    Rig rig(element(positions(axes)));
    ASSERT_TRUE(rig.caps(tensor_caps_text("4:1")));
    const std::vector<float> numbers = {0, 7, 0, 9};
    const BufferRef out = rig.process(buffer_of_numbers(numbers));
    EXPECT_EQ(rig.output("format"), "flexible");
    EXPECT_EQ(rig.output("names"), "positions,y");
    EXPECT_EQ(rig.output("num_tensors"), "2");
    EXPECT_EQ(rig.output("dimensions"), "");
    EXPECT_EQ(rig.output("framerate"), "30/1");
    ASSERT_EQ(gst_buffer_n_memory(out.get()), 2u);
    const std::vector<uint8_t> memory = numbers_in<uint8_t>(out.get(), 0);
    EXPECT_EQ(read_flexible_header(memory.data(), memory.size()),
              (TensorShape{ElementType::int64, {2, 2}}));
    EXPECT_EQ(numbers_in<int64_t>(out.get(), 0, kFlexibleHeader),
              (std::vector<int64_t>{0, 0, 1, 3}));
    EXPECT_EQ(numbers_in<float>(out.get(), 1, kFlexibleHeader), numbers);
  }
}

/// Of an output that Squeeze makes, not even the number of axes is known. It is a scalar if one
/// element is found.
TEST_F(FlexibleInferenceTest, OutputsWithoutAxesMayHaveSome) {
  const std::string model = OnnxGraph()
                                .input("x", onnx_float, {"4"})
                                .node("NonZero", {"x"}, {"positions"})
                                .node("Squeeze", {"positions"}, {"y"})
                                .open_output("y", onnx_int64)
                                .model();
  Rig rig(element(model));
  ASSERT_TRUE(rig.caps(tensor_caps_text("4")));
  for (const auto &numbers : {std::vector<float>{0, 7, 0, 9}, {0, 0, 0, 1}}) {
    const BufferRef out = rig.process(buffer_of_numbers(numbers));
    EXPECT_EQ(rig.output("format"), "flexible");
    const bool one = numbers[1] == 0;
    EXPECT_EQ(numbers_in<int64_t>(out.get(), 0, kFlexibleHeader),
              one ? std::vector<int64_t>{3} : (std::vector<int64_t>{1, 3}));
  }
}

TEST_F(FlexibleInferenceTest, AxesWithoutNamesTellNothing) {
  for (const std::string name : {"", "?"}) {
    Rig rig(element(identity({"1", "3", name, name})));
    ASSERT_TRUE(rig.caps(tensor_caps_text("1:2:3:1")));
    const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(6, 5)));
    EXPECT_EQ(rig.output("format"), "flexible");
    EXPECT_EQ(numbers_in<float>(out.get(), 0, kFlexibleHeader), std::vector<float>(6, 5));
    Rig batch(element(identity({name, "3"})));
    ASSERT_TRUE(batch.caps(tensor_caps_text("3:2")));
    batch.process(buffer_of_numbers(std::vector<float>(6, 5)));
    EXPECT_EQ(batch.output("dimensions"), "3:2");
  }
}

TEST_F(FlexibleInferenceTest, NothingFoundIsATensorWithoutElements) {
  Rig rig(element(positions({"2", "found"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("4:1")));
  const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(4, 0)));
  const std::vector<uint8_t> memory = numbers_in<uint8_t>(out.get(), 0);
  EXPECT_EQ(memory.size(), kFlexibleHeader);
  EXPECT_EQ(read_flexible_header(memory.data(), memory.size()).elements(), 0u);
}

TEST_F(InferenceTest, ShapesMayChangeInTheStream) {
  Rig rig(element(two_outputs({"batch", "3", "h", "w"})));
  for (const char *shape : {"2:2:3:1", "5:3:3:2", "2:2:3:1", "1:1:3:64"}) {
    ASSERT_TRUE(rig.caps(tensor_caps_text(shape)));
    const std::vector<int64_t> sides = split_dimensions(shape);
    const auto count = static_cast<size_t>(sides[0] * sides[1] * sides[2] * sides[3]);
    const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(count, 1.5f)));
    EXPECT_EQ(numbers_in<float>(out.get(), 0), std::vector<float>(count, 4.0f)) << shape;
  }
}

TEST_F(InferenceTest, MemoryOfOutputsIsUsedAgain) {
  Rig rig(element(two_outputs({"1", "3", "2", "2"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("2:2:3:1")));
  std::set<GstMemory *> memories;
  for (int i = 0; i < 8; ++i) {
    const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(12, 1)));
    memories.insert(gst_buffer_peek_memory(out.get(), 0));
  }
  EXPECT_EQ(memories.size(), 1u);
}

TEST_F(InferenceTest, BuffersKeepTimesFlagsAndMetas) {
  Rig rig(element(identity({"1", "3", "4", "8"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("8:4:3:1")));
  for (const GstClockTime time : {0 * GST_SECOND, 3 * GST_SECOND}) {
    BufferRef in = buffer_of_numbers(std::vector<float>(96, 1));
    GST_BUFFER_PTS(in.get()) = time;
    GST_BUFFER_DURATION(in.get()) = GST_SECOND;
    GST_BUFFER_OFFSET(in.get()) = 17;
    GST_BUFFER_FLAG_SET(in.get(), GST_BUFFER_FLAG_GAP);
    gst_buffer_add_video_region_of_interest_meta(in.get(), "person", 1, 2, 3, 2);
    gst_buffer_add_reference_timestamp_meta(
        in.get(), CapsRef(gst_caps_new_empty_simple("timestamp/x-unix")).get(), 42,
        GST_CLOCK_TIME_NONE);
    const BufferRef out = rig.process(std::move(in));
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), time);
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), GST_SECOND);
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 17u);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
    auto *region = gst_buffer_get_video_region_of_interest_meta(out.get());
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->x, 1u);
    EXPECT_EQ(region->h, 2u);
    EXPECT_EQ(gst_buffer_get_n_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1u);
    EXPECT_NE(gst_buffer_get_reference_timestamp_meta(out.get(), nullptr), nullptr);
  }
}

/// Returns a meta's fields as text, without the names of streams.
std::string without_ids(GstCustomMeta *meta) {
  const Ref<gchar> text(gst_structure_to_string(gst_custom_meta_get_structure(meta)));
  return std::regex_replace(text.get(), std::regex("stream-id[^,]*,"), "");
}

TEST_F(InferenceTest, GeometryAndBatchStay) {
  const std::string inference = element(identity({"1", "3", "48", "64"}));
  for (const std::string regions : {"", "regions=list region-list=<(double)0,0,32,24>"}) {
    const ImageDesc frame = {PixelFormat::RGB, 96, 48};
    Rig plain("cudanormalize width=64 height=48 resize-mode=ultralytics " + regions);
    Rig chain("cudanormalize width=64 height=48 resize-mode=ultralytics " + regions + " ! " +
              inference);
    const char *meta =
        *regions.c_str() == '\0' ? "GstCudaTensorGeometryMeta" : "GstCudaTensorBatchMeta";
    ASSERT_TRUE(plain.caps(video_caps(frame)));
    ASSERT_TRUE(chain.caps(video_caps(frame)));
    const BufferRef expected = plain.process(buffer_of(Picture(frame, 7)));
    const BufferRef found = chain.process(buffer_of(Picture(frame, 7)));
    GstCustomMeta *mine = gst_buffer_get_custom_meta(found.get(), meta);
    GstCustomMeta *theirs = gst_buffer_get_custom_meta(expected.get(), meta);
    ASSERT_NE(theirs, nullptr);
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(without_ids(mine), without_ids(theirs));
    EXPECT_EQ(numbers_in<float>(found.get()), numbers_in<float>(expected.get()));
  }
}

TEST_F(InferenceTest, KeptFramesStay) {
  const ImageDesc frame = {PixelFormat::RGB, 96, 48};
  Rig rig(
      "cudaletterbox keep-input=true ! video/x-raw,format=RGB,width=32,height=24 ! "
      "cudanormalize ! " +
      element(identity({"1", "3", "24", "32"})) + " ! cudarestore");
  ASSERT_TRUE(rig.caps(video_caps(frame)));
  const BufferRef in = buffer_of(Picture(frame, 7));
  const BufferRef out = rig.process(BufferRef(gst_buffer_ref(in.get())));
  EXPECT_EQ(rig.output("format"), "RGB");
  EXPECT_EQ(rig.output("width"), "96");
  EXPECT_EQ(bytes_of(out.get()), bytes_of(in.get()));
}

TEST_F(InferenceTest, LateBuffersAreDropped) {
  Rig rig(element(identity({"1", "3", "1", "1"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("1:1:3:1")));
  const auto push = [&](GstClockTime time) {
    BufferRef buffer = buffer_of_numbers(std::vector<float>(3, 1));
    GST_BUFFER_PTS(buffer.get()) = time;
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
    return rig.pull() != nullptr;
  };
  EXPECT_TRUE(push(0));
  gst_harness_push_upstream_event(
      rig.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, GST_SECOND, GST_SECOND));
  EXPECT_FALSE(push(GST_SECOND));
  EXPECT_TRUE(push(10 * GST_SECOND));
}

TEST_F(InferenceTest, EosAndFlushPass) {
  Rig rig(element(identity({"1", "3", "1", "1"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("1:1:3:1")));
  rig.process(buffer_of_numbers(std::vector<float>(3, 1)));
  EXPECT_TRUE(rig.event(gst_event_new_flush_start()));
  EXPECT_TRUE(rig.event(gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  rig.process(buffer_of_numbers(std::vector<float>(3, 2)));
  EXPECT_TRUE(rig.event(gst_event_new_eos()));
}

TEST_F(InferenceTest, AnotherModelComesThroughReady) {
  Rig rig(element(identity({"1", "3", "1", "1"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("1:1:3:1")));
  rig.process(buffer_of_numbers(std::vector<float>(3, 1)));
  gst_element_set_state(rig.element(), GST_STATE_READY);
  rig.set("model", folder_.write("other.onnx", two_outputs({"1", "3", "1", "1"})));
  gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  gst_harness_push_event(rig.harness(), gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig.caps(tensor_caps_text("1:1:3:1")));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
  const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(3, 1)));
  EXPECT_EQ(gst_buffer_n_memory(out.get()), 2u);
}

TEST_F(InferenceTest, PropertiesChangeUntilReady) {
  Rig rig(element(identity({"1", "3", "1", "1"})));
  for (const char *name :
       {"model", "provider", "library", "cuda-device-id", "n-threads", "outputs", "cache-dir"}) {
    const GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(rig.element()), name);
    ASSERT_NE(spec, nullptr) << name;
    EXPECT_TRUE(spec->flags & GST_PARAM_MUTABLE_READY) << name;
    EXPECT_FALSE(spec->flags & (GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)) << name;
  }
}

TEST_F(InferenceTest, TwoNetworksFollowEachOther) {
  const std::string first = element(two_outputs({"1", "3", "2", "2"}), "outputs=<scaled>");
  Rig rig(first + " ! " + element(two_outputs({"n", "3", "2", "2"}), "outputs=<scaled>"));
  ASSERT_TRUE(rig.caps(tensor_caps_text("2:2:3:1")));
  const BufferRef out = rig.process(buffer_of_numbers(std::vector<float>(12, 1)));
  EXPECT_EQ(numbers_in<float>(out.get()), std::vector<float>(12, 7));
}

}  // namespace
}  // namespace cudatensor
