// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/networkcaps.h"

#include <algorithm>
#include <utility>

#include "gst/caps/tensorcaps.h"
#include "gst/util/values.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

using ort::Axis;
using ort::Port;

// The batches that the caps of a network list if it takes any number.
constexpr int64_t kMostListed = 64;

bool is_channels(const Axis &axis) {
  return axis.length == 1 || axis.length == 3 || axis.length == 4;
}

/// Returns the layout of a picture or of a batch of pictures.
const char *layout_of(const Port &input) {
  const size_t rank = input.axes.size();
  const bool is_picture = rank == 3 && !input.axes[0].is_open();
  if (rank != 4 && !is_picture) return nullptr;
  if (is_channels(input.axes[rank - 3])) return "nchw";
  return is_channels(input.axes[rank - 1]) ? "nhwc" : nullptr;
}

/// Whether the name of an open axis tells which one it is: Paddle's exports name all of them "?".
bool has_name(const Axis &axis) { return !axis.symbol.empty() && axis.symbol != "?"; }

/// Returns the axis of the input that has the length of an output's axis, as their names tell. A
/// first axis without a name is the batch.
std::optional<size_t> source_of(const Port &input, const Axis &axis, size_t at) {
  if (!has_name(axis) && at > 0) return std::nullopt;
  for (size_t i = 0; i < input.axes.size(); ++i) {
    if (!input.axes[i].is_open() || input.axes[i].symbol != axis.symbol) continue;
    if (has_name(axis) || i == 0) return i;
  }
  return std::nullopt;
}

bool is_known(const Port &input, const Port &output) {
  for (size_t at = 0; at < output.axes.size(); ++at) {
    const Axis &axis = output.axes[at];
    if (axis.is_open() ? !source_of(input, axis, at) : axis.length == 0) return false;
  }
  return true;
}

/// Returns the shape of an output for the shape of the input that the network runs with.
TensorShape output_shape(const Port &input, const TensorShape &shape, const Port &output) {
  TensorShape result = {output.type, {}};
  for (size_t at = 0; at < output.axes.size(); ++at) {
    const Axis &axis = output.axes[at];
    const size_t source = axis.is_open() ? source_of(input, axis, at).value() : 0;
    const size_t from_inside = shape.dimensions.size() - 1 - source;
    result.dimensions.push_back(axis.is_open() ? shape.dimensions[from_inside] : axis.length);
  }
  std::reverse(result.dimensions.begin(), result.dimensions.end());
  if (result.dimensions.empty()) result.dimensions = {1};
  return result;
}

/// Removes or adds outer dimensions of 1 so that there are `rank`, if that is possible.
TensorShape with_rank(TensorShape shape, size_t rank) {
  auto &dimensions = shape.dimensions;
  while (dimensions.size() > rank && dimensions.back() == 1) dimensions.pop_back();
  while (dimensions.size() < rank) dimensions.push_back(1);
  return shape;
}

void set_strings(GstStructure *s, const char *field, const std::vector<std::string> &texts) {
  if (texts.size() == 1)
    return gst_structure_set(s, field, G_TYPE_STRING, texts[0].c_str(), nullptr);
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (const std::string &text : texts) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_string(&item, text.c_str());
    gst_value_list_append_and_take_value(&list, &item);
  }
  gst_structure_take_value(s, field, &list);
}

}  // namespace

NetworkCaps::NetworkCaps(std::string model, Port input, std::vector<Port> outputs,
                         bool scalars_are_known)
    : model_(std::move(model)),
      input_(std::move(input)),
      outputs_(std::move(outputs)),
      layout_(layout_of(input_)),
      flexible_(!std::all_of(outputs_.begin(), outputs_.end(), [&](const Port &output) {
        return is_known(input_, output) && (scalars_are_known || !output.axes.empty());
      })) {}

bool NetworkCaps::has_outputs_without_axes() const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [](const Port &output) { return output.axes.empty(); });
}

/// Whether the first of an input's axes is a batch of a fixed number of pictures or clips.
bool NetworkCaps::is_fixed_batch() const {
  return input_.axes.size() >= 4 && input_.axes[0].length > 1;
}

bool NetworkCaps::has_open_size() const {
  return std::any_of(input_.axes.begin() + 1, input_.axes.end(),
                     [](const Axis &axis) { return axis.is_open(); });
}

/// Whether the first slots of the outputs are those of the input's first slots.
bool NetworkCaps::can_be_cut() const {
  return is_fixed_batch() && !flexible_ &&
         std::all_of(outputs_.begin(), outputs_.end(), [&](const Port &output) {
           return !output.axes.empty() && output.axes[0].length == input_.axes[0].length;
         });
}

/// Returns the batches that the caps list, in order.
std::vector<int64_t> NetworkCaps::batches() const {
  const int64_t fixed = input_.axes[0].length;
  std::vector<int64_t> all;
  if (input_.axes[0].is_open())
    for (int64_t n = 1; n <= kMostListed; ++n) all.push_back(n);
  else
    for (int64_t n = fixed; n == fixed || (n >= 1 && can_be_cut()); --n) all.push_back(n);
  return all;
}

TensorShape NetworkCaps::with_batch(int64_t batch, int64_t open) const {
  TensorShape shape = {input_.type, {}};
  for (size_t i = input_.axes.size() - 1; i > 0; --i)
    shape.dimensions.push_back(input_.axes[i].is_open() ? open : input_.axes[i].length);
  shape.dimensions.push_back(batch);
  return shape;
}

GstCaps *NetworkCaps::sink(const GstStructure *other) const {
  GstStructure *s = new_tensor_structure(other);
  gst_structure_set(s, "types", G_TYPE_STRING, type_text(input_.type), nullptr);
  if (layout_ != nullptr) gst_structure_set(s, "layout", G_TYPE_STRING, layout_, nullptr);
  if (!has_open_size()) {
    std::vector<std::string> texts;
    for (const int64_t n : batches()) texts.push_back(dimensions_text(with_batch(n, 0)));
    set_strings(s, "dimensions", texts);
  }
  return gst_caps_new_full(s, nullptr);
}

GstStructure *NetworkCaps::output_structure(const std::vector<TensorShape> &shapes,
                                            const GstStructure *other) const {
  TensorList list;
  list.is_flexible = flexible_;
  list.count = outputs_.size();
  for (const Port &output : outputs_) list.names.push_back(output.name);
  list.shapes = shapes;
  for (size_t i = shapes.size(); i < outputs_.size() && !flexible_; ++i)
    list.shapes.push_back({outputs_[i].type, {}});
  GstStructure *s = new_tensor_list(list);
  if (shapes.empty()) gst_structure_remove_field(s, "dimensions");
  copy_framerate(s, other);
  return s;
}

GstCaps *NetworkCaps::src(const GstStructure *input) const {
  GstCaps *caps = gst_caps_new_empty();
  const std::vector<std::string> texts = allowed_strings(input, "dimensions");
  if (flexible_ || texts.empty()) {
    gst_caps_append_structure(caps, output_structure({}, input));
    return caps;
  }
  for (const std::string &text : texts) {
    const TensorShape shape = {input_.type, split_dimensions(text.c_str())};
    if (shape.dimensions.empty() || !run_shape(shape)) continue;
    gst_caps_append_structure(caps, output_structure(shapes_of(shape).outputs, input));
  }
  return caps;
}

/// Returns the shape with which the network runs for a tensor in a buffer; no value if it does not
/// take the tensor.
std::optional<TensorShape> NetworkCaps::run_shape(const TensorShape &input) const {
  TensorShape shape = with_rank(input, input_.axes.size());
  if (shape.type != input_.type || shape.dimensions.size() != input_.axes.size())
    return std::nullopt;
  for (size_t i = 1; i < input_.axes.size(); ++i) {
    const int64_t given = shape.dimensions[input_.axes.size() - 1 - i];
    if (!input_.axes[i].is_open() && input_.axes[i].length != given) return std::nullopt;
  }
  const int64_t fixed = input_.axes[0].length;
  int64_t &batch = shape.dimensions.back();
  if (fixed >= 0 && batch != fixed && !(can_be_cut() && batch < fixed)) return std::nullopt;
  if (fixed >= 0) batch = fixed;
  return shape;
}

NetworkShapes NetworkCaps::shapes_of(const TensorShape &input) const {
  NetworkShapes shapes;
  shapes.input = with_rank(input, input_.axes.size());
  shapes.run_input = run_shape(input).value();
  if (flexible_) return shapes;
  for (const Port &output : outputs_) {
    shapes.run_outputs.push_back(output_shape(input_, shapes.run_input, output));
    shapes.outputs.push_back(shapes.run_outputs.back());
    if (shapes.is_filled_up())
      shapes.outputs.back().dimensions.back() = shapes.input.dimensions.back();
  }
  return shapes;
}

NetworkShapes NetworkCaps::shapes(const GstStructure *input) const {
  const TensorList list = parse_tensor_list(input);
  const TensorShape given = list.shapes.size() == 1 ? list.shapes[0] : TensorShape();
  if (!run_shape(given))
    throw Error(Error::Code::settings, model_ + ": its input " + input_.name + " takes " +
                                           text_of(input_) + ", not " + text_of(given));
  return shapes_of(given);
}

NetworkShapes NetworkCaps::smallest(int64_t open) const {
  return shapes_of(with_batch(batches().front(), open));
}

}  // namespace cudatensor
