// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/sources.h"

#include <algorithm>
#include <utility>

#include "capture/jpeg.h"
#include "capture/pipeline.h"
#include "capture/player.h"

namespace luminance {
namespace {

constexpr gint64 kFresh = 3 * G_USEC_PER_SEC;
constexpr double kShutdownTimeout = 5;  // seconds

void make_jpeg(GTask *task, gpointer, gpointer sample, GCancellable *) {
  const auto destroy = [](gpointer bytes) { g_bytes_unref(static_cast<GBytes *>(bytes)); };
  g_task_return_pointer(task, jpeg_of(static_cast<GstSample *>(sample)), destroy);
}

}  // namespace

Sources::Sources(const Settings &settings, Monitor &monitor)
    : inbox_([this](const Arrival &arrival) {
        const auto found = sources_.find(arrival.camera);
        if (found != sources_.end()) found->second->arrive(arrival);
      }),
      settings_(settings),
      monitor_(monitor),
      leaving_(g_cancellable_new()) {
  for (const auto &camera : monitor.cameras()) {
    const size_t number = monitor.number_of(*camera);
    sources_[number] = std::make_unique<Source>(settings, monitor, inbox_, number);
  }
}

Sources::~Sources() {
  stop();
  g_object_unref(leaving_);
}

bool Sources::stop() {
  g_cancellable_cancel(leaving_);
  inbox_.close();
  sources_.clear();
  // The task, if there is one, ends on the main loop.
  while (making_) g_main_context_iteration(nullptr, TRUE);
  return Player::wait_for_all(kShutdownTimeout);
}

void Sources::begin() {
  check_elements(settings_);
  for (const auto &[number, source] : sources_) source->begin();
}

void Sources::add(size_t camera) {
  sources_[camera] = std::make_unique<Source>(settings_, monitor_, inbox_, camera);
  sources_[camera]->begin();
}

void Sources::remove(size_t camera) {
  sources_.erase(camera);
  const auto still = stills_.find(camera);
  if (still == stills_.end()) return;
  const auto waiting = std::move(still->second.waiting);
  stills_.erase(still);
  for (const auto &done : waiting) done(nullptr);
}

void Sources::tick() {
  inbox_.drain();  // before anybody asks how long a camera has been silent
  for (const auto &[number, source] : sources_) source->tick();
}

bool Sources::all_finished() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto &source) { return source.second->is_finished(); });
}

bool Sources::has_failed() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const auto &source) { return source.second->has_failed(); });
}

void Sources::still(size_t camera, const std::function<void(GBytes *)> &done) {
  Still &still = stills_[camera];
  if (still.waiting.empty() && still.made != 0 && g_get_monotonic_time() - still.made < kFresh)
    return done(still.jpeg.get());
  still.waiting.push_back(done);
  make_next();
}

/// One at a time: they take the cores from the cameras.
void Sources::make_next() {
  if (making_ || g_cancellable_is_cancelled(leaving_)) return;
  const auto next = std::find_if(stills_.begin(), stills_.end(),
                                 [](const auto &entry) { return !entry.second.waiting.empty(); });
  if (next == stills_.end()) return;
  GstSample *const sample = sources_[next->first]->sample();
  if (sample == nullptr) return finish(next->first, nullptr);

  making_ = true;
  using Done = std::pair<Sources *, size_t>;
  const auto on_done = [](GObject *, GAsyncResult *result, gpointer data) {
    const std::unique_ptr<Done> done(static_cast<Done *>(data));
    GBytes *const jpeg = static_cast<GBytes *>(g_task_propagate_pointer(G_TASK(result), nullptr));
    done->first->making_ = false;
    done->first->finish(done->second, jpeg);
  };
  GTask *const task = g_task_new(nullptr, nullptr, on_done, new Done(this, next->first));
  g_task_set_task_data(task, sample, [](gpointer kept) { gst_sample_unref(GST_SAMPLE(kept)); });
  g_task_run_in_thread(task, make_jpeg);
  g_object_unref(task);
}

void Sources::finish(size_t camera, GBytes *jpeg) {
  if (sources_.count(camera) == 0) {  // it was removed meanwhile
    if (jpeg != nullptr) g_bytes_unref(jpeg);
    return make_next();
  }
  Still &still = stills_[camera];
  still.jpeg = jpeg != nullptr ? Bytes(jpeg, g_bytes_unref) : nullptr;
  still.made = g_get_monotonic_time();
  const Bytes kept = still.jpeg;
  for (const auto &done : std::exchange(still.waiting, {})) done(kept.get());
  make_next();
}

}  // namespace luminance
