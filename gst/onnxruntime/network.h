// SPDX-License-Identifier: LGPL-2.1-or-later
// A network: a session of ONNX Runtime with a model, its input and its outputs.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "gst/caps/tensorlist.h"
#include "gst/onnxruntime/provider.h"

namespace cudatensor::ort {

/// An axis of an input or output.
struct Axis {
  int64_t length;      ///< -1: open
  std::string symbol;  ///< the name of an open axis; may be empty

  bool is_open() const { return length < 0; }
};

/// An input or output.
struct Port {
  std::string name;
  ElementType type;
  ElementDataType data_type;  ///< ONNX's type; booleans have the element type uint8
  std::vector<Axis> axes;     ///< outermost first
};

/// Returns type and dimensions as text, innermost first, "float32 640:640:3:batch".
std::string text_of(const Port &port);

struct NetworkOptions {
  std::string model;  ///< the path
  std::vector<std::string>
      outputs;           ///< the names of those wanted; empty: all, in the model's order
  unsigned threads = 0;  ///< 0: as ONNX Runtime chooses
  ProviderOptions provider;
};

class Network {
 public:
  /// Reads the model and makes the session, which may take minutes with TensorRT. Throws an Error
  /// that names the file.
  Network(const Library &library, const NetworkOptions &options);
  Network(const Network &) = delete;
  Network &operator=(const Network &) = delete;

  const Library &library() const { return library_; }
  const NetworkOptions &options() const { return options_; }
  const Port &input() const { return input_; }
  /// The outputs that are wanted, in their order.
  const std::vector<Port> &outputs() const { return outputs_; }

  /// Ends a run that goes on, and all later ones. Any thread.
  void terminate();
  bool is_terminated() const { return terminated_; }

  Session *session() const { return session_.get(); }
  const RunOptions *run_options() const { return run_options_.get(); }

 private:
  void open_session();
  void read_ports();

  const Library &library_;
  const NetworkOptions options_;
  Owned<Session> session_;
  Owned<RunOptions> run_options_;
  Port input_;
  std::vector<Port> outputs_;
  std::atomic<bool> terminated_{false};
};

}  // namespace cudatensor::ort
