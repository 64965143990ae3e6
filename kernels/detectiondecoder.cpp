// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/detectiondecoder.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr int64_t kMostEnd2endBoxes = 1000;

using Outputs = std::vector<NamedOutput>;
using Shape = std::vector<int64_t>;
using Indices = std::vector<size_t>;

std::string text_of(const Outputs &outputs) {
  std::string text;
  for (const NamedOutput &output : outputs)
    text += (text.empty() ? "" : ", ") + (output.name.empty() ? "" : output.name + " ") +
            text_of(output.desc);
  return text;
}

[[noreturn]] void refuse(const Outputs &outputs, const std::string &reason) {
  throw Error(Error::Code::settings, reason + "; the outputs are " + text_of(outputs));
}

[[noreturn]] void refuse_auto(const Outputs &outputs) {
  refuse(outputs, "decoder=auto does not know the network: set decoder");
}

// ------------------------------------------------------------------------------------- names

enum class Role : uint8_t { none, boxes, logits, classes, scores, count };

Role role_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](const char *word) { return name.find(word) != std::string::npos; };
  if (has("box")) return Role::boxes;
  if (has("logit")) return Role::logits;
  if (has("class") || has("label")) return Role::classes;
  if (has("score")) return Role::scores;
  if (has("num") || has("count") || has("valid")) return Role::count;
  return Role::none;
}

/// Returns the outputs with these roles; none unless each role has one output, and no output is
/// left over.
std::optional<Indices> by_names(const Outputs &outputs, const std::vector<Role> &roles) {
  if (outputs.size() != roles.size()) return std::nullopt;
  Indices found;
  for (const Role role : roles)
    for (size_t i = 0; i < outputs.size(); ++i)
      if (role_of(outputs[i].name) == role) found.push_back(i);
  Indices sorted = found;
  std::sort(sorted.begin(), sorted.end());
  const bool each_once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (found.size() != roles.size() || !each_once) return std::nullopt;
  for (size_t i = 0; i < roles.size(); ++i)
    if (role_of(outputs[found[i]].name) != roles[i]) return std::nullopt;
  return found;
}

std::vector<Role> ssd_roles(size_t count) {
  std::vector<Role> roles = {Role::boxes, Role::classes, Role::scores};
  if (count == 4) roles.push_back(Role::count);
  return roles;
}

bool has_ssd_names(const Outputs &outputs) {
  return (outputs.size() == 3 || outputs.size() == 4) &&
         by_names(outputs, ssd_roles(outputs.size()));
}

// ------------------------------------------------------------------------------------ shapes

/// Returns the shape with `rank` axes: axes of 1 in front are added or removed, as NNStreamer's
/// fixed number of axes and networks without a batch need it.
Shape with_rank(Shape shape, size_t rank) {
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() + 1 == rank) shape.insert(shape.begin(), 1);
  return shape;
}

bool is_boxes(const OutputDesc &desc) { return desc.shape.size() >= 2 && desc.shape.back() == 4; }

bool is_integer(OutputType type) {
  return type != OutputType::float32 && type != OutputType::float16;
}

Indices in_order(size_t count) {
  Indices all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

/// Returns logits and boxes: by name, by the one that ends in 4, or in this order.
Indices detr_outputs(const Outputs &outputs) {
  for (const Role role : {Role::logits, Role::classes, Role::scores})
    if (const auto found = by_names(outputs, {role, Role::boxes})) return *found;
  if (outputs.size() == 2 && is_boxes(outputs[0].desc) && !is_boxes(outputs[1].desc)) return {1, 0};
  return in_order(outputs.size());
}

/// Returns boxes, classes, scores and count: by name, by shape, or in this order.
Indices ssd_outputs(const Outputs &outputs) {
  const size_t count = outputs.size();
  if (count != 3 && count != 4) return in_order(count);
  if (const auto found = by_names(outputs, ssd_roles(count))) return *found;
  Indices boxes, counts, rest;
  for (size_t i = 0; i < count; ++i) {
    const Shape &shape = outputs[i].desc.shape;
    if (is_boxes(outputs[i].desc))
      boxes.push_back(i);
    else if (count == 4 && shape.size() <= 1)
      counts.push_back(i);
    else
      rest.push_back(i);
  }
  if (boxes.size() != 1 || counts.size() != count - 3 || rest.size() != 2) return in_order(count);
  const bool swapped =
      is_integer(outputs[rest[1]].desc.type) && !is_integer(outputs[rest[0]].desc.type);
  if (swapped) std::swap(rest[0], rest[1]);
  Indices found = {boxes[0], rest[0], rest[1]};
  found.insert(found.end(), counts.begin(), counts.end());
  return found;
}

Indices outputs_of(Decoder decoder, const Outputs &outputs) {
  if (decoder == Decoder::detr || decoder == Decoder::detr_softmax) return detr_outputs(outputs);
  return decoder == Decoder::ssd ? ssd_outputs(outputs) : in_order(outputs.size());
}

/// Returns the number of axes of an output of a decoder.
size_t rank_of(Decoder decoder, size_t output) {
  if (decoder == Decoder::scores || decoder == Decoder::probabilities) return 2;
  if (decoder != Decoder::ssd || output == 0) return 3;
  return output == 3 ? 1 : 2;
}

// -------------------------------------------------------------------------------------- auto

bool is_end2end(const Shape &shape) {
  return shape.size() == 3 && shape[2] == 6 && shape[1] <= kMostEnd2endBoxes;
}

/// Returns the decoder of one output.
std::optional<Decoder> by_shape(const Shape &given) {
  const Shape shape = given.size() > 3 ? with_rank(given, 3) : given;
  if (shape.size() == 2) return Decoder::scores;
  if (is_end2end(shape)) return Decoder::end2end;
  if (shape.size() != 3) return std::nullopt;
  if (shape[1] < shape[2] && shape[1] >= 5) return Decoder::yolo;
  if (shape[1] > shape[2] && shape[2] >= 6) return Decoder::yolov5;
  return std::nullopt;
}

/// Returns the decoder of a model of Ultralytics.
Decoder by_task(const Outputs &outputs, const ModelTask &task) {
  if (task.task == "classify") return Decoder::probabilities;
  if (task.task != "detect")
    refuse(outputs, "decoder=auto does not decode the model's task " + task.task);
  // An export with nms=True selects boxes, too, but its network is not end-to-end.
  const bool has_shape = outputs.size() == 1 && is_end2end(with_rank(outputs[0].desc.shape, 3));
  return has_shape || task.end2end.value_or(false) ? Decoder::end2end : Decoder::yolo;
}

Decoder find_decoder(const Outputs &outputs, const ModelTask &task) {
  if (!task.task.empty()) return by_task(outputs, task);
  if (outputs.size() == 2 && is_boxes(outputs[0].desc) != is_boxes(outputs[1].desc))
    return Decoder::detr;
  if (has_ssd_names(outputs)) return Decoder::ssd;
  const auto found = outputs.size() == 1 ? by_shape(outputs[0].desc.shape) : std::nullopt;
  if (!found) refuse_auto(outputs);
  return *found;
}

}  // namespace

const char *name_of(Decoder decoder) {
  switch (decoder) {
    case Decoder::yolo: return "yolo";
    case Decoder::yolov5: return "yolov5";
    case Decoder::end2end: return "end2end";
    case Decoder::detr: return "detr";
    case Decoder::detr_softmax: return "detr-softmax";
    case Decoder::ssd: return "ssd";
    case Decoder::scores: return "scores";
    case Decoder::probabilities: break;
  }
  return "probabilities";
}

DecoderChoice choose_decoder(std::optional<Decoder> decoder, const Outputs &outputs,
                             const ModelTask &task) {
  DecoderChoice choice = {decoder ? *decoder : find_decoder(outputs, task), {}, {}};
  choice.outputs = outputs_of(choice.decoder, outputs);
  for (size_t i = 0; i < choice.outputs.size(); ++i) {
    OutputDesc desc = outputs[choice.outputs[i]].desc;
    desc.shape = with_rank(desc.shape, rank_of(choice.decoder, i));
    choice.descs.push_back(std::move(desc));
  }
  return choice;
}

}  // namespace cudatensor
