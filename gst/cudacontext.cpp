// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cudacontext.h"

#include <vector>

#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
namespace {

[[noreturn]] void fail(const char *call) {
  throw Error(Error::Code::device,
              std::string(call) +
                  " failed: the CUDA context may be lost, or the driver out of memory; set the "
                  "pipeline to NULL and start it again (GST_DEBUG=cuda*:4 says more)");
}

struct UnrefObject {
  void operator()(gpointer object) const { gst_object_unref(object); }
};

class SharedContext final : public CudaContext {
 public:
  explicit SharedContext(gstcuda::Context *context)
      : CudaContext(device_id_of(context)),
        context_(static_cast<gstcuda::Context *>(gst_object_ref(context))) {
    open_backend();
  }

  void enter() override {
    if (next_fault() != 0 || !gstcuda::loaded().context_push(context_.get()))
      fail("gst_cuda_context_push");
  }
  void leave() noexcept override { gstcuda::loaded().context_pop(nullptr); }
  gstcuda::Context *shared() const override { return context_.get(); }

 private:
  std::unique_ptr<gstcuda::Context, UnrefObject> context_;
};

class PrimaryContext final : public CudaContext {
 public:
  explicit PrimaryContext(int device_id) : CudaContext(device_id) { open_backend(); }

  void enter() override { entered().push_back(std::make_unique<PrimaryContextScope>(device_id())); }
  void leave() noexcept override { entered().pop_back(); }

 private:
  /// Of this thread.
  static std::vector<std::unique_ptr<PrimaryContextScope>> &entered() {
    static thread_local std::vector<std::unique_ptr<PrimaryContextScope>> scopes;
    return scopes;
  }
};

/// An error that sticks to a context outlives the pipeline that met it.
bool is_lost(gstcuda::Context *context) {
  try {
    const CudaContextRef wrapped = wrap_cuda_context(context);
    const CudaScope scope(wrapped);
    wrapped->device().make_event();
    return false;
  } catch (const Error &error) {
    GST_WARNING("%" GST_PTR_FORMAT " is unusable: %s", context, error.what());
    return true;
  }
}

}  // namespace

void CudaContext::open_backend() {
  enter();
  try {
    backend_ = open_cuda_backend();
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

void replace(gstcuda::Context *&slot, gstcuda::Context *context) {
  if (context != nullptr) gst_object_ref(context);
  if (slot != nullptr) gst_object_unref(slot);
  slot = context;
}

int device_id_of(gstcuda::Context *context) {
  guint id = 0;
  g_object_get(context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

CudaContextRef open_cuda_context(GstElement *element, int device_id, gstcuda::Context **own) {
  check_cuda_device(device_id);
  const gstcuda::Library *library = gstcuda::library();
  if (library == nullptr) return std::make_shared<PrimaryContext>(std::max(device_id, 0));
  if (next_fault() != 0 || !library->ensure_element_context(element, device_id, own))
    fail("gst_cuda_ensure_element_context");
  if (is_lost(*own)) {
    replace(*own, nullptr);
    *own = library->context_new(std::max(device_id, 0));
    if (*own == nullptr) fail("gst_cuda_context_new");
  }
  return wrap_cuda_context(*own);
}

CudaContextRef wrap_cuda_context(gstcuda::Context *context) {
  return std::make_shared<SharedContext>(context);
}

}  // namespace cudatensor
