// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads timm's transforms for inference, which use Pillow's filters and torchvision's crop.
#include <cmath>

#include "gst/modelconfig/readers.h"

namespace cudatensor::modelconfig {
namespace {

using Numbers = std::vector<double>;

struct Input {
  int width, height;
};

Input read_input(const Node &node) {
  if (!node.is_present()) return {224, 224};
  const Numbers sides = node.numbers();
  for (const double side : sides)
    if (side != std::floor(side) || side < 1 || side > kMaxImageSize)
      node.refuse("must be whole numbers from 1 to " + std::to_string(kMaxImageSize));
  if (sides.size() != 3 || sides[0] != 3.0) node.refuse("must be 3 channels, height and width");
  return {static_cast<int>(sides[2]), static_cast<int>(sides[1])};
}

Method read_interpolation(const Node &node) {
  if (!node.is_present()) return Method::bilinear;
  const std::string name = node.text();
  if (name == "bilinear" || name.empty()) return Method::bilinear;
  if (name == "bicubic") return Method::bicubic;
  if (name == "lanczos") return Method::lanczos;
  if (name == "box") return Method::box;
  if (name == "nearest") node.refuse("Pillow's nearest takes other samples than method=nearest");
  node.refuse("method has no such filter");
}

Numbers read_list(const Node &node, const Numbers &fallback) {
  if (!node.is_present() || (node.is_list() && node.list()->empty())) return fallback;
  const Numbers numbers = node.numbers();
  if (numbers.size() != 1 && numbers.size() != 3)
    node.refuse("must be one number, or one for each of 3 channels");
  return numbers;
}

double read_fraction(const Node &node) {
  constexpr double kDefault = 0.875;
  const double fraction = node.is_present() ? node.number() : kDefault;
  if (fraction == 0.0) return kDefault;
  if (!(fraction > 0.0 && fraction <= 1.0)) node.refuse("must be above 0, and at most 1");
  return fraction;
}

void crop_center(ModelConfig &config, const Node &file, const Input &input, double fraction) {
  if (input.width != input.height)
    file.at("input_size").refuse("must be square with crop_mode=center");
  const double shortest = std::floor(input.width / fraction);
  if (shortest > kMaxImageSize) file.at("crop_pct").refuse("makes the picture too large");
  config.resize_mode = ResizeMode::torchvision;
  config.shortest_edge = static_cast<int>(shortest);
}

void border(ModelConfig &config, const Node &file, double fraction) {
  if (fraction < 1.0) file.at("crop_pct").refuse("with crop_mode=border only 1 is possible");
  const Numbers &mean = *config.mean;
  for (const double value : mean)
    if (value != mean.front())
      file.at("mean").refuse(
          "crop_mode=border pads with the mean, which must be the same for all channels");
  const double value = std::nearbyint(255.0 * mean.front());
  if (!(value >= 0.0 && value <= 255.0))
    file.at("mean").refuse("crop_mode=border pads with the mean, which must be from 0 to 1");
  config.resize_mode = ResizeMode::ultralytics;
  config.pad_value = static_cast<int>(value);
  config.rule = {SourceRule::Kind::by_ratio, *config.width, *config.height, 1,
                 file.at("crop_mode").described()};
}

}  // namespace

bool is_timm(const Node &root) { return root.at("pretrained_cfg").is_present(); }

ModelConfig read_timm(const Node &root) {
  const Node file = root.at("pretrained_cfg");
  if (!file.is_map()) file.refuse("must be an object");
  const Input input = read_input(file.at("input_size"));
  ModelConfig config;
  config.width = input.width;
  config.height = input.height;
  config.method = read_interpolation(file.at("interpolation"));
  config.antialias = true;
  config.color = Color::rgb;
  config.normalization = Normalization::mean_std;
  config.scale = 1.0 / 255.0;
  config.mean = read_list(file.at("mean"), {0.485, 0.456, 0.406});
  config.std = read_list(file.at("std"), {0.229, 0.224, 0.225});
  for (const double value : *config.std)
    if (value == 0.0) file.at("std").refuse("must not be 0");

  const double fraction = read_fraction(file.at("crop_pct"));
  const Node mode = file.at("crop_mode");
  const std::string name = mode.is_present() ? mode.text() : "center";
  if (name == "center" || name.empty()) {
    crop_center(config, file, input, fraction);
  } else if (name == "squash") {
    if (fraction < 1.0) file.at("crop_pct").refuse("with crop_mode=squash only 1 is possible");
    config.resize_mode = ResizeMode::stretch;
  } else if (name == "border") {
    border(config, file, fraction);
  } else {
    mode.refuse("must be center, squash or border");
  }
  return config;
}

}  // namespace cudatensor::modelconfig
