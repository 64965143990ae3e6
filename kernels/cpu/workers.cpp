// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/workers.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#ifdef CUDATENSOR_THREAD_SANITIZER
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
#endif

namespace cudatensor::cpu {
namespace {

// Enough ranges to balance threads that are interrupted, but few enough that the cost of starting a
// range is negligible.
constexpr int64_t kRangesPerThread = 16;

// Neighboring rows read the same source rows, which are prepared once per range.
constexpr int64_t kMinRows = 8;

/// Returns the number of slots: no more threads than can run at once, because each has scratch
/// memory.
int slots_for(unsigned threads) {
  using Limit = tbb::global_control;
  const size_t most = Limit::active_value(Limit::max_allowed_parallelism);
  return static_cast<int>(threads == 0 ? most : std::min<size_t>(threads, most));
}

/// Orders work for ThreadSanitizer: everything before release() happens before everything after
/// acquire(). TBB guarantees this itself, but libtbb is not built with ThreadSanitizer. In
/// ThreadSanitizer builds this file is compiled without instrumentation, because much of TBB is in
/// its templates.
class Moment {
 public:
#ifdef CUDATENSOR_THREAD_SANITIZER
  void happened() { __tsan_release(this); }
  void known() { __tsan_acquire(this); }
#else
  void happened() {}
  void known() {}
#endif
};

}  // namespace

struct Workers::Arena {
  explicit Arena(int threads) : tasks(threads) {}
  tbb::task_arena tasks;
};

Workers::Workers(unsigned threads)
    : slots_(slots_for(threads)), arena_(slots_ > 1 ? std::make_unique<Arena>(slots_) : nullptr) {}

Workers::~Workers() = default;

void Workers::run(int64_t count, int64_t least, Call call, const void *context) {
  if (arena_ == nullptr) return call(context, 0, count, 0);
  const int64_t ranges =
      std::clamp<int64_t>(count / std::max(kMinRows, least), 1, slots_ * kRangesPerThread);
  Moment begun, done;
  begun.happened();
  arena_->tasks.execute([&] {
    tbb::parallel_for(int64_t{0}, ranges, [&](int64_t i) {
      begun.known();
      call(context, count * i / ranges, count * (i + 1) / ranges,
           tbb::this_task_arena::current_thread_index());
      done.happened();
    });
  });
  done.known();
}

}  // namespace cudatensor::cpu
