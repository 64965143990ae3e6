// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps of a network: which tensors it takes, and which ones it makes of them.
#pragma once

#include <optional>
#include <vector>

#include "gst/onnxruntime/network.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// The shapes of one buffer.
struct NetworkShapes {
  TensorShape input;                 ///< in the buffer
  TensorShape run_input;             ///< as the network takes it: a fixed batch may be larger
  std::vector<TensorShape> outputs;  ///< in the buffers; empty if they are not known
  std::vector<TensorShape> run_outputs;

  bool is_known() const { return !outputs.empty(); }
  /// Whether the network's batch is larger than the buffer's: the missing slots are zeros.
  bool is_filled_up() const { return input != run_input; }
};

class NetworkCaps {
 public:
  /// `model`: the name of the file, for errors. An output without axes is a scalar, if
  /// `scalars_are_known`; otherwise it may be of any shape.
  NetworkCaps(std::string model, ort::Port input, std::vector<ort::Port> outputs,
              bool scalars_are_known);

  /// Whether the shapes of the outputs depend on the data: their caps are format=flexible.
  bool is_flexible() const { return flexible_; }
  /// Whether an output has no axes in the model.
  bool has_outputs_without_axes() const;
  /// The layout of pictures, "nchw" or "nhwc"; null if the input is none.
  const char *layout() const { return layout_; }

  /// Returns the caps of the input, with the framerate of `other`.
  GstCaps *sink(const GstStructure *other) const;
  /// Returns the caps of the outputs for caps of the input, which may be of several shapes.
  GstCaps *src(const GstStructure *input) const;

  /// Returns the shapes for fixed caps of the input. Throws an Error that names the file, the input
  /// and both shapes.
  NetworkShapes shapes(const GstStructure *input) const;
  /// Returns the shapes for the first input that the caps list, with open axes of `open`.
  NetworkShapes smallest(int64_t open) const;

 private:
  bool is_fixed_batch() const;
  bool has_open_size() const;
  bool can_be_cut() const;
  std::optional<TensorShape> run_shape(const TensorShape &input) const;
  std::vector<int64_t> batches() const;
  TensorShape with_batch(int64_t batch, int64_t open) const;
  NetworkShapes shapes_of(const TensorShape &input) const;
  GstStructure *output_structure(const std::vector<TensorShape> &shapes,
                                 const GstStructure *other) const;

  std::string model_;
  ort::Port input_;
  std::vector<ort::Port> outputs_;
  const char *layout_;
  bool flexible_;
};

}  // namespace cudatensor
