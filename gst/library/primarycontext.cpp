// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/primarycontext.h"

#include "gst/library/cudaorder.h"
#include "gst/library/libraryerror.h"
#include "gst/util/ref.h"

namespace cudatensor {
namespace {

void check_stopped(GstElement *element) {
  const bool stopped = locked(element, [&] {
    return GST_STATE(element) == GST_STATE_NULL &&
           GST_STATE_PENDING(element) == GST_STATE_VOID_PENDING;
  });
  if (stopped) return;
  throw LibraryError(
      GST_CUDA_TENSOR_ERROR_STATE,
      std::string(GST_ELEMENT_NAME(element)) +
          " has started, so its elements may already have a CUDA context: set it to NULL first");
}

void share_primary_context(GstElement *element, int device) {
  const gstcuda::Library &library = require_library();
  if (device < 0)
    throw Error(Error::Code::not_found, "there is no CUDA device " + std::to_string(device));
  check_cuda_device(device);
  check_stopped(element);
  const Ref<gstcuda::Context> context = gstcuda::shared_primary_context(device);
  GstContext *message = library.context_new_cuda_context(context.get());
  gst_element_set_context(element, message);
  gst_context_unref(message);
}

}  // namespace
}  // namespace cudatensor

gboolean gst_cuda_tensor_share_primary_context(GstElement *element, gint device_id,
                                               GError **error) {
  g_return_val_if_fail(GST_IS_ELEMENT(element), FALSE);
  return cudatensor::caught(error, [&] {
    cudatensor::share_primary_context(element, device_id);
    return TRUE;
  });
}
