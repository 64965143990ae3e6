// SPDX-License-Identifier: LGPL-2.1-or-later
#include "batches/batch.h"

#include "batches/failure.h"

Batch::Batch(GstSample *sample, Stream &stream) {
  GError *error = nullptr;
  tensor_.reset(gst_cuda_tensor_new_from_sample(sample, &error));
  gst_sample_unref(sample);
  if (tensor_ == nullptr) fail("cannot read a batch", error);
  const bool on_gpu = gst_cuda_tensor_get_device_type(tensor()) == GST_CUDA_TENSOR_DEVICE_TYPE_CUDA;
  export_.reset(gst_cuda_tensor_to_dlpack(tensor(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                          on_gpu ? stream.handle() : nullptr, &error));
  if (export_ == nullptr) fail("cannot read a batch", error);
}

std::vector<float> center_pixels(const DLTensor &batch, Stream &stream) {
  if (batch.ndim != 4 || batch.dtype.code != kDLFloat || batch.dtype.bits != 32)
    fail("the network needs a float32 tensor in the layout NCHW");
  const int64_t *shape = batch.shape, channel = shape[2] * shape[3];
  std::vector<float> pixels(static_cast<size_t>(shape[0]));
  const float *middle = static_cast<const float *>(batch.data) + (channel + shape[3]) / 2;
  for (float &pixel : pixels) {
    stream.copy(&pixel, middle, sizeof pixel);
    middle += shape[1] * channel;
  }
  stream.wait();
  return pixels;
}
