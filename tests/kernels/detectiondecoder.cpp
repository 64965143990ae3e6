// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/detectiondecoder.h"

#include <gtest/gtest.h>

#include "refusal.h"

namespace cudatensor {
namespace {

constexpr auto kFloat = OutputType::float32;
constexpr auto kInt = OutputType::int64;

using Outputs = std::vector<NamedOutput>;

/// Returns the decoder, the order of the outputs and their shapes.
std::string chosen(std::optional<Decoder> decoder, const Outputs &outputs,
                   const ModelTask &task = {}) {
  const DecoderChoice choice = choose_decoder(decoder, outputs, task);
  std::string text = name_of(choice.decoder);
  for (size_t i = 0; i < choice.outputs.size(); ++i)
    text += " " + std::to_string(choice.outputs[i]) + text_of(choice.descs[i]);
  return text;
}

std::string chosen(const Outputs &outputs, const ModelTask &task = {}) {
  return chosen(std::nullopt, outputs, task);
}

Outputs unnamed(const std::vector<std::vector<int64_t>> &shapes) {
  Outputs outputs;
  for (const auto &shape : shapes) outputs.push_back({"", {kFloat, shape}});
  return outputs;
}

TEST(DetectionDecoder, IsKnownFromShapes) {
  const std::pair<std::vector<int64_t>, const char *> table[] = {
      {{1, 84, 8400}, "yolo 0(1, 84, 8400)"},     {{16, 5, 21}, "yolo 0(16, 5, 21)"},
      {{1, 25200, 85}, "yolov5 0(1, 25200, 85)"}, {{1, 25200, 6}, "yolov5 0(1, 25200, 6)"},
      {{1, 300, 6}, "end2end 0(1, 300, 6)"},      {{4, 1000, 6}, "end2end 0(4, 1000, 6)"},
      {{4, 1001, 6}, "yolov5 0(4, 1001, 6)"},     {{1, 0, 6}, "end2end 0(1, 0, 6)"},
      {{1, 1000}, "scores 0(1, 1000)"},           {{1, 1, 84, 8400}, "yolo 0(1, 84, 8400)"},
  };
  for (const auto &[shape, expected] : table) EXPECT_EQ(chosen(unnamed({shape})), expected);
  EXPECT_EQ(chosen(unnamed({{2, 100, 92}, {2, 100, 4}})), "detr 0(2, 100, 92) 1(2, 100, 4)");
  EXPECT_EQ(chosen(unnamed({{2, 100, 4}, {2, 100, 92}})), "detr 1(2, 100, 92) 0(2, 100, 4)");
}

TEST(DetectionDecoder, IsRefusedIfItIsNotCertain) {
  for (const auto &shapes :
       std::vector<std::vector<std::vector<int64_t>>>{{},
                                                      {{1}},
                                                      {{84, 84, 84}},
                                                      {{1, 4, 8400}},
                                                      {{1, 8400, 5}},
                                                      {{2, 3, 84, 8400}},
                                                      {{1, 100, 4}, {1, 200, 4}},
                                                      {{1, 100, 5}, {1, 100, 6}},
                                                      {{1, 10, 4}, {1, 10}, {1, 10}},
                                                      {{1, 116, 8400}, {1, 32, 160, 160}}})
    expect_refusal(Error::Code::settings, "set decoder", [&] { chosen(unnamed(shapes)); });
}

TEST(DetectionDecoder, IsKnownFromTheModelsTask) {
  EXPECT_EQ(chosen(unnamed({{1, 84, 8400}}), {"detect", {}}), "yolo 0(1, 84, 8400)");
  EXPECT_EQ(chosen(unnamed({{1, 84, 21}}), {"detect", {}}), "yolo 0(1, 84, 21)");
  EXPECT_EQ(chosen(unnamed({{1, 300, 6}}), {"detect", {}}), "end2end 0(1, 300, 6)");
  EXPECT_EQ(chosen(unnamed({{1, 300, 6}}), {"detect", false}), "end2end 0(1, 300, 6)");
  EXPECT_EQ(chosen(unnamed({{1, 1500, 6}}), {"detect", true}), "end2end 0(1, 1500, 6)");
  EXPECT_EQ(chosen(unnamed({{1, 1000}}), {"classify", {}}), "probabilities 0(1, 1000)");
  expect_refusal(Error::Code::settings, "task pose", [] {
    chosen(unnamed({{1, 56, 8400}}), {"pose", {}});
  });
}

TEST(DetectionDecoder, KnowsSsdByItsNames) {
  const NamedOutput boxes = {"detection_boxes:0", {kFloat, {1, 100, 4}}},
                    classes = {"Detection_Classes", {kFloat, {1, 100}}},
                    scores = {"detection_scores", {kFloat, {1, 100}}},
                    count = {"num_detections", {kFloat, {1}}};
  EXPECT_EQ(chosen({boxes, classes, scores, count}), "ssd 0(1, 100, 4) 1(1, 100) 2(1, 100) 3(1)");
  EXPECT_EQ(chosen({count, scores, boxes, classes}), "ssd 2(1, 100, 4) 3(1, 100) 1(1, 100) 0(1)");
  EXPECT_EQ(chosen({scores, {"labels", {kInt, {1, 100}}}, boxes}),
            "ssd 2(1, 100, 4) 1(1, 100) 0(1, 100)");
  expect_refusal(Error::Code::settings, "set decoder", [&] { chosen({boxes, scores, scores}); });
  expect_refusal(Error::Code::settings, "detection_scores (1, 100)", [&] {
    chosen({boxes, scores, count});
  });
}

TEST(DetectionDecoder, FindsItsOutputsByShapeAndOrder) {
  const NamedOutput boxes = {"a", {kFloat, {1, 50, 4}}}, classes = {"b", {kInt, {1, 50}}},
                    scores = {"c", {kFloat, {1, 50}}}, count = {"d", {kInt, {1}}};
  EXPECT_EQ(chosen(Decoder::ssd, {scores, boxes, count, classes}),
            "ssd 1(1, 50, 4) 3(1, 50) 0(1, 50) 2(1)");
  EXPECT_EQ(chosen(Decoder::ssd, {boxes, scores, scores}), "ssd 0(1, 50, 4) 1(1, 50) 2(1, 50)");
  EXPECT_EQ(chosen(Decoder::ssd, {classes, scores, boxes}), "ssd 2(1, 50, 4) 0(1, 50) 1(1, 50)");
  // Without a shape that tells, the order counts.
  EXPECT_EQ(chosen(Decoder::ssd, {boxes, boxes, scores}), "ssd 0(1, 50, 4) 1(50, 4) 2(1, 50)");
  EXPECT_EQ(chosen(Decoder::detr, unnamed({{1, 9, 4}, {1, 9, 4}})), "detr 0(1, 9, 4) 1(1, 9, 4)");
  EXPECT_EQ(chosen(Decoder::detr_softmax,
                   {{"pred_boxes", {kFloat, {1, 9, 4}}}, {"logits", {kFloat, {1, 9, 4}}}}),
            "detr-softmax 1(1, 9, 4) 0(1, 9, 4)");
}

TEST(DetectionDecoder, AddsAndDropsAxesOfOne) {
  EXPECT_EQ(chosen(Decoder::yolo, unnamed({{84, 8400}})), "yolo 0(1, 84, 8400)");
  EXPECT_EQ(chosen(Decoder::scores, unnamed({{1, 1, 1, 10}})), "scores 0(1, 10)");
  EXPECT_EQ(chosen(Decoder::scores, unnamed({{10}})), "scores 0(1, 10)");
  EXPECT_EQ(chosen(Decoder::yolo, unnamed({{2, 2, 84, 21}})), "yolo 0(2, 2, 84, 21)");
}

}  // namespace
}  // namespace cudatensor
