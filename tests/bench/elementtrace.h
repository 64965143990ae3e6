// SPDX-License-Identifier: LGPL-2.1-or-later
// What a stretch of the program asks of the heap, of the CUDA driver and of the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Allocations of the calling thread since it began.
uint64_t allocations();

/// Whether the calling thread is between an element's pads, for those who count its share.
extern thread_local bool inside_element;

/// Calls to the driver and work of the GPU, told by CUPTI, which is opened by its file name: nothing
/// links to it. Costs time, so what is traced is not what is timed.
class Trace {
 public:
  struct Calls {
    uint64_t all = 0, inside = 0;
  };
  /// A kernel or a copy; nanoseconds.
  struct Work {
    uint64_t begin, end;
    uint32_t stream;
    bool kernel;
    bool own;  ///< a kernel of ours
  };

  /// Throws std::runtime_error, with the reason; the first work of a process in CUDA comes later.
  explicit Trace(const std::string &library);

  /// Forgets what has been counted so far.
  void begin();
  /// Ends the counting: all calls and all work since begin().
  void end();

  const std::map<std::string, Calls> &calls() const { return calls_; }
  /// By the time it began.
  const std::vector<Work> &work() const { return work_; }

 private:
  std::map<std::string, Calls> calls_;
  std::vector<Work> work_;
};
