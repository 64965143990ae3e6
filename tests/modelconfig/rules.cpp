// SPDX-License-Identifier: LGPL-2.1-or-later
// Sizes that other programs round differently.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

/// 1024 / 2048 halves the height. Halves of odd numbers are rounded up, or to even.
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
  EXPECT_EQ(refusal(rule, 1920, 1080, 640, 640),
            "f: args.dynamic=true: a picture of 1920x1080 requires a tensor of 640x384 pixels; set "
            "width and height to this size, or to another that the model takes");
  EXPECT_EQ(refusal(rule, 1080, 1920, 384, 640), "");
}

TEST(SourceRule, DynamicExportsHaveTheirStride) {
  const SourceRule rule = {SourceRule::Kind::least_pads, 640, 640, 64, "f: args.dynamic=true"};
  EXPECT_EQ(refusal(rule, 1280, 800, 640, 448), "");  // 400 rows
  EXPECT_NE(refusal(rule, 1280, 800, 640, 416), "");
  EXPECT_EQ(refusal(rule, 800, 1280, 448, 640), "");
  EXPECT_NE(refusal(rule, 800, 1280, 416, 640), "");
}

/// 3.5 / 7 and 1 / (7 / 3.5) are both a half; for 3 and 7, the rounding of the quotient decides.
TEST(SourceRule, TimmRefusesLengthsThatItRoundsOtherwise) {
  const SourceRule rule = {SourceRule::Kind::by_ratio, 224, 96, 1, "f: crop_mode=border"};
  int refused = 0;
  for (int width = 1; width <= 400; ++width) {
    for (int height = 1; height <= 400; ++height) {
      // timm's computation, and that of the elements.
      const double ratio = std::max(height / 96.0, width / 224.0);
      const double own = std::min(96.0 / height, 224.0 / width);
      const bool differs =
          std::nearbyint(width / ratio) != std::max(1.0, std::nearbyint(width * own)) ||
          std::nearbyint(height / ratio) != std::max(1.0, std::nearbyint(height * own));
      EXPECT_EQ(refusal(rule, width, height, 224, 96) != "", differs) << width << "x" << height;
      refused += differs;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 1000);
}

#ifdef HAVE_LIBYAML
TEST(SourceRule, DynamicExportsOfMetadata) {
  const Folder folder;
  const auto kind = [&](const std::string &dynamic) {
    return read_model_config(folder.write("metadata.yaml",
                                          "task: detect\nimgsz: '64'\nargs:\n"
                                          "  dynamic: " +
                                              dynamic + "\n"))
        .rule.kind;
  };
  EXPECT_EQ(kind("true"), SourceRule::Kind::least_pads);
  EXPECT_EQ(kind("True"), SourceRule::Kind::least_pads);
  EXPECT_EQ(kind("false"), SourceRule::Kind::none);
  EXPECT_EQ(kind("False"), SourceRule::Kind::none);
  EXPECT_EQ(kind("null"), SourceRule::Kind::none);
  EXPECT_THROW(kind("'true'"), Error);
  EXPECT_THROW(kind("2"), Error);
}
#endif

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
