// SPDX-License-Identifier: LGPL-2.1-or-later
// The names of classes in models' files.
#include "gst/modelconfig/labels.h"

#include <gtest/gtest.h>

#include "kernels/error.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

/// Returns labels as "0=cat 1=dog".
std::string text_of(const Labels &labels) {
  std::string text;
  for (const auto &[id, label] : labels)
    text += (text.empty() ? "" : " ") + std::to_string(id) + "=" + label;
  return text;
}

std::string onnx_names(const std::string &names) {
  return text_of(parse_model_labels(onnx_model({{"names", names}}), "model.onnx").labels);
}

TEST(Labels, AreThoseThatPythonPrints) {
  EXPECT_EQ(onnx_names("{0: 'person', 1: 'bicycle'}"), "0=person 1=bicycle");
  EXPECT_EQ(onnx_names("{0: \"rider's bag\", 7: 'a, {b}: c'}"), "0=rider's bag 7=a, {b}: c");
  EXPECT_EQ(onnx_names("{'0': 'x', \"1\": 'y',}"), "0=x 1=y");
  EXPECT_EQ(onnx_names("['cat', 'dog']"), "0=cat 1=dog");
  EXPECT_EQ(onnx_names(" { 0 : 'it\\'s' } "), "0=it's");
  EXPECT_EQ(onnx_names("{}"), "");
}

TEST(Labels, AreLeftOutIfTheyAreSomethingElse) {
  for (const char *names :
       {"", "cat", "{0: 'person'", "{0 'person'}", "{a: 'b'}", "{0: person}", "{0: 'x' 1: 'y'}",
        "['a'", "{99999999999999999999: 'a'}", "{-1: 'a'}", "{0: 'a", "[", "{", "{0:"})
    EXPECT_EQ(onnx_names(names), "") << names;
}

TEST(Labels, ComeWithTheTask) {
  const auto model = [](const OnnxMetadata &metadata) {
    return parse_model_labels(onnx_model(metadata), "model.onnx");
  };
  EXPECT_EQ(model({{"task", "detect"}}).task, "detect");
  EXPECT_FALSE(model({{"task", "detect"}}).end2end.has_value());
  EXPECT_EQ(model({{"end2end", "True"}}).end2end, true);
  EXPECT_EQ(model({{"end2end", "False"}}).end2end, false);
  EXPECT_EQ(model({{"task", "detect"}, {"head", "RTDETRDecoder"}}).task, "rtdetr");
  EXPECT_EQ(model({{"task", "detect"}, {"description", "Ultralytics rtdetr-l model"}}).task,
            "rtdetr");
  EXPECT_EQ(model({}).task, "");
}

#ifdef HAVE_LIBYAML
TEST(Labels, AreThoseOfYaml) {
  const ModelLabels model = parse_model_labels(
      "task: detect\nend2end: true\nnames:\n  0: person\n  1: traffic light\n", "metadata.yaml");
  EXPECT_EQ(text_of(model.labels), "0=person 1=traffic light");
  EXPECT_EQ(model.task, "detect");
  EXPECT_EQ(model.end2end, true);
  EXPECT_EQ(text_of(parse_model_labels("names: [a, b]\n", "metadata.yaml").labels), "0=a 1=b");
}
#endif

TEST(Labels, NameTheFileThatCannotBeRead) {
  try {
    read_model_labels("/nowhere/model.onnx");
    ADD_FAILURE() << "was read";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()).find("model=/nowhere/model.onnx: "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace cudatensor
