// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the configuration of nvinfer and of nvdspreprocess. docs/deepstream.md has the table of the
// keys.
#include <climits>
#include <cmath>

#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

constexpr const char *kShape = "network-input-shape";  // only nvdspreprocess has it

int channels_of(Color color) { return color == Color::gray ? 1 : 3; }

Color read_color(const Node &node) {
  switch (node.is_present() ? node.integer(0, INT_MAX) : 0) {
    case 0: return Color::rgb;
    case 1: return Color::bgr;
    case 2: return Color::gray;
    default: node.refuse("must be 0 (rgb), 1 (bgr) or 2 (gray)");
  }
}

Layout layout_of(const Node &node, double order) {
  if (order == 0) return Layout::nchw;
  if (order == 1) return Layout::nhwc;
  node.refuse("the order must be 0 (nchw) or 1 (nhwc)");
}

Layout read_layout(const Node &group) {
  const Node own = group.at("network-input-order"), uff = group.at("uff-input-order");
  const Node &node = own.is_present() ? own : uff;
  return node.is_present() ? layout_of(node, node.integer(0, INT_MAX)) : Layout::nchw;
}

Method read_filter(const Node &node) {
  switch (node.is_present() ? node.integer(0, INT_MAX) : 1) {
    case 0: return Method::nearest;
    case 1: return Method::bilinear;
    default: node.refuse("must be 0 (nearest) or 1 (bilinear)");
  }
}

DType read_type(const Node &node) {
  switch (node.integer(0, INT_MAX)) {
    case 0: return DType::float32;
    case 1: return DType::uint8;
    case 2: return DType::int8;
    case 5: return DType::float16;
    default: node.refuse("must be 0 (float32), 1 (uint8), 2 (int8) or 5 (float16)");
  }
}

void set_size(ModelConfig &config, const Node &node, double c, double h, double w) {
  if (c != channels_of(*config.color))
    node.refuse("the color requires " + std::to_string(channels_of(*config.color)) + " channels");
  const auto side = [&](double length) {
    if (!(length >= 1 && length <= kMaxImageSize) || length != static_cast<int>(length))
      node.refuse("sizes must be whole numbers from 1 to " + std::to_string(kMaxImageSize));
    return static_cast<int>(length);
  };
  config.height = side(h);
  config.width = side(w);
}

/// Reads network-input-shape: n;c;h;w.
void read_shape(ModelConfig &config, const Node &group) {
  const Node node = group.at(kShape);
  if (!node.is_present()) node.refuse("nvdspreprocess requires it");
  const std::vector<double> dims = node.numbers(';');
  if (dims.size() != 4 || !(dims[0] >= 1)) node.refuse("must be n;c;h;w");
  set_size(config, node, dims[1], dims[2], dims[3]);
  // nvdspreprocess resizes pictures to this size before it copies them to the tensor.
  for (const char *key : {"processing-width", "processing-height"}) {
    const Node side = group.at(key);
    const int own = key == std::string("processing-width") ? *config.width : *config.height;
    if (side.is_present() && side.integer(1, INT_MAX) != own)
      side.refuse("must be " + std::to_string(own) + ", as in " + kShape);
  }
}

/// Reads the size of the model that TensorRT reads.
void read_model_size(ModelConfig &config, const Node &group, const std::string &folder) {
  const std::string absent = group.at("infer-dims").described();
  const Node node = group.at("onnx-file");
  if (!node.is_present()) {
    config.open_size = absent;
    return;
  }
  const std::string name = node.text();
  std::optional<OnnxInput> input;
  try {
    input = picture_of(read_onnx(File(name.front() == '/' ? name : folder + name)));
  } catch (const Error &error) {
    if (error.code() != Error::Code::not_found) node.refuse(error.what());
    config.open_size = absent + ", " + node.described() + ": " + error.what();
    return;
  }
  if (!input) {
    config.open_size =
        absent + ", " + node.described() + ": has no single input of four dimensions";
    return;
  }
  const std::vector<int64_t> &d = input->dims;
  const bool planar = config.layout == Layout::nchw;
  const int64_t c = d[planar ? 1 : 3], h = d[planar ? 2 : 1], w = d[planar ? 3 : 2];
  if (c == 0 || h == 0 || w == 0) {
    config.open_size = absent + ", " + node.described() + ": " + text_of(*input);
    return;
  }
  set_size(config, node, static_cast<double>(c), static_cast<double>(h), static_cast<double>(w));
}

/// Reads infer-dims: c;h;w. Before DeepStream 5, it is input-dims or uff-input-dims: c;h;w;order.
void read_size(ModelConfig &config, const Node &group, const std::string &folder) {
  for (const char *key : {"infer-dims", "uff-input-dims", "input-dims"}) {
    const Node node = group.at(key);
    if (!node.is_present()) continue;
    const bool ordered = key != std::string("infer-dims");
    const std::vector<double> dims = node.numbers(';');
    if (dims.size() != (ordered ? 4 : 3))
      node.refuse(ordered ? "must be c;h;w;order" : "must be c;h;w");
    if (ordered) {
      const Layout layout = layout_of(node, dims[3]);
      const Node order = group.at("network-input-order");
      if (order.is_present() && layout != *config.layout)
        order.refuse("must be the order of " + node.described());
      config.layout = layout;
    }
    return set_size(config, node, dims[0], dims[1], dims[2]);
  }
  read_model_size(config, group, folder);
}

void read_resize(ModelConfig &config, const Node &group) {
  config.method = read_filter(group.at("scaling-filter"));
  config.antialias = false;
  config.resize_mode = ResizeMode::stretch;
  if (!group.at("maintain-aspect-ratio").boolean(false)) return;
  const bool centered = group.at("symmetric-padding").boolean(false);
  config.resize_mode = centered ? ResizeMode::ultralytics : ResizeMode::top_left;
  config.pad_value = 0;
}

/// Reads the normalization, factor * (x - offset).
void read_normalization(ModelConfig &config, const Node &group, const char *factor_key) {
  const Node mean = group.at("mean-file"), factor = group.at(factor_key),
             offsets = group.at("offsets");
  if (mean.is_present()) mean.refuse("means are per channel, not per pixel");
  const double scale = factor.is_present() ? factor.number() : 1.0;
  std::vector<double> beta = {0.0};
  if (offsets.is_present()) {
    beta = offsets.numbers(';');
    const size_t channels = channels_of(*config.color);
    if (beta.size() != channels)
      offsets.refuse("must be " + std::to_string(channels) + " numbers, one for each channel");
    for (double &value : beta) {
      value = value == 0.0 ? 0.0 : -scale * value;
      if (!std::isfinite(value)) offsets.refuse("a number times the factor is too large");
    }
  }
  config.normalization = Normalization::alpha_beta;
  config.alpha = {scale};
  config.beta = beta;
}

}  // namespace

bool is_deepstream(const Node &root) { return root.at("property").is_map(); }

ModelConfig read_deepstream(const Node &root, const std::string &folder) {
  const Node group = root.at("property");
  if (!group.is_map()) group.refuse("the file of DeepStream must have this group");
  const bool preprocess = group.at(kShape).is_present() || root.at("user-configs").is_present();
  ModelConfig config;
  config.color = read_color(group.at(preprocess ? "network-color-format" : "model-color-format"));
  config.layout = read_layout(group);
  read_resize(config, group);
  if (preprocess) {
    read_shape(config, group);
    if (group.at("tensor-data-type").is_present())
      config.dtype = read_type(group.at("tensor-data-type"));
    read_normalization(config, root.at("user-configs"), "pixel-normalization-factor");
  } else {
    read_size(config, group, folder);
    read_normalization(config, group, "net-scale-factor");
  }
  config.round = true;
  return config;
}

}  // namespace cudatensor::modelconfig
