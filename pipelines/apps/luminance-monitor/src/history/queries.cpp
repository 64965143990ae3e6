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

namespace luminance {
namespace {

// Enough that a long query does not hold up short ones; the other cores are for pictures.
constexpr size_t kThreads = 2;
constexpr int kNice = 5;  // the main loop and GStreamer come first

struct Job {
  Queries::Query query;
  Queries::Done done;
  Queries::Outcome outcome;
};
using Held = std::shared_ptr<Job>;

/// A reader, and what it reads for.
struct Desk {
  explicit Desk(const std::string &file) : reader(file, &stop) {}

  std::atomic<bool> stop{false};
  Reader reader;
  Held job;  // null: it waits for one
  std::thread thread;
};

/// Calls `Queries::Implementation::finish` on the main loop when its time has come.
struct Bell {
  GSource source;
  void *queries;
};

}  // namespace

struct Queries::Implementation {
  Implementation(const std::string &path, size_t limit) : file(path), most(limit) {}

  void begin();
  void end();
  void work(Desk &desk);
  void answer(Desk &desk);
  void finish();
  void drop(const Held &job);

  const std::string file;
  const size_t most;
  size_t places = 0;  // main thread only
  GSource *bell = nullptr;

  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  std::deque<Held> waiting, finished;
  std::list<Desk> desks;
  bool is_over = false;
};

namespace {

class Ticket : public Queries::Place {
 public:
  Ticket(std::function<void()> drop) : drop_(std::move(drop)) {}
  ~Ticket() override { drop_(); }

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
        static_cast<Implementation *>(reinterpret_cast<Bell *>(source)->queries)->finish();
        return G_SOURCE_CONTINUE;
      },
      nullptr,
      nullptr,
      nullptr};
  bell = g_source_new(&functions, sizeof(Bell));
  reinterpret_cast<Bell *>(bell)->queries = this;
  g_source_attach(bell, g_main_context_get_thread_default());
  for (size_t i = 0; i < kThreads; ++i) {
    Desk &desk = desks.emplace_back(file);
    desk.thread = std::thread([this, &desk] { work(desk); });
  }
}

void Queries::Implementation::end() {
  {
    const std::lock_guard lock(mutex);
    is_over = true;
    for (Desk &desk : desks) desk.stop = true;
  }
  changed.notify_all();
  for (Desk &desk : desks)
    if (desk.thread.joinable()) desk.thread.join();
  g_source_destroy(bell);
  g_source_unref(bell);
}

void Queries::Implementation::work(Desk &desk) {
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread; where it may not, it does without
  for (;;) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return is_over || !waiting.empty(); });
      if (is_over) return;
      desk.job = std::move(waiting.front());
      waiting.pop_front();
      desk.stop = false;
    }
    answer(desk);
    const std::lock_guard lock(mutex);
    finished.push_back(std::move(desk.job));
    g_source_set_ready_time(bell, 0);
  }
}

void Queries::Implementation::answer(Desk &desk) try {
  desk.job->outcome.text = desk.job->query(desk.reader);
} catch (const std::exception &error) {
  desk.job->outcome.error = error.what();
  desk.reader.close();
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
  --places;
  job->done = nullptr;
  const std::lock_guard lock(mutex);
  waiting.erase(std::remove(waiting.begin(), waiting.end(), job), waiting.end());
  for (Desk &desk : desks)
    if (desk.job == job) desk.stop = true;
}

Queries::Queries(const std::string &file, size_t most)
    : implementation_(std::make_shared<Implementation>(file, most)) {
  implementation_->begin();
}

Queries::~Queries() { implementation_->end(); }

std::unique_ptr<Queries::Place> Queries::ask(Query query, Done done) {
  if (implementation_->places >= implementation_->most) return nullptr;
  ++implementation_->places;
  auto job = std::make_shared<Job>(Job{std::move(query), std::move(done), {}});
  auto place = std::make_unique<Ticket>([shared = implementation_, job] { shared->drop(job); });
  {
    const std::lock_guard lock(implementation_->mutex);
    implementation_->waiting.push_back(std::move(job));
  }
  implementation_->changed.notify_one();
  return place;
}

}  // namespace luminance
