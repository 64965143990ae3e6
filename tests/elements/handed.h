// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors on their way from a pipeline to a consumer.
#pragma once

#include <gstcudatensor.h>

#include <atomic>
#include <memory>

#include "gst/library/dlpack.h"
#include "pipeline.h"
#include "refs.h"

namespace cudatensor {

struct UnrefTensor {
  void operator()(GstCudaTensor *tensor) const { gst_cuda_tensor_unref(tensor); }
};
using TensorRef = std::unique_ptr<GstCudaTensor, UnrefTensor>;

using SampleRef = Ref<GstSample>;

/// One of DLPack's forms in a consumer's hands.
template <class Managed>
struct Delete {
  void operator()(Managed *managed) const { managed->deleter(managed); }
};
using Legacy = std::unique_ptr<DLManagedTensor, Delete<DLManagedTensor>>;
using Versioned = std::unique_ptr<DLManagedTensorVersioned, Delete<DLManagedTensorVersioned>>;

/// The error of a call that must fail.
class Refusal {
 public:
  Refusal() = default;
  ~Refusal() { g_clear_error(&error_); }
  Refusal(const Refusal &) = delete;
  Refusal &operator=(const Refusal &) = delete;

  /// Returns the location of the error for the call.
  GError **into() { return &error_; }
  /// Checks that the error is the library's, has this code, and names the cause.
  testing::AssertionResult is(GstCudaTensorError code, const std::string &cause) const;

 private:
  GError *error_ = nullptr;
};

// Return null, and fail the test, if the library refuses.
TensorRef tensor_of(GstBuffer *buffer, const std::string &caps);
TensorRef tensor_of(GstSample *sample);
Legacy to_dlpack(GstCudaTensor *tensor, gpointer stream = nullptr,
                 GstCudaTensorAcquireFlags flags = GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE);
Versioned to_versioned(GstCudaTensor *tensor, gpointer stream = nullptr,
                       GstCudaTensorAcquireFlags flags = GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE);

/// A pipeline "videotestsrc ! … ! appsink" that returns one sample after the other.
class Camera {
 public:
  /// Does not start the pipeline. `elements` are those between source and sink; a caps filter may
  /// be the last.
  explicit Camera(const std::string &elements);

  Pipeline &pipeline() { return pipeline_; }
  GstElement *get() const { return pipeline_.get(); }
  /// Returns null at the end, or if no sample comes.
  SampleRef pull();

 private:
  Pipeline pipeline_;
  ElementRef sink_;
};

/// Watches whether a buffer is freed, which releasing the last reference does without an active
/// pool.
class Watch {
 public:
  explicit Watch(GstBuffer *buffer);

  bool is_gone() const { return *gone_; }
  /// Waits for the buffer to be freed. Returns whether it was.
  bool goes() const;

 private:
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace cudatensor
