// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms that a GPU is still counting, and the thread that waits for them instead of the
// streaming thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gst/cuda/cudacontext.h"
#include "gst/elements/histogramaccumulator.h"
#include "kernels/error.h"

namespace cudatensor {

/// Where bins arrive, and when.
struct PendingBins {
  std::unique_ptr<Memory> memory;  ///< pinned, holds Bins
  std::unique_ptr<Event> ready;

  Bins &bins() const { return *reinterpret_cast<Bins *>(memory->data()); }
};

/// Something to be told in its turn.
struct HistogramJob {
  PendingBins bins;                  ///< null where there is nothing to wait for
  CountedFrames counted;             ///< in these bins
  std::shared_ptr<GstBuffer> input;  ///< that is read until then
  bool ends_interval = false;
};

/// Made, used and destroyed inside the context's scope, by the streaming thread.
class HistogramWorker {
 public:
  using Deliver = std::function<void(const HistogramJob &job)>;

  /// `deliver` is called in order and on the worker's thread; `failed` is told of the Error that
  /// ends all deliveries.
  HistogramWorker(const CudaContextRef &context, Deliver deliver,
                  std::function<void(const Error &)> failed);
  /// Drains.
  ~HistogramWorker();

  /// Bins to count into; those that were delivered are taken again.
  PendingBins take();
  /// Has the job delivered when its bins have arrived. Waits only where the device is a long way
  /// behind.
  void push(HistogramJob job);
  /// Waits until all that was pushed has been delivered.
  void drain();

 private:
  void work();
  void deliver(const HistogramJob &job);

  CudaContextRef context_;
  Deliver deliver_;
  std::function<void(const Error &)> failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HistogramJob> jobs_;  // the first is being waited for
  std::vector<PendingBins> free_;
  bool stopping_ = false;
  bool broken_ = false;  // the worker's
  std::thread thread_;
};

}  // namespace cudatensor
