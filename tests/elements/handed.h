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

  /// For the call.
  GError **into() { return &error_; }
  /// Whether it is the library's, and says what is wrong.
  testing::AssertionResult is(GstCudaTensorError code, const std::string &cause) const;

 private:
  GError *error_ = nullptr;
};

// Null, and a failure of the test, where the library refuses.
TensorRef tensor_of(GstBuffer *buffer, const std::string &caps);
TensorRef tensor_of(GstSample *sample);
Legacy to_dlpack(GstCudaTensor *tensor, gpointer stream = nullptr,
                 GstCudaTensorAcquireFlags flags = GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE);
Versioned to_versioned(GstCudaTensor *tensor, gpointer stream = nullptr,
                       GstCudaTensorAcquireFlags flags = GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE);

/// "videotestsrc ! …" with an appsink behind, one sample after the other.
class Camera {
 public:
  /// Does not start. The elements between source and sink, which may end with a caps filter.
  explicit Camera(const std::string &elements);

  Pipeline &pipeline() { return pipeline_; }
  GstElement *get() const { return pipeline_.get(); }
  /// Null at the end, or where nothing comes.
  SampleRef pull();

 private:
  Pipeline pipeline_;
  ElementRef sink_;
};

/// Whether a buffer has been freed, as the last reference does to one that has no active pool.
class Watch {
 public:
  explicit Watch(GstBuffer *buffer);

  bool is_gone() const { return *gone_; }
  /// Waits for it.
  bool goes() const;

 private:
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace cudatensor
