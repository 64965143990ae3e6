// SPDX-License-Identifier: LGPL-2.1-or-later
// The destructor of the Python package's DLPack capsules that no consumer has taken. It cannot be
// written in Python, because a consumer that rejects a tensor destroys the capsule while its
// exception is set.
#include "gst/library/dlpack.h"
#include "gst/library/gstcudatensor.h"

namespace {

GstCudaTensorPythonApi python;

/// Returns the struct in a capsule of this name. Returns null for other names, because a consumer
/// that takes the struct renames the capsule.
template <class Managed>
Managed *held_in(gpointer capsule, const char *name) {
  if (!python.capsule_is_valid(capsule, name)) return nullptr;
  return static_cast<Managed *>(python.capsule_get_pointer(capsule, name));
}

template <class Managed>
void let_go(Managed *managed) {
  if (managed != nullptr) managed->deleter(managed);
}

void destroy(gpointer capsule) {
  auto *const legacy = held_in<DLManagedTensor>(capsule, "dltensor");
  auto *const versioned = held_in<DLManagedTensorVersioned>(capsule, "dltensor_versioned");
  gpointer type, value, traceback;
  python.error_fetch(&type, &value, &traceback);
  // Releasing the buffer may call code that waits for the interpreter lock.
  const gpointer thread = python.save_thread();
  let_go(legacy);
  let_go(versioned);
  python.restore_thread(thread);
  python.error_restore(type, value, traceback);
}

}  // namespace

GstCudaTensorPythonDestructor gst_cuda_tensor_python_capsule_destructor(
    const GstCudaTensorPythonApi *api) {
  g_return_val_if_fail(api != nullptr, nullptr);
  python = *api;
  return destroy;
}
