// SPDX-License-Identifier: LGPL-2.1-or-later
// What Ultralytics writes into the models that it exports. In an ONNX model all values are strings,
// as Python prints them.
#include "gst/modelconfig/readers.h"

namespace cudatensor::modelconfig {
namespace {

struct ImageSize {
  int width, height;
};

int parse_side(const Node &node, const std::string &text) {
  const auto side = parse_integer(text);
  if (!side || *side < 1 || *side > kMaxImageSize)
    node.refuse("must be whole numbers from 1 to " + std::to_string(kMaxImageSize));
  return static_cast<int>(*side);
}

/// "[480, 640]", "(480, 640)" or "640".
std::vector<int> parse_sides(const Node &node) {
  std::vector<int> sides;
  const std::string text = node.text();
  std::string_view inner = trimmed(text);
  const bool bracketed = inner.size() >= 2 && ((inner.front() == '[' && inner.back() == ']') ||
                                               (inner.front() == '(' && inner.back() == ')'));
  if (bracketed) inner = inner.substr(1, inner.size() - 2);
  for (const std::string &part : split(inner, ',')) sides.push_back(parse_side(node, part));
  return sides;
}

/// Height and width, or one number for both.
ImageSize read_image_size(const Node &node) {
  std::vector<int> sides;
  if (node.is_number()) {
    sides.push_back(node.integer(1, kMaxImageSize));
  } else if (node.is_text()) {
    sides = parse_sides(node);
  } else if (node.is_list()) {
    for (const Value &side : *node.list())
      sides.push_back(Node(&side, node.key()).integer(1, kMaxImageSize));
  }
  if (sides.empty() || sides.size() > 2) node.refuse("must be height and width");
  return {sides.back(), sides.front()};
}

int read_whole(const Node &node, int fallback) {
  if (!node.is_present()) return fallback;
  return node.is_text() ? parse_side(node, node.text()) : node.integer(1, kMaxImageSize);
}

void check_multiple(const Node &node, int side, int stride) {
  if (side % stride != 0)
    node.refuse("is no multiple of stride " + std::to_string(stride) +
                ", to which Ultralytics enlarges it");
}

/// Whether the model takes other sizes, too.
bool is_dynamic(const Node &args) {
  if (args.is_map()) return args.at("dynamic").boolean(false);
  return args.is_text() && args.text().find("'dynamic': True") != std::string::npos;
}

void letterbox(ModelConfig &config, const Node &root, const ImageSize &size) {
  const int stride = read_whole(root.at("stride"), 32);
  check_multiple(root.at("imgsz"), size.width, stride);
  check_multiple(root.at("imgsz"), size.height, stride);
  config.resize_mode = ResizeMode::ultralytics;
  config.method = Method::bilinear;
  config.antialias = false;
  config.pad_value = 114;
  if (is_dynamic(root.at("args")))
    config.rule = {SourceRule::Kind::least_pads, size.width, size.height, stride,
                   "args.dynamic=true"};
}

void classify(ModelConfig &config, const ImageSize &size) {
  config.method = Method::bilinear;
  config.antialias = true;
  const bool square = size.width == size.height;
  config.resize_mode = square ? ResizeMode::torchvision : ResizeMode::stretch;
  if (square) config.shortest_edge = size.width;
}

}  // namespace

bool is_ultralytics(const Node &root) {
  return root.at("imgsz").is_present() && root.at("task").is_present();
}

ModelConfig read_ultralytics(const Node &root) {
  const Node task = root.at("task"), channels = root.at("channels");
  const ImageSize size = read_image_size(root.at("imgsz"));
  if (read_whole(channels, 3) != 3) channels.refuse("only 3 channels are possible");
  ModelConfig config;
  config.width = size.width;
  config.height = size.height;
  config.color = Color::rgb;
  config.normalization = Normalization::mean_std;
  config.scale = 1.0 / 255.0;
  config.mean = {0.0};
  config.std = {1.0};
  config.round = true;
  const std::string name = task.text();
  if (name == "detect" || name == "segment" || name == "pose" || name == "obb")
    letterbox(config, root, size);
  else if (name == "classify")
    classify(config, size);
  else
    task.refuse("must be detect, segment, pose, obb or classify");
  return config;
}

}  // namespace cudatensor::modelconfig
