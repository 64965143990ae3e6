// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread that waits for histograms from the GPU, so that the streaming thread does not have to.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gst/device/devicecontext.h"
#include "gst/elements/histogramaccumulator.h"
#include "gst/util/ref.h"
#include "kernels/error.h"

namespace cudatensor {

/// Pinned memory that the GPU writes bins to, and the event that completes them.
struct PendingBins {
  std::unique_ptr<Memory> memory;  ///< pinned memory that contains a Bins
  std::unique_ptr<Event> ready;

  Bins &bins() const { return *reinterpret_cast<Bins *>(memory->data()); }
};

/// A result to be delivered in order.
struct HistogramJob {
  PendingBins bins;       ///< null if there is nothing to wait for
  CountedFrames counted;  ///< the frames counted in these bins
  Ref<GstBuffer> input;   ///< the buffer that the GPU reads until then, or null
  bool ends_interval = false;
};

/// Created, used and destroyed by the streaming thread, inside the context's scope.
class HistogramWorker {
 public:
  using Deliver = std::function<void(const HistogramJob &job)>;

  /// `deliver` is called for each job in order, on the worker's thread. `failed` receives the Error
  /// after which no further job is delivered.
  HistogramWorker(const DeviceContextRef &context, Deliver deliver,
                  std::function<void(const Error &)> failed);
  /// Waits for all jobs, as drain() does.
  ~HistogramWorker();

  /// Returns bins for the GPU to write to. Reuses those of delivered jobs.
  PendingBins take();
  /// Queues a job, which is delivered when its bins are complete. Blocks only if too many jobs are
  /// pending.
  void push(HistogramJob job);
  /// Waits until all queued jobs have been delivered.
  void drain();

 private:
  void work();
  void deliver(const HistogramJob &job);

  DeviceContextRef context_;
  Deliver deliver_;
  std::function<void(const Error &)> failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HistogramJob> jobs_;  // the worker waits for the first
  std::vector<PendingBins> free_;
  bool stopping_ = false;
  bool broken_ = false;  // used only by the worker's thread
  std::thread thread_;
};

}  // namespace cudatensor
