// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

namespace cudatensor::cpu {

/// Distributes rows over worker threads that persist between frames and are shared by all backends
/// of the process.
class Workers {
 public:
  /// Uses at most `threads` threads at a time, including the calling thread; 0 = one per core.
  explicit Workers(unsigned threads);
  ~Workers();

  /// Returns the maximum number of concurrent calls of a body, which is the number of scratch areas
  /// needed.
  int slots() const { return slots_; }

  /// Calls body(begin, end, slot) for ranges that cover 0..count, on several threads. Concurrent
  /// calls have different slots. A range has at least `least` rows if there are so many. Rethrows
  /// exceptions of a body.
  template <class Body>
  void for_rows(int64_t count, int64_t least, const Body &body) {
    run(
        count, least,
        [](const void *context, int64_t begin, int64_t end, int slot) {
          (*static_cast<const Body *>(context))(begin, end, slot);
        },
        &body);
  }
  template <class Body>
  void for_rows(int64_t count, const Body &body) {
    for_rows(count, 1, body);
  }

 private:
  using Call = void (*)(const void *context, int64_t begin, int64_t end, int slot);
  void run(int64_t count, int64_t least, Call call, const void *context);

  struct Arena;
  int slots_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace cudatensor::cpu
