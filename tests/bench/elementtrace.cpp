// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elementtrace.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>

#ifdef HAVE_CUPTI
#include <cupti.h>
#endif

// ---------------------------------------------------------------------------------- allocations

namespace {
thread_local uint64_t allocated = 0;
}  // namespace

// The program's malloc replaces that of all its libraries.
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  ++allocated;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  ++allocated;
  return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
  ++allocated;
  return __libc_realloc(block, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  ++allocated;
  return __libc_memalign(alignment, size);
}
}

uint64_t allocations() { return allocated; }

thread_local bool inside_element = false;

// ---------------------------------------------------------------------------------------- CUPTI

#ifndef HAVE_CUPTI

Trace::Trace(const std::string &) {
  throw std::runtime_error("this program was built without CUPTI's headers");
}
void Trace::begin() {}
void Trace::end() {}

#else

namespace {

struct Cupti {
  decltype(&cuptiSubscribe) subscribe;
  decltype(&cuptiEnableDomain) enable_domain;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next_record;
};
Cupti cupti;

// Filled by the callbacks, on any thread.
std::mutex mutex;
bool counting = false, collecting = false;
std::map<std::string, Trace::Calls> counted;
std::vector<Trace::Work> records;

void check(CUptiResult result, const char *call) {
  if (result != CUPTI_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with error " + std::to_string(result));
}

template <class Function>
void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(dlerror());
}

void CUPTIAPI on_call(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *data) {
  const auto *call = static_cast<const CUpti_CallbackData *>(data);
  if (call->callbackSite != CUPTI_API_ENTER) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!counting) return;
  Trace::Calls &count = counted[call->functionName];
  ++count.all;
  if (inside_element) ++count.inside;
}

constexpr size_t kBufferSize = 4 << 20;

void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *most_records) {
  *buffer = static_cast<uint8_t *>(__libc_memalign(8, kBufferSize));
  *size = kBufferSize;
  *most_records = 0;
}

template <class Activity>
Trace::Work work_of(const Activity *a, const char *kernel) {
  const bool own = kernel != nullptr && strstr(kernel, "cudatensor") != nullptr;
  return {a->start, a->end, a->streamId, kernel != nullptr, own};
}

void add_kernel(const CUpti_ActivityKernel9 *kernel) {
  records.push_back(work_of(kernel, kernel->name != nullptr ? kernel->name : ""));
}

void CUPTIAPI on_complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(mutex);
  CUpti_Activity *activity = nullptr;
  while (cupti.next_record(buffer, valid, &activity) == CUPTI_SUCCESS) {
    if (!collecting) continue;
    if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      add_kernel(reinterpret_cast<const CUpti_ActivityKernel9 *>(activity));
    else if (activity->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
      records.push_back(
          work_of(reinterpret_cast<const CUpti_ActivityMemcpy5 *>(activity), nullptr));
  }
  free(buffer);
}

}  // namespace

Trace::Trace(const std::string &name) {
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  find(library, "cuptiSubscribe", cupti.subscribe);
  find(library, "cuptiEnableDomain", cupti.enable_domain);
  find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks);
  find(library, "cuptiActivityEnable", cupti.enable);
  find(library, "cuptiActivityFlushAll", cupti.flush);
  find(library, "cuptiActivityGetNextRecord", cupti.next_record);
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cupti.subscribe(&subscriber, on_call, nullptr), "cuptiSubscribe");
  check(cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain");
  check(cupti.register_callbacks(on_request, on_complete), "cuptiActivityRegisterCallbacks");
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY})
    check(cupti.enable(kind), "cuptiActivityEnable");
}

void Trace::begin() {
  check(cupti.flush(0), "cuptiActivityFlushAll");
  const std::lock_guard<std::mutex> lock(mutex);
  counted.clear();
  records.clear();
  counting = collecting = true;
}

void Trace::end() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    counting = false;
  }
  check(cupti.flush(1), "cuptiActivityFlushAll");
  const std::lock_guard<std::mutex> lock(mutex);
  collecting = false;
  calls_ = counted;
  work_ = records;
  std::sort(work_.begin(), work_.end(),
            [](const Work &a, const Work &b) { return a.begin < b.begin; });
}

#endif
