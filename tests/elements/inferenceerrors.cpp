// SPDX-License-Identifier: LGPL-2.1-or-later
// cudainference: what goes wrong, each with one error that names the cause.
#include <thread>

#include "../kernels/random.h"
#include "inferencerig.h"

namespace cudatensor {
namespace {

class InferenceErrorsTest : public InferenceTest {
 protected:
  /// Expects that the element cannot start, with one error that mentions all the texts.
  static void expect_start_error(const std::string &description, GQuark domain, int code,
                                 const std::vector<std::string> &texts) {
    const std::vector<ElementError> errors = errors_of_start(description);
    ASSERT_EQ(errors.size(), 1u) << description;
    EXPECT_TRUE(errors[0].is(domain, code)) << errors[0].text << " " << errors[0].code;
    for (const std::string &text : texts) EXPECT_TRUE(mentions(errors[0].text, text));
  }

  void expect_model_error(const std::string &model, GstStreamError code,
                          const std::vector<std::string> &texts) {
    expect_start_error(element(model), GST_STREAM_ERROR, code, texts);
  }
};

TEST_F(InferenceErrorsTest, FilesThatCannotBeRead) {
  const auto expect = [](const std::string &model, GstResourceError code, const char *text) {
    expect_start_error("cudainference" + model, GST_RESOURCE_ERROR, code, {text});
  };
  expect("", GST_RESOURCE_ERROR_NOT_FOUND, "the property model is not set");
  expect(" model=/nonexistent/a.onnx", GST_RESOURCE_ERROR_NOT_FOUND, "/nonexistent/a.onnx");
  expect(" model=" + folder_.path(""), GST_RESOURCE_ERROR_OPEN_READ, "is a folder");
}

TEST_F(InferenceErrorsTest, FilesThatAreNoNetworks) {
  const std::string whole = identity({"1", "3", "2", "2"});
  expect_model_error("no network at all", GST_STREAM_ERROR_WRONG_TYPE, {".onnx", "protobuf"});
  expect_model_error(whole.substr(0, whole.size() - 7), GST_STREAM_ERROR_WRONG_TYPE, {".onnx"});
  expect_model_error(OnnxGraph()
                         .input("x", onnx_float, {"1"})
                         .output("y", onnx_float, {"1"})
                         .node("Nonsense", {"x"}, {"y"})
                         .model(),
                     GST_STREAM_ERROR_DECODE, {".onnx", "Nonsense"});
  expect_model_error(OnnxGraph()
                         .input("x", onnx_float, {"1"})
                         .output("y", onnx_float, {"1"})
                         .node("Identity", {"x"}, {"y"})
                         .model(9999),
                     GST_STREAM_ERROR_DECODE, {".onnx", "opset"});
}

TEST_F(InferenceErrorsTest, NetworksWithoutCaps) {
  expect_model_error(OnnxGraph()
                         .input("left", onnx_float, {"1"})
                         .input("right", onnx_float, {"1"})
                         .node("Add", {"left", "right"}, {"y"})
                         .output("y", onnx_float, {"1"})
                         .model(),
                     GST_STREAM_ERROR_WRONG_TYPE, {".onnx", "second input, right"});
  expect_model_error(identity({"1"}, onnx_string), GST_STREAM_ERROR_WRONG_TYPE,
                     {".onnx", "input x", "strings"});
  expect_model_error(identity({"1"}, onnx_bfloat16), GST_STREAM_ERROR_WRONG_TYPE,
                     {".onnx", "input x", "bfloat16"});
  expect_model_error(OnnxGraph()
                         .input("x", onnx_float, {"2"})
                         .node("SplitToSequence", {"x"}, {"parts"})
                         .sequence_output("parts", onnx_float)
                         .model(),
                     GST_STREAM_ERROR_WRONG_TYPE, {".onnx", "output parts", "sequence"});
}

TEST_F(InferenceErrorsTest, LibrariesThatCannotBeUsed) {
  const std::string model = element(identity({"1", "3", "2", "2"}));
  expect_start_error(model + "library=/nonexistent/libonnxruntime.so", GST_RESOURCE_ERROR,
                     GST_RESOURCE_ERROR_NOT_FOUND, {"library=/nonexistent/libonnxruntime.so"});
  expect_start_error(model + "library=libc.so.6", GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                     {"libc.so.6", "OrtGetApiBase"});
}

TEST_F(InferenceErrorsTest, ProvidersThatTheLibraryDoesNotHave) {
  const std::string model = element(identity({"1", "3", "2", "2"}));
  for (const char *provider : {"cuda", "tensorrt", "openvino"}) {
    const std::vector<ElementError> errors = errors_of_start(model + "provider=" + provider);
    if (errors.empty()) continue;  // this library has it, and there is a GPU
    EXPECT_TRUE(errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) << errors[0].text;
    EXPECT_EQ(errors.size(), 1u);
  }
}

TEST_F(InferenceErrorsTest, OutputsThatTheNetworkDoesNotHave) {
  expect_start_error(element(two_outputs({"1", "3", "2", "2"}), "outputs=<means,boxes>"),
                     GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                     {"outputs", "boxes", "scaled, means"});
}

TEST_F(InferenceErrorsTest, OutputsThatAreNamedTwice) {
  expect_start_error(element(two_outputs({"1", "3", "2", "2"}), "outputs=<means,scaled,means>"),
                     GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                     {"outputs", "means is named twice"});
}

TEST_F(InferenceErrorsTest, MoreOutputsThanABufferHoldsAreRefused) {
  OnnxGraph graph;
  graph.input("x", onnx_float, {"1"});
  for (int i = 0; i < 17; ++i)
    graph.node("Identity", {"x"}, {"y" + std::to_string(i)})
        .output("y" + std::to_string(i), onnx_float, {"1"});
  expect_start_error(element(graph.model()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                     {"17 outputs", "outputs"});
}

TEST_F(InferenceErrorsTest, CapsThatDoNotFitAreNotNegotiated) {
  Rig rig(element(two_outputs({"2", "3", "24", "32"})));
  const struct {
    std::string caps;
    const char *shape;
  } cases[] = {{tensor_caps_text("32:24:3:3"), "float32 32:24:3:3"},
               {tensor_caps_text("24:32:3:2"), "float32 24:32:3:2"},
               {tensor_caps_text("32:24:1:2"), "float32 32:24:1:2"},
               {tensor_caps_text("32:24:3:2:2"), "float32 32:24:3:2:2"},
               {tensor_caps_text("32:24:3:2", "uint8"), "uint8 32:24:3:2"}};
  for (const auto &c : cases) {
    WarningLog log;
    EXPECT_FALSE(rig.caps(c.caps));
    for (const char *text : {".onnx", "images", "float32 32:24:3:2", c.shape})
      EXPECT_TRUE(mentions(log.text(), text));
    EXPECT_EQ(rig.push(buffer_of_numbers(std::vector<float>(4, 0))), GST_FLOW_NOT_NEGOTIATED);
  }
  EXPECT_TRUE(rig.messages().errors().empty());
  // A tensor of two slots without the outermost dimension is one of one slot.
  ASSERT_TRUE(rig.caps(tensor_caps_text("32:24:3")));
  rig.process(buffer_of_numbers(std::vector<float>(32 * 24 * 3, 1)));
}

TEST_F(InferenceErrorsTest, BuffersOfAnotherSizeAreDropped) {
  Rig rig(element(identity({"1", "3", "2", "2"})));
  ASSERT_TRUE(rig.caps(tensor_caps_text("2:2:3:1")));
  expect_fault(rig, buffer_of_numbers(std::vector<float>(11, 0)), "44 bytes");
  rig.process(buffer_of_numbers(std::vector<float>(12, 1)));
  expect_silent_fault(rig, buffer_of_numbers(std::vector<float>(13, 0)));
}

/// The network looks an element up whose number is in the data.
TEST_F(InferenceErrorsTest, RunThatFails) {
  const std::string model = OnnxGraph()
                                .integers("table", {1, 2, 3})
                                .input("x", onnx_float, {"1"})
                                .node("Cast", {"x"}, {"index"}, attribute("to", onnx_int64))
                                .node("Gather", {"table", "index"}, {"y"})
                                .output("y", onnx_int64, {"1"})
                                .model();
  Rig rig(element(model));
  ASSERT_TRUE(rig.caps(tensor_caps_text("1")));
  rig.process(buffer_of_numbers(std::vector<float>{2}));
  EXPECT_EQ(rig.push(buffer_of_numbers(std::vector<float>{99})), GST_FLOW_ERROR);
  const std::vector<ElementError> errors = rig.messages().errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
  EXPECT_TRUE(mentions(errors[0].text, ".onnx"));
  EXPECT_TRUE(mentions(errors[0].text, "indices"));
}

/// Returns a network that takes many seconds.
std::string slow_network() {
  constexpr int kSteps = 3000;
  OnnxGraph graph;
  graph.input("x", onnx_float, {"1", "1", "768", "768"});
  std::string last = "x";
  for (int i = 0; i < kSteps; ++i) {
    const std::string next = "y" + std::to_string(i);
    graph.node("MatMul", {last, "x"}, {next});
    last = next;
  }
  return graph.output(last, onnx_float, {"1", "1", "768", "768"}).model();
}

TEST_F(InferenceErrorsTest, LeavingPausedEndsARun) {
  Rig rig(element(slow_network(), "warm-up=false n-threads=1"));
  ASSERT_TRUE(rig.caps(tensor_caps_text("768:768:1:1")));
  std::atomic<GstFlowReturn> flow{GST_FLOW_OK};
  std::thread run([&] { flow = rig.push(buffer_of_numbers(std::vector<float>(768 * 768, 0.5f))); });
  g_usleep(300000);
  const gint64 begin = g_get_monotonic_time();
  gst_element_set_state(rig.element(), GST_STATE_READY);
  run.join();
  EXPECT_LT(g_get_monotonic_time() - begin, 3 * G_USEC_PER_SEC);
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_TRUE(rig.messages().errors().empty());
}

TEST_F(InferenceErrorsTest, AnyBytesAreNoCrash) {
  const std::string whole = two_outputs({"1", "3", "2", "2"});
  for_cases(150, [&](Random &random) {
    std::string damaged = whole;
    for (int i = random.integer(1, 4); i > 0; --i)
      damaged[static_cast<size_t>(random.between(0, static_cast<int64_t>(whole.size()) - 1))] =
          static_cast<char>(random.bits());
    if (random.chance(20)) damaged.resize(static_cast<size_t>(random.integer(0, 200)));
    const std::string description = element(damaged);
    if (!errors_of_start(description).empty()) return;
    Rig rig(description);
    WarningLog log;
    if (!rig.caps(tensor_caps_text("2:2:3:1"))) return;
    rig.push(buffer_of_numbers(std::vector<float>(12, 1)));
  });
}

}  // namespace
}  // namespace cudatensor
