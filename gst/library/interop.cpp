// SPDX-License-Identifier: LGPL-2.1-or-later
// Acquiring and releasing tensors, and their export as DLPack.
#include "gst/library/dlpack.h"
#include "gst/library/libraryerror.h"
#include "gst/library/tensor.h"

namespace cudatensor {
namespace {

void *const kLegacyDefaultStream = reinterpret_cast<void *>(1);
void *const kPerThreadDefaultStream = reinterpret_cast<void *>(2);

void check_context(const CudaLocation &place, GstCudaTensorAcquireFlags flags) {
  if ((flags & GST_CUDA_TENSOR_ACQUIRE_FLAG_ANY_CONTEXT) != 0 || is_primary(place)) return;
  throw LibraryError(
      GST_CUDA_TENSOR_ERROR_CONTEXT,
      "the tensor is in a CUDA context that GStreamer created, which the consumer's CUDA "
      "runtime cannot access: call gst_cuda_tensor_share_primary_context() for the "
      "pipeline before it starts, or pass GST_CUDA_TENSOR_ACQUIRE_FLAG_ANY_CONTEXT if "
      "the consumer works in that context");
}

void acquire(GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags, void *stream) {
  const auto &place = tensor->buffer.cuda();
  if (place) {
    check_context(*place, flags);
    if (stream != GST_CUDA_TENSOR_NO_STREAM) make_consumer_wait(*place, {stream});
  }
  gst_cuda_tensor_ref(tensor);
}

/// Returns the consumer's stream if it is known to exist. Returns no value if it may have been
/// destroyed, or if it is the per-thread default stream, which differs between threads.
std::optional<Stream> remaining_stream(GstCudaTensorAcquireFlags flags, void *stream) {
  if (stream == nullptr || stream == kLegacyDefaultStream) return Stream{stream};
  const bool is_transient = (flags & GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM) != 0;
  if (is_transient || stream == kPerThreadDefaultStream) return std::nullopt;
  return Stream{stream};
}

void release(GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags, void *stream) {
  const auto &place = tensor->buffer.cuda();
  if (!place || stream == GST_CUDA_TENSOR_NO_STREAM) return gst_cuda_tensor_unref(tensor);
  release_after(*place, remaining_stream(flags, stream),
                [tensor] { gst_cuda_tensor_unref(tensor); });
}

/// `Managed` is DLManagedTensor or DLManagedTensorVersioned.
template <class Managed>
struct Export {
  Managed managed;  // must be first, so that it has the address of the Export
  GstCudaTensor *tensor;
  GstCudaTensorAcquireFlags flags;
  void *stream;
};

template <class Managed>
void delete_export(Managed *managed) {
  auto *self = static_cast<Export<Managed> *>(managed->manager_ctx);
  release(self->tensor, self->flags, self->stream);
  delete self;
}

DLTensor describe(GstCudaTensor *tensor) {
  const DenseLayout &layout = tensor->layout;
  DLTensor dl = {};
  dl.data = tensor->buffer.data();
  dl.device = {gst_cuda_tensor_get_device_type(tensor), gst_cuda_tensor_get_device_id(tensor)};
  dl.ndim = static_cast<int32_t>(layout.n_dims);
  dl.dtype = {layout.type->code, layout.type->bits, 1};
  // Consumers do not write to shape and strides; DLPack has no const members.
  dl.shape = const_cast<int64_t *>(layout.shape.data());
  dl.strides = const_cast<int64_t *>(layout.strides.data());
  return dl;
}

template <class Managed>
Managed *make_export(GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags, void *stream) {
  acquire(tensor, flags, stream);
  auto *self = new Export<Managed>{{}, tensor, flags, stream};
  self->managed.dl_tensor = describe(tensor);
  self->managed.manager_ctx = self;
  self->managed.deleter = delete_export<Managed>;
  return &self->managed;
}

}  // namespace
}  // namespace cudatensor

using namespace cudatensor;

gboolean gst_cuda_tensor_acquire(GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags,
                                 gpointer stream, GError **error) {
  g_return_val_if_fail(tensor != nullptr, FALSE);
  return caught(error, [&] {
    acquire(tensor, flags, stream);
    return TRUE;
  });
}

void gst_cuda_tensor_release(GstCudaTensor *tensor, gpointer stream) {
  g_return_if_fail(tensor != nullptr);
  release(tensor, GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, stream);
}

DLManagedTensor *gst_cuda_tensor_to_dlpack(GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags,
                                           gpointer stream, GError **error) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return caught(error, [&] { return make_export<DLManagedTensor>(tensor, flags, stream); });
}

DLManagedTensorVersioned *gst_cuda_tensor_to_dlpack_versioned(GstCudaTensor *tensor,
                                                              GstCudaTensorAcquireFlags flags,
                                                              gpointer stream, GError **error) {
  g_return_val_if_fail(tensor != nullptr, nullptr);
  return caught(error, [&] {
    const bool read_only = gst_cuda_tensor_is_read_only(tensor);
    auto *managed = make_export<DLManagedTensorVersioned>(tensor, flags, stream);
    managed->version = {1, 0};
    managed->flags = read_only ? kDLReadOnly : 0;
    return managed;
  });
}
