// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the .modelinfo files of GStreamer 1.28, which have a group for each tensor of a model.
#include <cmath>
#include <optional>

#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

constexpr const char *kHeader = "modelinfo";

void check_version(const Node &version) {
  const bool read = version.is_number() && version.number() >= 1.0 && version.number() < 2.0;
  if (!read) version.refuse("only version 1 is read");
}

/// Reads comma-separated dimensions; -1 if the model leaves a size open.
std::vector<int> read_dims(const Node &node) {
  if (node.is_number()) return {node.integer(-1, kMaxImageSize)};
  std::vector<int> dims;
  for (const std::string &part : split(node.text(), ',')) {
    const auto dim = parse_integer(part);
    if (!dim || *dim == 0 || *dim < -1 || *dim > kMaxImageSize)
      node.refuse("must be whole numbers from 1 to " + std::to_string(kMaxImageSize) + ", or -1");
    dims.push_back(static_cast<int>(*dim));
  }
  return dims;
}

bool is_channels(int dim) { return dim == 1 || dim == 3; }

void set_shape(ModelConfig &config, const Node &node) {
  std::vector<int> dims = read_dims(node);
  if (dims.size() == 4) dims.erase(dims.begin());
  if (dims.size() != 3) node.refuse("must have 3 or 4 dimensions");
  const bool first = is_channels(dims[0]), last = is_channels(dims[2]);
  if (first == last)
    node.refuse(first ? "both the first and the last size may be the channels"
                      : "neither the first nor the last size is 1 or 3 channels");
  config.layout = first ? Layout::nchw : Layout::nhwc;
  config.color = (first ? dims[0] : dims[2]) == 1 ? Color::gray : Color::rgb;
  const int height = first ? dims[1] : dims[0], width = first ? dims[2] : dims[1];
  if (height > 0) config.height = height;
  if (width > 0) config.width = width;
  if (height < 1 || width < 1) config.open_size = node.described();
}

void set_type(ModelConfig &config, const Node &node) {
  const std::string type = node.text();
  if (type == "float32")
    config.dtype = DType::float32;
  else if (type == "float16")
    config.dtype = DType::float16;
  else if (type == "bfloat16")
    config.dtype = DType::bfloat16;
  else if (type == "uint8")
    config.dtype = DType::uint8;
  else if (type == "int8")
    config.dtype = DType::int8;
  else
    node.refuse("dtype must be float32, float16, bfloat16, uint8 or int8");
}

/// Reads "min,max", or one such range for each channel, separated by semicolons.
void set_ranges(ModelConfig &config, const Node &node) {
  std::vector<double> alpha, beta;
  for (const std::string &range : split(node.text(), ';')) {
    const std::vector<std::string> ends = split(range, ',');
    const auto min = ends.size() == 2 ? parse_number(ends[0]) : std::nullopt;
    const auto max = ends.size() == 2 ? parse_number(ends[1]) : std::nullopt;
    if (!min || !max) node.refuse("must be a minimum and a maximum, separated by a comma");
    alpha.push_back((*max - *min) / 255.0);
    beta.push_back(*min);
    if (!std::isfinite(alpha.back()) || !std::isfinite(beta.back()))
      node.refuse("must be finite numbers");
  }
  const size_t channels = config.color == Color::gray ? 1 : 3;
  if (alpha.size() != 1 && alpha.size() != channels)
    node.refuse("must be one range, or one for each of " + std::to_string(channels) + " channels");
  config.normalization = Normalization::alpha_beta;
  config.alpha = alpha;
  config.beta = beta;
}

/// Returns the group of the input that is a picture.
Node find_input(const Node &root) {
  std::optional<Node> found;
  for (const auto &[name, group] : *root.map()) {
    const Node node(&group, name);
    const Node dir = node.at("dir");
    if (name == kHeader || !dir.is_text() || dir.text() != "input") continue;
    const size_t dims = node.at("dims").is_text() ? read_dims(node.at("dims")).size() : 0;
    if (dims != 3 && dims != 4) continue;
    if (found)
      dir.refuse("only one input may have dims of a picture, but " + shown(found->key()) +
                 " has them, too");
    found = node;
  }
  if (!found)
    throw Error(Error::Code::settings, "has no group with dir=input and dims of a picture");
  return *found;
}

}  // namespace

bool is_model_info(const Node &root) { return root.at(kHeader).is_map(); }

ModelConfig read_model_info(const Node &root) {
  check_version(root.at(kHeader).at("version"));
  const Node input = find_input(root);
  const Node order = input.at("dims-order");
  if (order.is_present() && order.text() != "row-major") order.refuse("must be row-major");
  ModelConfig config;
  set_shape(config, input.at("dims"));
  set_type(config, input.at("type"));
  set_ranges(config, input.at("ranges"));
  return config;
}

}  // namespace cudatensor::modelconfig
