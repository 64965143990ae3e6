// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures with CUPTI how long kernels, copies and memsets run. A separate library, so that the
// benchmark builds and runs without CUPTI: gpu.sh builds it if CUPTI is found, and the programs
// open it.
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr size_t kBufferSize = size_t{4} << 20;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
std::atomic<uint64_t> nanoseconds{0};  // of all records since the start; added by a thread of CUPTI

template <class Record>
uint64_t duration(const CUpti_Activity *record) {
  const auto *const timed = reinterpret_cast<const Record *>(record);
  return timed->end - timed->start;
}

uint64_t duration_of(const CUpti_Activity *record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return duration<CUpti_ActivityKernel10>(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return duration<CUpti_ActivityMemcpy6>(record);
    case CUPTI_ACTIVITY_KIND_MEMSET: return duration<CUpti_ActivityMemset4>(record);
    default: return 0;
  }
}

void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records) {
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, kBufferSize));
  *size = *buffer ? kBufferSize : 0;
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid) {
  CUpti_Activity *record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    nanoseconds += duration_of(record);
  std::free(buffer);
}

}  // namespace

extern "C" {

/// Returns 0 or CUPTI's error. The GPU must be idle.
int kernel_times_start() {
  static const CUptiResult registered = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  CUptiResult result = registered;
  for (const CUpti_ActivityKind kind : kKinds)
    if (result == CUPTI_SUCCESS) result = cuptiActivityEnable(kind);
  nanoseconds = 0;
  return result;
}

/// Returns the GPU time since the start in microseconds. All work must have ended.
double kernel_times_stop() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : kKinds) cuptiActivityDisable(kind);
  return static_cast<double>(nanoseconds) / 1000.0;
}
}
