// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

namespace cudatensor::cpu {

/// Spreads rows over threads that stay alive between frames and are shared by all backends of the
/// process.
class Workers {
 public:
  /// At most `threads` threads at a time, the calling one included; 0 is one per core.
  explicit Workers(unsigned threads);
  ~Workers();

  /// How many calls of a body can be under way at once: the number of scratch areas to keep.
  int slots() const { return slots_; }

  /// Calls body(begin, end, slot) for ranges that cover 0..count, on several threads; no two calls
  /// that overlap in time get the same slot. Rethrows what a body throws.
  template <class Body>
  void for_rows(int64_t count, const Body &body) {
    run(
        count,
        [](const void *context, int64_t begin, int64_t end, int slot) {
          (*static_cast<const Body *>(context))(begin, end, slot);
        },
        &body);
  }

 private:
  using Call = void (*)(const void *context, int64_t begin, int64_t end, int slot);
  void run(int64_t count, Call call, const void *context);

  struct Arena;
  int slots_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace cudatensor::cpu
