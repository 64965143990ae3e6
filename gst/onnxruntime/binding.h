// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs of a network with its input and outputs in memory of the caller, so that nothing is copied.
#pragma once

#include <vector>

#include "gst/onnxruntime/network.h"

namespace cudatensor::ort {

/// One caller at a time uses a binding.
class Binding {
 public:
  /// The input lies in memory of the provider. So do the outputs, unless `outputs_on_host`. `network`
  /// must outlive it. Throws Error.
  Binding(Network &network, bool outputs_on_host);

  /// Binds memory of the size of a shape, until the next call. Throw Error.
  void bind_input(const TensorShape &shape, void *data);
  void bind_output(size_t i, const TensorShape &shape, void *data);
  /// Lets ONNX Runtime allocate an output of a shape that is not known.
  void bind_open_output(size_t i);

  /// Runs the network. On a GPU, queues the work on the session's stream. Throws an Error with ONNX
  /// Runtime's words, also if Network::terminate() was called.
  void run();

  struct Result {
    TensorShape shape;
    const void *data;
  };
  /// Returns what the outputs are after a run. Valid until the next run.
  std::vector<Result> results();
  /// Lets go of all memory.
  void clear();

 private:
  Owned<Value> value_of(const MemoryInfo *memory, const Port &port, const TensorShape &shape,
                        void *data) const;

  Network &network_;
  const Api &api_;
  Owned<IoBinding> binding_;
  Owned<MemoryInfo> input_memory_, output_memory_;
  std::vector<Owned<Value>> values_;  // those of the last run
};

}  // namespace cudatensor::ort
