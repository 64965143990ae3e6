// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/worker.h"

#include <glib.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace luminance {
namespace {

struct Job {
  Message message;
  Worker::Done done;
  std::string error;
};

std::string error_of_sending(Channel &channel, const Message &message,
                             const std::atomic<bool> &is_cancelled) try {
  channel.send(message, is_cancelled);
  return {};
} catch (const std::exception &error) {
  return error.what();
}

}  // namespace

/// Shared with the thread, which may outlive the worker.
struct Worker::State {
  ~State() { g_main_context_unref(context); }

  GMainContext *const context = g_main_context_ref_thread_default();
  std::atomic<bool> is_cancelled{false};
  std::mutex mutex;  // guards all members below
  std::condition_variable changed;
  std::deque<Job> waiting;
  bool has_ended = false;
};

namespace {

struct Call {
  std::shared_ptr<std::atomic<bool>> is_cancelled;
  Job job;
};

void call_on(GMainContext *context, std::shared_ptr<std::atomic<bool>> is_cancelled, Job job) {
  const auto run = [](gpointer data) -> gboolean {
    auto *call = static_cast<Call *>(data);
    if (!*call->is_cancelled) call->job.done(call->job.error);
    return G_SOURCE_REMOVE;
  };
  const auto let_go = [](gpointer data) { delete static_cast<Call *>(data); };
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, run, new Call{std::move(is_cancelled), std::move(job)}, let_go);
  g_source_attach(source, context);
  g_source_unref(source);
}

}  // namespace

Worker::Worker(std::shared_ptr<Channel> channel) : state_(std::make_shared<State>()) {
  std::thread(work, state_, std::move(channel)).detach();
}

Worker::~Worker() { cancel(); }

void Worker::send(const Message &message, Done done) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back({message, std::move(done), {}});
  }
  state_->changed.notify_all();
}

void Worker::cancel() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_cancelled = true;
  }
  state_->changed.notify_all();
}

bool Worker::wait_until(std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_until(lock, time, [&] { return state_->has_ended; });
}

void Worker::work(const std::shared_ptr<State> &state, std::shared_ptr<Channel> channel) {
  const std::shared_ptr<std::atomic<bool>> is_cancelled(state, &state->is_cancelled);
  for (;;) {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->is_cancelled || !state->waiting.empty(); });
    if (state->is_cancelled) break;
    Job job = std::move(state->waiting.front());
    state->waiting.pop_front();
    lock.unlock();
    job.error = error_of_sending(*channel, job.message, *is_cancelled);
    call_on(state->context, is_cancelled, std::move(job));
  }
  channel.reset();  // may take a moment; before has_ended, so that wait_until() covers it
  {
    const std::lock_guard lock(state->mutex);
    state->has_ended = true;
  }
  state->changed.notify_all();
}

}  // namespace luminance
