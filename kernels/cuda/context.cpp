// SPDX-License-Identifier: LGPL-2.1-or-later
// Contexts, managed with the driver API, because the runtime API supports only primary contexts and
// leaves them current. The driver's functions are looked up at run time, so that the plugin does
// not link to libcuda.
#include "kernels/cuda/context.h"

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "kernels/cuda/call.h"
#include "kernels/error.h"
#include "kernels/immortal.h"

namespace cudatensor {
namespace cuda {
namespace {

struct Driver {
  decltype(&cuCtxPushCurrent) push;
  decltype(&cuCtxPopCurrent) pop;
  decltype(&cuCtxGetCurrent) current;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDevicePrimaryCtxRetain) retain;
};

/// Sets `function` to null if the driver does not provide it in this version.
template <class Function>
void get_entry_point(const char *name, unsigned version, Function &function) {
  void *address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  call("cudaGetDriverEntryPointByVersion", [&] {
    return cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  });
  function = found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(address) : nullptr;
}

template <class Function>
void find(const char *name, Function &function) {
  get_entry_point(name, 11000, function);  // all of these functions are older than this version
  if (function == nullptr) fail(cudaErrorSystemDriverMismatch, name);
}

Driver find_driver() {
  Driver driver = {};
  find("cuCtxPushCurrent", driver.push);
  find("cuCtxPopCurrent", driver.pop);
  find("cuCtxGetCurrent", driver.current);
  find("cuDeviceGet", driver.device_get);
  find("cuDevicePrimaryCtxRetain", driver.retain);
  return driver;
}

const Driver &driver() {
  static const Driver driver = find_driver();
  return driver;
}

/// Calls a function of the driver and checks its result. CUresult and cudaError_t use the same
/// error numbers.
template <class Function, class... Args>
void call_driver(const char *name, Function function, Args... args) {
  call(name, [&] { return static_cast<cudaError_t>(function(args...)); });
}

/// The type of cuCtxRecordEvent(), which exists since 12.5. Older headers do not declare it.
using RecordEvent = CUresult (*)(CUcontext, CUevent);

RecordEvent find_record_event() {
  RecordEvent record = nullptr;
  get_entry_point("cuCtxRecordEvent", 12050, record);
  return record;
}

thread_local int gone = 0;

// Nesting depth of this thread's scopes.
thread_local int depth = 0;
// The number of threads in a scope, and whether the process is exiting.
std::atomic<int> inside{0};
std::atomic<bool> closed{false};

void leave() {
  if (--depth == 0) --inside;
}

/// Enters a scope of the calling thread. Throws if the process exits, unless the thread is in a
/// scope already.
void enter() {
  if (depth++ > 0) return;
  ++inside;
  if (!closed) return;
  leave();
  throw Error(Error::Code::device, "the process is exiting, and CUDA is being shut down");
}

/// Waits for the other threads' scopes, before the runtime and the driver free resources that their
/// calls still use.
void close() {
  constexpr auto kExitTimeout = std::chrono::seconds(2);  // a thread may block in its scope forever
  closed = true;
  const int own = depth > 0 ? 1 : 0;
  const auto end = std::chrono::steady_clock::now() + kExitTimeout;
  while (inside > own && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void register_exit_handler() { [[maybe_unused]] static const int registered = std::atexit(close); }

bool is_context_lost() { return gone > 0; }

bool record_current_context(cudaEvent_t event) {
  static const RecordEvent record = find_record_event();
  CUcontext context = nullptr;
  call_driver("cuCtxGetCurrent", driver().current, &context);
  return record != nullptr && record(context, event) == CUDA_SUCCESS;
}

}  // namespace cuda

ContextScope::ContextScope(void *context) {
  cuda::enter();
  try {
    cuda::call_driver("cuCtxPushCurrent", cuda::driver().push, static_cast<CUcontext>(context));
  } catch (...) {
    cuda::leave();
    throw;
  }
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  cuda::driver().pop(&popped);
  cuda::leave();
}

void *primary_context(int device) {
  static std::mutex mutex;
  static auto &contexts = immortal([] { return std::map<int, CUcontext>(); });
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = contexts.find(device);
  if (known != contexts.end()) return known->second;
  CUdevice number = 0;
  CUcontext context = nullptr;
  cuda::call_driver("cuDeviceGet", cuda::driver().device_get, &number, device);
  cuda::call_driver("cuDevicePrimaryCtxRetain", cuda::driver().retain, &context, number);
  return contexts[device] = context;
}

ContextLostScope::ContextLostScope() { ++cuda::gone; }
ContextLostScope::~ContextLostScope() { --cuda::gone; }

}  // namespace cudatensor
