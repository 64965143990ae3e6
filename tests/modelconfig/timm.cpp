// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys that timm's files may leave empty, and the limits of their values.
#include <gtest/gtest.h>

#include "tests/modelconfig/files.h"

#ifdef HAVE_JSON
namespace cudatensor {
namespace {

class TimmValues : public testing::TestWithParam<Case> {};
TEST_P(TimmValues, GivesTheProperties) { check(GetParam()); }

std::string file(const std::string &keys) { return R"({"pretrained_cfg":{)" + keys + "}}"; }

std::string cropped(int shortest, const char *method = "bilinear") {
  return "width=224 height=224 resize-mode=torchvision shortest-edge=" + std::to_string(shortest) +
         " method=" + method +
         " antialias=true color=rgb normalization=mean-std scale=0.00392156862745098 "
         "mean=\"<0.485,0.456,0.406>\" std=\"<0.229,0.224,0.225>\"";
}

const char *const kName = "config.json";

INSTANTIATE_TEST_SUITE_P(
    Timm, TimmValues,
    testing::Values(
        Case{"crop_pct of 0 is the default", kName, file(R"("crop_pct":0)"), cropped(256)},
        Case{"empty texts are the defaults", kName, file(R"("crop_mode":"","interpolation":"")"),
             cropped(256)},
        Case{"empty lists are the defaults", kName, file(R"("mean":[],"std":[])"), cropped(256)},
        Case{"box", kName, file(R"("interpolation":"box")"), cropped(256, "box")},
        Case{"lanczos", kName, file(R"("interpolation":"lanczos")"), cropped(256, "lanczos")},
        Case{"a std of 0", kName, file(R"("std":[1,0,1])"),
             "!pretrained_cfg.std=[1, 0, 1]: must not be 0"},
        Case{"two means", kName, file(R"("mean":[1,2])"),
             "!pretrained_cfg.mean=[1, 2]: must be one number, or one for each of 3 channels"},
        Case{"a border above the samples", kName,
             file(R"("crop_pct":1,"crop_mode":"border","mean":[1.002])"),
             "!pretrained_cfg.mean=[1.002]: crop_mode=border pads with the mean, which must be "
             "from 0 to 1"},
        Case{"a border below the samples", kName,
             file(R"("crop_pct":1,"crop_mode":"border","mean":[-0.002])"),
             "!pretrained_cfg.mean=[-0.002]: crop_mode=border pads with the mean, which must be "
             "from 0 to 1"},
        Case{"a border with a crop", kName, file(R"("crop_pct":0.9,"crop_mode":"border")"),
             "!pretrained_cfg.crop_pct=0.9: with crop_mode=border only 1 is possible"},
        Case{"too large a picture", kName, file(R"("crop_pct":0.001)"),
             "!pretrained_cfg.crop_pct=0.001: makes the picture too large"},
        Case{"a size of 0", kName, file(R"("input_size":[3,0,224])"),
             "!pretrained_cfg.input_size=[3, 0, 224]: must be whole numbers from 1 to 32767"},
        Case{"no object", kName, R"({"pretrained_cfg":1})",
             "!pretrained_cfg=1: must be an object"}));

TEST(TimmValues, BordersAreRoundedByTimmsRatio) {
  const Folder folder;
  const std::string path = folder.write(
      kName, file(R"("input_size":[3,224,96],"crop_pct":1,"crop_mode":"border","mean":[0.5])"));
  const SourceRule rule = read_model_config(path).rule;
  EXPECT_EQ(rule.kind, SourceRule::Kind::by_ratio);
  EXPECT_EQ(rule.origin, "model-config=" + path + ": pretrained_cfg.crop_mode=border");
}

}  // namespace
}  // namespace cudatensor
#endif
