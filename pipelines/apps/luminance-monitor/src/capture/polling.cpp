// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/polling.h"

#include <glib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "watch/time.h"

namespace luminance {
namespace {

using Clock = std::chrono::steady_clock;

std::mutex count_mutex;
std::condition_variable count_changed;
int threads = 0;

void count(int difference) {
  {
    const std::lock_guard lock(count_mutex);
    threads += difference;
  }
  count_changed.notify_all();
}

}  // namespace

/// State shared with the thread, which may outlive the polling.
struct Polling::State {
  State(const CameraSettings &camera, const Timeouts &timeouts, Take take_picture)
      : interval(std::chrono::microseconds(seconds(camera.snapshot_interval))),
        take(std::move(take_picture)),
        fetcher(camera, timeouts) {}
  ~State() { g_main_context_unref(context); }

  const Clock::duration interval;
  const Take take;  // called on the main loop
  GMainContext *const context = g_main_context_ref_thread_default();
  Fetcher fetcher;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_taken = true;  // whether the main loop has taken the latest result
};

Polling::Polling(const CameraSettings &camera, const Timeouts &timeouts, Take take)
    : state_(std::make_shared<State>(camera, timeouts, std::move(take))) {
  count(1);
  std::thread([state = state_]() mutable {
    work(state);
    state.reset();  // before the count, because it may take a moment, too
    count(-1);
  }).detach();
}

Polling::~Polling() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->fetcher.cancel();
  }
  state_->changed.notify_all();
}

bool Polling::wait_for_all(double seconds) {
  std::unique_lock lock(count_mutex);
  return count_changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                [] { return threads == 0; });
}

/// Requests one picture at a time: if the main loop is busy, pictures must not pile up.
void Polling::work(const std::shared_ptr<State> &state) {
  Clock::time_point next = Clock::now();
  for (;;) {
    Fetched fetched = state->fetcher.fetch();
    if (state->fetcher.is_cancelled()) return;
    const bool goes_on = fetched.error.empty();
    hand_over(state, std::move(fetched));
    if (!goes_on) return;
    next = std::max(next + state->interval, Clock::now());
    std::unique_lock lock(state->mutex);
    const auto is_cancelled = [&] { return state->fetcher.is_cancelled(); };
    if (state->changed.wait_until(lock, next, is_cancelled)) return;
    state->changed.wait(lock, [&] { return state->is_taken || is_cancelled(); });
    if (is_cancelled()) return;
  }
}

void Polling::hand_over(const std::shared_ptr<State> &state, Fetched fetched) {
  using Call = std::pair<std::shared_ptr<State>, Fetched>;
  const auto run = [](gpointer data) -> gboolean {
    const auto &[state, fetched] = *static_cast<Call *>(data);
    if (state->fetcher.is_cancelled()) return G_SOURCE_REMOVE;
    {
      const std::lock_guard lock(state->mutex);
      state->is_taken = true;
    }
    state->changed.notify_all();
    state->take(fetched);  // may destroy the polling
    return G_SOURCE_REMOVE;
  };
  const auto let_go = [](gpointer data) { delete static_cast<Call *>(data); };
  {
    const std::lock_guard lock(state->mutex);
    state->is_taken = false;
  }
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, run, new Call(state, std::move(fetched)), let_go);
  g_source_attach(source, state->context);
  g_source_unref(source);
}

}  // namespace luminance
