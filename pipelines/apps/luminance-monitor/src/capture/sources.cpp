// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/sources.h"

#include <algorithm>
#include <utility>

#include "capture/jpeg.h"
#include "capture/pipeline.h"
#include "capture/player.h"
#include "capture/polling.h"

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
    sources_[number] = make_source(number);
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
  const bool have_ended = Polling::wait_for_all(kShutdownTimeout);
  return Player::wait_for_all(kShutdownTimeout) && have_ended;
}

void Sources::begin() {
  check_elements(settings_);
  for (const auto &[number, source] : sources_) source->begin();
}

void Sources::add(size_t camera) {
  sources_[camera] = make_source(camera);
  sources_[camera]->begin();
}

std::unique_ptr<Source> Sources::make_source(size_t camera) {
  return std::make_unique<Source>(settings_, monitor_, inbox_, camera,
                                  [this, camera](GstSample *last) { keep(camera, last); });
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

/// Keeps the last frame as a JPEG, which is made at once: the frame is a hundred times as large,
/// and its memory may be the decoder's.
void Sources::keep(size_t camera, GstSample *last) {
  stills_[camera].last.reset(last);
  make_next();
}

void Sources::still(size_t camera, const std::function<void(GBytes *)> &done) {
  // While a camera is being removed, those who have been told may ask once more.
  if (sources_.count(camera) == 0) return done(nullptr);
  Still &still = stills_[camera];
  const bool is_fresh =
      still.made != 0 && !still.is_last && g_get_monotonic_time() - still.made < kFresh;
  if (still.waiting.empty() && still.last == nullptr && is_fresh) return done(still.jpeg.get());
  still.waiting.push_back(done);
  make_next();
}

/// Starts the next JPEG. JPEGs are made one at a time: they take the cores from the cameras.
void Sources::make_next() {
  if (making_ || g_cancellable_is_cancelled(leaving_)) return;
  const auto next = std::find_if(stills_.begin(), stills_.end(), [](const auto &entry) {
    return entry.second.last != nullptr || !entry.second.waiting.empty();
  });
  if (next == stills_.end()) return;
  auto &[camera, still] = *next;
  if (still.last != nullptr) return make({camera, true}, still.last.release());
  if (GstSample *const sample = sources_[camera]->sample()) return make({camera, false}, sample);
  finish({camera, still.is_last}, still.is_last ? still.jpeg : nullptr);
}

/// Starts a JPEG of the sample, of which it takes ownership.
void Sources::make(const Picture &picture, GstSample *sample) {
  making_ = true;
  using Done = std::pair<Sources *, Picture>;
  const auto on_done = [](GObject *, GAsyncResult *result, gpointer data) {
    const std::unique_ptr<Done> done(static_cast<Done *>(data));
    GBytes *const jpeg = static_cast<GBytes *>(g_task_propagate_pointer(G_TASK(result), nullptr));
    done->first->making_ = false;
    done->first->finish(done->second, jpeg != nullptr ? Bytes(jpeg, g_bytes_unref) : nullptr);
  };
  GTask *const task = g_task_new(nullptr, nullptr, on_done, new Done(this, picture));
  g_task_set_task_data(task, sample, [](gpointer kept) { gst_sample_unref(GST_SAMPLE(kept)); });
  g_task_run_in_thread(task, make_jpeg);
  g_object_unref(task);
}

void Sources::finish(const Picture &picture, Bytes jpeg) {
  if (sources_.count(picture.camera) == 0) return make_next();  // it was removed meanwhile
  Still &still = stills_[picture.camera];
  still.jpeg = std::move(jpeg);
  still.made = g_get_monotonic_time();
  still.is_last = picture.is_last && still.jpeg != nullptr;
  const Bytes kept = still.jpeg;
  for (const auto &done : std::exchange(still.waiting, {})) done(kept.get());
  make_next();
}

}  // namespace luminance
