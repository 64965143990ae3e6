// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/histogramworker.h"

namespace cudatensor {
namespace {

// The largest number of jobs that may wait for the device.
constexpr size_t kMaxJobs = 64;

}  // namespace

HistogramWorker::HistogramWorker(const DeviceContextRef &context, Deliver deliver,
                                 std::function<void(const Error &)> failed)
    : context_(context),
      deliver_(std::move(deliver)),
      failed_(std::move(failed)),
      thread_([this] { work(); }) {}

HistogramWorker::~HistogramWorker() {
  drain();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

PendingBins HistogramWorker::take() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      PendingBins pending = std::move(free_.back());
      free_.pop_back();
      return pending;
    }
  }
  Device &device = context_->device();
  return {device.allocate_pinned(sizeof(Bins)), device.make_event()};
}

void HistogramWorker::push(HistogramJob job) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.size() < kMaxJobs; });
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void HistogramWorker::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
}

/// Delivers a job, but none after an error, so that no interval is missing from the sequence.
void HistogramWorker::deliver(const HistogramJob &job) {
  if (broken_) return;
  try {
    if (job.bins.ready) {
      const DeviceScope scope(context_);
      job.bins.ready->wait();
    }
    deliver_(job);
    return;
  } catch (const Error &error) {
    failed_(error);
  } catch (const std::exception &error) {
    failed_(Error(Error::Code::out_of_memory, error.what()));
  }
  broken_ = true;
}

void HistogramWorker::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    HistogramJob &job = jobs_.front();  // stays in the queue, so that drain() waits for it
    lock.unlock();
    deliver(job);
    job.input.reset();  // may free the buffer, so not under the lock
    lock.lock();
    if (job.bins.memory) free_.push_back(std::move(job.bins));
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace cudatensor
