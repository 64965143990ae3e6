// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cuda/primarycontext.h"

#include <map>
#include <mutex>

#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/fault.h"
#include "kernels/immortal.h"

namespace cudatensor::gstcuda {
namespace {

Ref<Context> wrap_primary_context(int device) {
  void *handle = primary_context(device);
  Ref<Context> context(next_fault() != 0 ? nullptr : loaded().context_new_wrapped(handle, device));
  if (context == nullptr)
    throw Error(Error::Code::device,
                "gst_cuda_context_new_wrapped failed; set GST_DEBUG=cuda*:4 to log the cause");
  return context;
}

}  // namespace

Ref<Context> shared_primary_context(int device) {
  static std::mutex mutex;
  static auto &known = immortal([] { return std::map<int, GWeakRef>(); });
  const std::lock_guard<std::mutex> lock(mutex);
  GWeakRef &weak = known[device];
  Ref<Context> context(static_cast<Context *>(g_weak_ref_get(&weak)));
  if (context == nullptr) {
    context = wrap_primary_context(device);
    g_weak_ref_set(&weak, context.get());
  }
  return context;
}

}  // namespace cudatensor::gstcuda
