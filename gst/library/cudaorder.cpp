// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/cudaorder.h"

#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "gst/library/libraryerror.h"

namespace cudatensor {
namespace {

/// Returns a device that is never closed, because tensors may be released until the process exits.
Device &device() {
  static Device *const device = open_cuda_device().release();
  return *device;
}

void log(const Error &error) {
  GST_CAT_ERROR(interop_category(),
                "cannot order the reuse of a tensor's memory after the consumer's work: %s",
                error.what());
}

struct PendingRelease {
  void *context;
  std::unique_ptr<Event> event;  // null: wait for all work queued in the context
  std::function<void()> then;
};

/// Waits for the event, then destroys it in its context, or without a CUDA call if the context is
/// lost.
void wait_until_done(PendingRelease &waiting) {
  try {
    const ContextScope scope(waiting.context);
    const auto event = std::move(waiting.event);
    if (event != nullptr)
      event->wait();
    else
      device().synchronize_context();
  } catch (const Error &error) {
    log(error);
    const ContextLostScope gone;
    waiting.event.reset();
  }
}

/// Waits for events one after another, on a thread that exits when none is left.
class Waiter {
 public:
  void add(PendingRelease waiting) {
    if (!append(std::move(waiting))) return;
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::system_error &error) {
      GST_CAT_WARNING(interop_category(),
                      "cannot start a thread, waiting on the calling thread: %s", error.what());
      run();
    }
  }

 private:
  /// Returns whether the caller must start run().
  bool append(PendingRelease waiting) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.push_back(std::move(waiting));
    return !std::exchange(running_, true);
  }

  std::optional<PendingRelease> next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_ = !all_.empty();
    if (!running_) return std::nullopt;
    std::optional<PendingRelease> first(std::move(all_.front()));
    all_.pop_front();
    return first;
  }

  void run() {
    while (auto waiting = next()) {
      wait_until_done(*waiting);
      waiting->then();
    }
  }

  std::mutex mutex_;
  std::deque<PendingRelease> all_;
  bool running_ = false;
};

/// Returns a waiter that is never destroyed, because its thread may outlive main().
Waiter &waiter() {
  static auto *const waiter = new Waiter;
  return *waiter;
}

bool is_ordered(const CudaLocation &place, Stream consumer) {
  return place.stream.handle != nullptr && place.stream.handle == consumer.handle;
}

/// Records the consumer's work. Returns false if the driver cannot record an event for a whole
/// context.
bool record(Event &event, std::optional<Stream> consumer) {
  if (!consumer) return event.record_context();
  event.record(*consumer);
  return true;
}

/// Returns the work that must complete before the memory may be overwritten; no value if the
/// memory's stream can wait for it.
std::optional<PendingRelease> pending_work(const CudaLocation &place,
                                           std::optional<Stream> consumer) {
  const ContextScope scope(place.context);
  auto event = device().make_event();
  if (!record(*event, consumer)) return PendingRelease{place.context, nullptr, {}};
  const bool waits = place.stream.handle != nullptr;
  if (waits) event->hold(place.stream);
  if (waits || event->passed()) return std::nullopt;
  return PendingRelease{place.context, std::move(event), {}};
}

}  // namespace

const gstcuda::Library &require_library() {
  const gstcuda::Library *library = gstcuda::library();
  if (library != nullptr) return *library;
  if (!cuda_is_built())
    throw LibraryError(
        GST_CUDA_TENSOR_ERROR_NO_CUDA,
        "libgstcudatensor was built without CUDA and supports only tensors in system memory");
  count_cuda_devices();
  throw LibraryError(GST_CUDA_TENSOR_ERROR_NO_CUDA,
                     "libgstcuda-1.0.so.0 cannot be used; set GST_DEBUG=cuda*:4 to log the cause");
}

CudaLocation location_of(gstcuda::Memory *memory) {
  gstcuda::Stream *stream = stream_of(memory);
  return {gstcuda::loaded().context_get_handle(memory->context),
          device_id_of(memory->context),
          {stream != nullptr ? gstcuda::loaded().stream_get_handle(stream) : nullptr}};
}

bool is_primary(const CudaLocation &place) {
  return place.context == primary_context(place.device);
}

void make_consumer_wait(const CudaLocation &place, Stream consumer) {
  if (is_ordered(place, consumer)) return;
  const ContextScope scope(place.context);
  const auto event = device().make_event();
  // Checks that events can be recorded on the consumer's stream, which the release of the tensor
  // requires.
  event->record(consumer);
  if (place.stream.handle == nullptr) return;
  event->record(place.stream);
  event->hold(consumer);
}

void release_after(const CudaLocation &place, std::optional<Stream> consumer,
                   std::function<void()> let_go) {
  std::optional<PendingRelease> waiting;
  try {
    if (!consumer || !is_ordered(place, *consumer)) waiting = pending_work(place, consumer);
  } catch (const Error &error) {
    log(error);
  }
  if (!waiting) return let_go();
  waiting->then = std::move(let_go);
  waiter().add(std::move(*waiting));
}

}  // namespace cudatensor
