// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/queries.h"

#include <glib.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "history/damage.h"

namespace luminance {
namespace {

// Two threads, so that a long query does not hold up short ones; the other cores process pictures.
constexpr size_t kThreads = 2;
constexpr int kNice = 5;  // the main loop and GStreamer come first

struct Job {
  Queries::Query query;
  Queries::Done done;
  Queries::Outcome outcome;
};
using Held = std::shared_ptr<Job>;

/// A thread with its reader and its current job.
struct Worker {
  explicit Worker(const std::string &file) : reader(file, &interrupt) {}

  Interrupt interrupt;
  Reader reader;
  Held job;  // null while the thread waits for one
  std::thread thread;
};

/// Calls `Queries::Implementation::finish` on the main loop when its time has come.
struct WakeSource {
  GSource source;
  void *queries;
};

}  // namespace

struct Queries::Implementation {
  Implementation(const std::string &path, size_t count, std::chrono::milliseconds time)
      : file(path), max_queries(count), limit(time) {}

  void begin();
  void end();
  void work(Worker &worker);
  void answer(Worker &worker);
  void finish();
  void drop(const Held &job);

  const std::string file;
  const size_t max_queries;
  const std::chrono::milliseconds limit;  // for a query
  size_t active_queries = 0;              // main thread only
  GSource *wake_source = nullptr;

  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<Held> waiting, finished;
  std::list<Worker> workers;
  bool is_closing = false;
};

namespace {

class JobHandle : public Queries::Handle {
 public:
  JobHandle(std::function<void()> drop) : drop_(std::move(drop)) {}
  ~JobHandle() override { drop_(); }

 private:
  const std::function<void()> drop_;
};

}  // namespace

void Queries::Implementation::begin() {
  static GSourceFuncs functions = {
      nullptr,
      nullptr,
      [](GSource *source, GSourceFunc, gpointer) -> gboolean {
        g_source_set_ready_time(source, -1);
        static_cast<Implementation *>(reinterpret_cast<WakeSource *>(source)->queries)->finish();
        return G_SOURCE_CONTINUE;
      },
      nullptr,
      nullptr,
      nullptr};
  wake_source = g_source_new(&functions, sizeof(WakeSource));
  reinterpret_cast<WakeSource *>(wake_source)->queries = this;
  g_source_attach(wake_source, g_main_context_get_thread_default());
  for (size_t i = 0; i < kThreads; ++i) {
    Worker &worker = workers.emplace_back(file);
    worker.thread = std::thread([this, &worker] { work(worker); });
  }
}

void Queries::Implementation::end() {
  {
    const std::lock_guard lock(mutex);
    is_closing = true;
    for (Worker &worker : workers) worker.interrupt.stop();
  }
  changed.notify_all();
  for (Worker &worker : workers)
    if (worker.thread.joinable()) worker.thread.join();
  g_source_destroy(wake_source);
  g_source_unref(wake_source);
}

void Queries::Implementation::work(Worker &worker) {
  setpriority(PRIO_PROCESS, 0, kNice);  // for this thread only; a failure is harmless
  for (;;) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return is_closing || !waiting.empty(); });
      if (is_closing) return;
      worker.job = std::move(waiting.front());
      waiting.pop_front();
      worker.interrupt.begin(limit);
    }
    answer(worker);
    const std::lock_guard lock(mutex);
    finished.push_back(std::move(worker.job));
    g_source_set_ready_time(wake_source, 0);
  }
}

void Queries::Implementation::answer(Worker &worker) try {
  worker.job->outcome.text = worker.job->query(worker.reader);
} catch (const Queries::Missing &missing) {
  worker.job->outcome.error = missing.what();
  worker.job->outcome.is_missing = true;
} catch (const std::exception &error) {
  // If the query was stopped, nobody waits for it, and its failure is not an error.
  if (!worker.interrupt.is_stopped()) log_once(error.what());
  worker.job->outcome.error = error.what();
  worker.reader.close();
}

void Queries::Implementation::finish() {
  std::deque<Held> jobs;
  {
    const std::lock_guard lock(mutex);
    jobs.swap(finished);
  }
  for (const Held &job : jobs)
    if (job->done) std::exchange(job->done, nullptr)(std::move(job->outcome));
}

void Queries::Implementation::drop(const Held &job) {
  --active_queries;
  job->done = nullptr;
  const std::lock_guard lock(mutex);
  waiting.erase(std::remove(waiting.begin(), waiting.end(), job), waiting.end());
  for (Worker &worker : workers)
    if (worker.job == job) worker.interrupt.stop();
}

Queries::Queries(const std::string &file, size_t max_queries, std::chrono::milliseconds limit)
    : implementation_(std::make_shared<Implementation>(file, max_queries, limit)) {
  implementation_->begin();
}

Queries::~Queries() { implementation_->end(); }

std::unique_ptr<Queries::Handle> Queries::submit(Query query, Done done) {
  if (implementation_->active_queries >= implementation_->max_queries) return nullptr;
  ++implementation_->active_queries;
  auto job = std::make_shared<Job>(Job{std::move(query), std::move(done), {}});
  auto handle = std::make_unique<JobHandle>([shared = implementation_, job] { shared->drop(job); });
  {
    const std::lock_guard lock(implementation_->mutex);
    implementation_->waiting.push_back(std::move(job));
  }
  implementation_->changed.notify_one();
  return handle;
}

}  // namespace luminance
