// SPDX-License-Identifier: LGPL-2.1-or-later
// Which decoder the outputs of a network need, and which output is which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/detections.h"

namespace cudatensor {

constexpr Decoder kDecoders[] = {Decoder::yolo,   Decoder::yolov5,       Decoder::end2end,
                                 Decoder::detr,   Decoder::detr_softmax, Decoder::ssd,
                                 Decoder::scores, Decoder::probabilities};

/// Returns the decoder's name, such as "detr-softmax".
const char *name_of(Decoder decoder);

struct NamedOutput {
  std::string name;  ///< empty if it is not known
  OutputDesc desc;
};

/// What the metadata of a model tells; empty without metadata.
struct ModelTask {
  std::string task;             ///< of Ultralytics: "detect", "classify", …
  std::optional<bool> end2end;  ///< whether the network has its own selection of boxes
};

struct DecoderChoice {
  Decoder decoder;
  std::vector<size_t> outputs;    ///< indices of the network's outputs, in the decoder's order
  std::vector<OutputDesc> descs;  ///< of these outputs, with the decoder's number of axes
};

/// Assigns the outputs to a decoder; without one, to that which `task` or else the shapes tell.
/// Throws Error::settings if that is not certain.
DecoderChoice choose_decoder(std::optional<Decoder> decoder,
                             const std::vector<NamedOutput> &outputs, const ModelTask &task = {});

}  // namespace cudatensor
