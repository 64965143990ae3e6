// SPDX-License-Identifier: LGPL-2.1-or-later
// The benchmarks of our operations on the frames of frames.h.
#pragma once

#include <functional>
#include <string>

#include "kernels/ops.h"
#include "rotation.h"

namespace bench {

/// Processes consecutive frames to as many results.
using Run = std::function<void(const uint8_t *in, uint8_t *out, cudatensor::Stream stream)>;

struct Work {
  std::string key;    ///< name that the programs of other software use
  std::string table;  ///< table of its row; empty if the result is only for comparison
  std::string title;
  Shape shape;
  size_t moved;  ///< minimum number of bytes to read and write per frame
  bool shared;   ///< whether other software is compared with the result
  std::function<Bytes(int pattern)> frame;
  Run cuda;  ///< processes the frames of a call
  Run cpu;   ///< processes one frame
};

/// Calls `take` with each work. Its operations exist only during the call.
void for_each_work(cudatensor::Backend &cuda, cudatensor::Backend &cpu,
                   const std::function<void(const Work &)> &take);

}  // namespace bench
