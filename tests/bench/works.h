// SPDX-License-Identifier: LGPL-2.1-or-later
// What is timed: our operations on the frames of frames.h.
#pragma once

#include <functional>
#include <string>

#include "kernels/ops.h"
#include "rotation.h"

namespace bench {

/// A number of frames, one behind the other, to as many results.
using Run = std::function<void(const uint8_t *in, uint8_t *out, cudatensor::Stream stream)>;

struct Work {
  std::string key;    ///< by which the peers name it
  std::string table;  ///< that its row goes to; empty: only for the peers to compare with
  std::string title;
  Shape shape;
  size_t moved;  ///< bytes that a frame must read and write at least
  bool shared;   ///< whether peers compare theirs with ours
  std::function<Bytes(int pattern)> frame;
  Run cuda;  ///< on the frames of a call
  Run cpu;   ///< on one
};

/// Calls `take` with each. Operations are made then, and need not outlive the call.
void for_each_work(cudatensor::Backend &cuda, cudatensor::Backend &cpu,
                   const std::function<void(const Work &)> &take);

}  // namespace bench
