// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs of a network from buffer to buffer, on the host or on a GPU.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

#include "gst/base/primarysession.h"
#include "gst/elements/networkcaps.h"
#include "gst/onnxruntime/binding.h"

namespace cudatensor {

/// Used by one thread at a time, within the scope of its session.
class NetworkRunner {
 public:
  /// `session`: that of a network on a GPU, otherwise null. Both must outlive it.
  NetworkRunner(ort::Network &network, PrimarySession *session)
      : network_(network), session_(session) {}

  /// Begins with buffers of these shapes. Outputs of unknown shapes are on the host. Throws Error.
  void begin(const NetworkShapes &shapes, bool outputs_on_host);
  /// Runs the network on zeros, and returns the shapes of the outputs. Throws Error.
  std::vector<TensorShape> run_on_zeros(const TensorShape &input);
  void warm_up() { run_on_zeros(shapes_.run_input); }

  /// Runs the network. Fills the memories of `out`, or adds them if their shapes were not known.
  /// Throws Error.
  void run(GstBuffer *in, GstBuffer *out);
  /// Waits for queued work, and frees all memory.
  void end();

 private:
  void run_on_host(GstBuffer *in, GstBuffer *out);
  void run_on_gpu(GstBuffer *in, GstBuffer *out);
  void run_bound(GstBuffer *out);
  void append_results(GstBuffer *out);
  void *filled_up(const void *data);
  std::unique_ptr<Memory> device_zeros(gsize size) const;
  void synchronize() const;
  void copy_to_device(void *to, const void *from, gsize size) const;
  bool has_stream_of_outputs(GstBuffer *out) const;

  ort::Network &network_;
  PrimarySession *session_;
  NetworkShapes shapes_;
  bool outputs_on_host_ = true;
  std::unique_ptr<ort::Binding> binding_;
  // The input with zeros in the slots that a buffer does not have.
  std::vector<uint8_t> host_input_;
  std::unique_ptr<Memory> device_input_;
};

}  // namespace cudatensor
