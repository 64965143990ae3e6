// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts allocations, calls to the CUDA driver and work of the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Allocations of the calling thread since it began.
uint64_t allocations();

/// Whether the calling thread is between an element's pads. Trace counts those calls separately.
extern thread_local bool inside_element;

/// Records calls to the driver and work of the GPU with CUPTI, which is opened by its file name, so
/// that the program does not link to it. Tracing takes time, so traced runs are not timed.
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

  /// Throws std::runtime_error. Must be created before the process uses CUDA.
  explicit Trace(const std::string &library);

  /// Resets all counters and starts counting.
  void begin();
  /// Stops counting. calls() and work() then return everything since begin().
  void end();

  const std::map<std::string, Calls> &calls() const { return calls_; }
  /// Sorted by start time.
  const std::vector<Work> &work() const { return work_; }

 private:
  std::map<std::string, Calls> calls_;
  std::vector<Work> work_;
};
