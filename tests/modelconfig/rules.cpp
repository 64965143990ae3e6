// SPDX-License-Identifier: LGPL-2.1-or-later
// Sizes that other programs round in another way.
#include <gtest/gtest.h>

#include "kernels/error.h"
#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

std::string refusal(const SourceRule &rule, int width, int height, int dst_width, int dst_height) {
  try {
    check_source(rule, width, height, dst_width, dst_height);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(SourceRule, NoneAcceptsAll) { EXPECT_EQ(refusal({}, 3, 5, 7, 11), ""); }

/// 1024 / 2048 halves the height, and halves of odd numbers are rounded up or to even.
TEST(SourceRule, SamRefusesHalvesThatRoundToEven) {
  const SourceRule rule = {SourceRule::Kind::half_up, 1024, 1024, 1, "f: size=1024"};
  EXPECT_EQ(refusal(rule, 2048, 1536, 1024, 1024), "");
  EXPECT_EQ(refusal(rule, 1920, 1080, 1024, 1024), "");
  EXPECT_EQ(
      refusal(rule, 2048, 1537, 1024, 1024),
      "f: size=1024: a picture of 2048x1537 becomes 1024x769 pixels, which resize-mode rounds "
      "to 1024x768");
  EXPECT_EQ(refusal(rule, 2048, 1539, 1024, 1024), "");  // 769.5: both are 770
  EXPECT_EQ(refusal(rule, 4096, 1, 1024, 1024).substr(0, 12), "f: size=1024");  // 0 and 1
}

TEST(SourceRule, DynamicExportsHaveTheLeastPad) {
  const SourceRule rule = {SourceRule::Kind::least_pads, 640, 640, 32, "f: args.dynamic=true"};
  EXPECT_EQ(refusal(rule, 500, 500, 640, 640), "");
  EXPECT_EQ(refusal(rule, 1920, 1080, 640, 384), "");
  EXPECT_EQ(
      refusal(rule, 1920, 1080, 640, 640),
      "f: args.dynamic=true: the tensor of a picture of 1920x1080 has 640x384 pixels; set width "
      "and height, to these or to others that the model takes");
  EXPECT_EQ(refusal(rule, 1080, 1920, 384, 640), "");
}

TEST(SourceRule, DynamicExportsAreKnownByTheirArguments) {
  const Folder folder;
  const std::string path = folder.write(
      "a.onnx",
      onnx_model(
          {{"task", "detect"}, {"imgsz", "640"}, {"args", "{'dynamic': True, 'batch': 1}"}}));
  const SourceRule rule = read_model_config(path).rule;
  EXPECT_EQ(rule.kind, SourceRule::Kind::least_pads);
  EXPECT_EQ(rule.width, 640);
  EXPECT_EQ(rule.stride, 32);
  EXPECT_EQ(rule.origin, "model-config=" + path + ": args.dynamic=true");
}

#ifdef HAVE_JSON
TEST(SourceRule, NamesFileAndKey) {
  const Folder folder;
  const std::string path =
      folder.write("preprocessor_config.json", R"({"image_processor_type":"SamImageProcessor"})");
  const SourceRule rule = read_model_config(path).rule;
  EXPECT_EQ(rule.kind, SourceRule::Kind::half_up);
  EXPECT_EQ(rule.origin, "model-config=" + path + ": size is absent");
}
#endif

}  // namespace
}  // namespace cudatensor
