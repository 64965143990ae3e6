// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/cudacontext.h"

#include <algorithm>

#include "gst/cuda/primarycontext.h"
#include "gst/util/log.h"
#include "gst/util/ref.h"
#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

/// Opens the backend and creates an event, which fails if the context is lost.
std::unique_ptr<Backend> open_backend(void *handle) {
  const ContextScope scope(handle);
  auto backend = open_cuda_backend();
  backend->device()->make_event();
  return backend;
}

/// Returns the context in `own`, after requesting one if it is null. Returns null if the context is
/// lost.
CudaContextRef ensure_context(GstElement *element, int device_id, gstcuda::Context **own) {
  if (next_fault() != 0 || !gstcuda::loaded().ensure_element_context(element, device_id, own))
    throw_libgstcuda_error("gst_cuda_ensure_element_context", device_id);
  try {
    return std::make_shared<CudaContext>(*own);
  } catch (const Error &error) {
    if (error.code() != Error::Code::device) throw;
    GST_WARNING_OBJECT(element, "%" GST_PTR_FORMAT " is unusable: %s", *own, error.what());
    return nullptr;
  }
}

/// Creates a context to replace a lost one that the other elements still hold, and publishes it as
/// libgstcuda does.
CudaContextRef replace_context(GstElement *element, int device_id, gstcuda::Context **own) {
  const Ref<gstcuda::Context> fresh(
      next_fault() != 0 ? nullptr : gstcuda::loaded().context_new(std::max(device_id, 0)));
  if (fresh == nullptr) throw_libgstcuda_error("gst_cuda_context_new", device_id);
  replace(*own, fresh.get());
  GstContext *context = gstcuda::loaded().context_new_cuda_context(fresh.get());
  gst_element_set_context(element, context);
  gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), context));
  return std::make_shared<CudaContext>(fresh.get());
}

}  // namespace

CudaContext::CudaContext(gstcuda::Context *shared)
    : shared_(static_cast<gstcuda::Context *>(gst_object_ref(shared))),
      handle_(gstcuda::loaded().context_get_handle(shared)),
      backend_(open_backend(handle_)) {}

CudaContext::CudaContext(int device_id)
    : handle_(primary_context(device_id)), backend_(open_backend(handle_)) {}

void replace(gstcuda::Context *&slot, gstcuda::Context *context) {
  if (context != nullptr) gst_object_ref(context);
  if (slot != nullptr) gst_object_unref(slot);
  slot = context;
}

void throw_libgstcuda_error(const char *function, int device_id) {
  // libgstcuda does not report its error. The same operations in the primary context usually fail
  // with it.
  const ContextScope scope(primary_context(std::max(device_id, 0)));
  open_cuda_backend()->device()->make_stream();
  throw Error(Error::Code::device,
              std::string(function) + " failed; set GST_DEBUG=cuda*:4 to log the cause");
}

CudaContextRef open_primary_context(int device_id) {
  if (gstcuda::library() == nullptr) return std::make_shared<CudaContext>(device_id);
  return std::make_shared<CudaContext>(gstcuda::shared_primary_context(device_id).get());
}

CudaContextRef open_cuda_context(GstElement *element, int device_id, gstcuda::Context **own) {
  check_cuda_device(device_id);
  if (gstcuda::library() == nullptr) return std::make_shared<CudaContext>(std::max(device_id, 0));
  CudaContextRef context = ensure_context(element, device_id, own);
  if (context != nullptr) return context;
  // The context is lost, but neighbors or the application may have replaced it already.
  const int lost_device = device_id_of(*own);
  replace(*own, nullptr);
  context = ensure_context(element, device_id, own);
  return context != nullptr ? context : replace_context(element, lost_device, own);
}

}  // namespace cudatensor
