// SPDX-License-Identifier: LGPL-2.1-or-later
// A session in a device's primary context, for software that works there and nowhere else, such as
// ONNX Runtime's CUDA provider. The context is offered to the element's neighbors.
#pragma once

#include <memory>
#include <string>

#include "gst/base/framepass.h"
#include "gst/caps/tensorlist.h"
#include "gst/cuda/cudasession.h"

namespace cudatensor {

class PrimarySession {
 public:
  /// Opens the session on a device, -1 = the first one, and offers its context. Throws Error.
  PrimarySession(GstElement *element, int device);
  ~PrimarySession();

  DeviceSession &session() const { return *session_; }
  /// Waits for all work queued on its stream.
  void synchronize() const { session_->device().synchronize(stream()); }
  int device() const { return device_; }
  /// The stream of all its work.
  Stream stream() const { return session_->handle_of(session_->stream()); }
  /// Whether neighbors can use its memory.
  bool is_shared() const { return session_->is_shared(); }
  /// Answers a neighbor's query of its context. Returns whether the query was answered.
  bool handle_context_query(GstElement *element, GstQuery *query) const;

 private:
  int device_;
  std::unique_ptr<CudaSession> session_;
};

/// The input of a network on a device: memory that its stream reads, until the end of the scope.
class DeviceInput {
 public:
  /// Copies the input to the device unless it lies there, in the session's context. Throws Error.
  DeviceInput(PrimarySession &owner, const TensorShape &shape, GstBuffer *buffer);
  /// Keeps the input until the work that was queued so far has read it. Throws Error.
  void finish();

  const void *data() const { return data_; }

 private:
  PrimarySession &owner_;
  FramePass pass_;
  size_t input_;
  TensorMap map_;
  const void *data_;
};

/// Whether a buffer lies in memory of a GPU, but of another context.
bool is_in_other_context(const PrimarySession &session, GstBuffer *buffer);

}  // namespace cudatensor
