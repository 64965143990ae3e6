// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the metadata that Ultralytics writes into exported models. In an ONNX model all values are
// strings, as Python prints them.
#include <filesystem>

#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

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

/// Parses "[480, 640]", "(480, 640)" or "640".
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

/// Reads height and width, or one number for both.
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
    node.refuse("must be a multiple of stride " + std::to_string(stride) +
                ", to which Ultralytics enlarges other sizes");
}

/// Whether the model accepts other sizes, too.
bool is_dynamic(const Node &args) {
  if (args.is_map()) return args.at("dynamic").boolean(false);
  return args.is_text() && args.text().find("'dynamic': True") != std::string::npos;
}

enum class Fit { letterbox, stretch, crop };

struct Kind {
  const char *name;
  Fit fit;
};

// The resize of Ultralytics' predictors, by task, and by the class of the network's last layer.
constexpr Kind kTasks[] = {
    {"detect", Fit::letterbox}, {"segment", Fit::letterbox},  {"pose", Fit::letterbox},
    {"obb", Fit::letterbox},    {"semantic", Fit::letterbox}, {"depth", Fit::stretch},
    {"classify", Fit::crop},
};
constexpr Kind kHeads[] = {
    {"Detect", Fit::letterbox},
    {"v10Detect", Fit::letterbox},
    {"WorldDetect", Fit::letterbox},
    {"YOLOEDetect", Fit::letterbox},
    {"Segment", Fit::letterbox},
    {"Segment26", Fit::letterbox},
    {"YOLOESegment", Fit::letterbox},
    {"YOLOESegment26", Fit::letterbox},
    {"Pose", Fit::letterbox},
    {"Pose26", Fit::letterbox},
    {"OBB", Fit::letterbox},
    {"OBB26", Fit::letterbox},
    {"SemanticSegment", Fit::letterbox},
    {"Depth", Fit::stretch},
    {"RTDETRDecoder", Fit::stretch},
    {"Classify", Fit::crop},
};

template <size_t N>
Fit fit_of(const Kind (&kinds)[N], const Node &node) {
  const std::string name = node.text();
  std::string all;
  for (const Kind &kind : kinds) {
    if (name == kind.name) return kind.fit;
    all += (all.empty() ? "" : ", ") + std::string(kind.name);
  }
  node.refuse("must be one of " + all);
}

/// Reads the resize. The task of RT-DETR is also detect: `head` tells it apart, and in older files,
/// which have no `head`, only the description does.
Fit read_fit(const Node &root) {
  const Fit task = fit_of(kTasks, root.at("task"));
  const Node head = root.at("head"), description = root.at("description");
  if (!head.is_present()) {
    const bool is_rtdetr = task == Fit::letterbox && description.is_text() &&
                           description.text().find("rtdetr") != std::string::npos;
    return is_rtdetr ? Fit::stretch : task;
  }
  const Fit fit = fit_of(kHeads, head);
  if (fit != task && head.text() != "RTDETRDecoder")
    head.refuse("does not belong to " + root.at("task").described());
  return fit;
}

void fit(ModelConfig &config, const Node &root, const ImageSize &size) {
  const Fit fit = read_fit(root);
  config.method = Method::bilinear;
  config.antialias = fit == Fit::crop;
  config.resize_mode = ResizeMode::stretch;
  if (fit == Fit::crop) {
    if (size.width != size.height) return;
    config.resize_mode = ResizeMode::torchvision;
    config.shortest_edge = size.width;
    return;
  }
  const int stride = read_whole(root.at("stride"), 32);
  check_multiple(root.at("imgsz"), size.width, stride);
  check_multiple(root.at("imgsz"), size.height, stride);
  if (fit == Fit::stretch) return;
  config.resize_mode = ResizeMode::ultralytics;
  config.pad_value = 114;
  if (is_dynamic(root.at("args")))
    config.rule = {SourceRule::Kind::least_pads, size.width, size.height, stride,
                   "args.dynamic=true"};
}

/// Sets type and layout from the model's input, and checks the size.
void check_input(ModelConfig &config, const Node &imgsz, const OnnxInput &input) {
  const auto refuse = [&](const std::string &reason) {
    throw Error(Error::Code::settings, text_of(input) + reason);
  };
  const auto dtype = dtype_of(input);
  if (!dtype || !is_float(*dtype))
    refuse(" must have the type float32, float16 or bfloat16, but has type " + std::to_string(input.type) +
           " of ONNX");
  config.dtype = *dtype;
  const std::vector<int64_t> &d = input.dims;
  const bool planar = d[1] == 3 || (d[1] == 0 && d[3] != 3);
  if (!planar && d[3] != 3) refuse(" does not have 3 channels");
  config.layout = planar ? Layout::nchw : Layout::nhwc;
  const int64_t height = d[planar ? 2 : 1], width = d[planar ? 3 : 2];
  if ((height > 0 && height != *config.height) || (width > 0 && width != *config.width))
    imgsz.refuse("must be the size of " + text_of(input));
}

/// Reads the format of the model from the files beside metadata.yaml, which is the same for all
/// formats.
void read_neighbors(ModelConfig &config, const std::string &folder) {
  std::error_code error;
  std::filesystem::directory_iterator each(folder, error);
  std::string lite;
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename(), end = each->path().extension();
    if (name == "saved_model.pb") {
      config.layout = Layout::nhwc;  // TensorFlow, or TensorFlow Lite made from it
      return;
    }
    if (end == ".rknn" || end == ".dxnn" || end == ".hef")
      throw Error(Error::Code::settings,
                  "describes " + shown(name) + ", which takes integers that no property describes");
    if (end == ".tflite") lite = name;
  }
  if (!lite.empty()) config.open_layout = "does not tell the layout of " + shown(lite);
}

}  // namespace

bool is_ultralytics(const Node &root) {
  return root.at("task").is_present() &&
         (root.at("imgsz").is_present() || root.at("head").is_present());
}

ModelConfig read_ultralytics(const Node &root, const std::optional<OnnxInput> &input,
                             const std::string &folder) {
  const Node channels = root.at("channels"), imgsz = root.at("imgsz");
  const ImageSize size = read_image_size(imgsz);
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
  fit(config, root, size);
  if (input) check_input(config, imgsz, *input);
  if (!folder.empty()) read_neighbors(config, folder);
  return config;
}

}  // namespace cudatensor::modelconfig
