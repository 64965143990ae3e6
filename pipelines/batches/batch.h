// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch of tensors for use on the application's own stream.
#pragma once

#include <dlpack/dlpack.h>
#include <gstcudatensor.h>

#include <memory>
#include <vector>

#include "batches/stream.h"

class Batch {
 public:
  /// Takes the sample. Work that is queued on the stream from now on waits for the batch; the CPU
  /// does not. The stream must outlive the batch.
  Batch(GstSample *sample, Stream &stream);

  /// Returns the tensor, for example for gst_cuda_tensor_get_slot().
  GstCudaTensor *tensor() const { return tensor_.get(); }
  const DLTensor &dlpack() const { return export_->dl_tensor; }

 private:
  struct Release {
    void operator()(GstCudaTensor *tensor) const { gst_cuda_tensor_unref(tensor); }
    // The memory returns to its pool when the stream has executed the work queued before.
    void operator()(DLManagedTensor *batch) const { batch->deleter(batch); }
  };
  std::unique_ptr<GstCudaTensor, Release> tensor_;
  std::unique_ptr<DLManagedTensor, Release> export_;
};

/// Returns the center pixel of the first channel of each slot. Stands in for a network: queues its
/// work on the stream and waits only for that stream. Throws if the tensor is not float32 in NCHW.
std::vector<float> center_pixels(const DLTensor &batch, Stream &stream);
