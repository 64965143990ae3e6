// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/history.h"

#include <glib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "history/damage.h"
#include "history/openincidents.h"
#include "history/schema.h"
#include "history/setaside.h"
#include "history/store.h"
#include "log/log.h"

namespace luminance {
namespace {

constexpr Time kLate = kSecond;  // how long after its end an interval may come
constexpr Time kFirstRetry = kSecond, kLastRetry = 30 * kSecond;  // pauses after failed writes
constexpr Time kBetweenFiles = 3600 * kSecond;                    // between files set aside
constexpr size_t kWaiting = 10000;  // rows to keep for the next write; as many events, incidents
// Pictures are larger, and losing them matters less.
constexpr size_t kWaitingPictures = 200, kMaxPicture = 65536;
constexpr int64_t kMarked = 1000;  // maximum number of past rows that a raised verdict is added to
// References slowly follow what the cameras see; this is the interval for writing them again.
constexpr Time kReferenceEvery = 6 * 3600 * kSecond;
constexpr double kDay = 24 * 60 * 60 * 1000;

/// A row whose interval is not over.
class Sum {
 public:
  void add(const Interval &interval) {
    if (frames_.is_empty()) min_mean_ = interval.min_mean, max_mean_ = interval.max_mean;
    frames_.add(interval);
    min_mean_ = std::min(min_mean_, interval.min_mean);
    max_mean_ = std::max(max_mean_, interval.max_mean);
  }

  void mark(Verdict verdict) { verdicts_.insert(verdict); }

  Row finish(int64_t begin, int64_t length) {
    Row row;
    row.time = begin;
    row.duration = static_cast<double>(length) / 1000;
    row.verdicts.assign(verdicts_.begin(), verdicts_.end());
    if (frames_.is_empty()) return row;
    const Interval sum = frames_.finish(frames_.begin());
    row.frames = sum.frames;
    row.mean = sum.mean, row.min_mean = min_mean_, row.max_mean = max_mean_;
    row.stddev = sum.stddev;
    row.p1 = sum.p1, row.median = sum.median, row.p99 = sum.p99;
    row.clipped_low = sum.clipped_low, row.clipped_high = sum.clipped_high;
    return row;
  }

 private:
  Accumulator frames_;
  double min_mean_ = 0, max_mean_ = 0;
  std::set<Verdict> verdicts_;
};

/// Appends an item. Returns whether the oldest item was discarded for it.
template <class Items>
bool push(Items &items, typename Items::value_type item) {
  items.push_back(std::move(item));
  const bool is_too_many = items.size() > kWaiting;
  if (is_too_many) items.pop_front();
  return is_too_many;
}

/// Creates missing folders for the file, which only their owner can access.
void make_folder(const std::string &file) {
  const std::string folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && g_mkdir_with_parents(folder.c_str(), 0700) != 0)
    throw HistoryError("history " + file + ": cannot create its folder: " + std::strerror(errno));
}

}  // namespace

struct History::Implementation {
  using Rows = std::map<int64_t, Sum>;  // by their begin

  Implementation(const HistorySettings &settings, const Monitor &watched, bool makes)
      : file(settings.file),
        makes_folder(makes),
        length(std::llround(settings.interval * 1000)),
        retention(std::llround(settings.retention * kDay)),
        late(std::llround(watched.interval() * 1000) + kLate / 1000),
        monitor(watched),
        incidents(watched, [this](const Incident &incident) { put(incident); }) {}

  int64_t row_at(Time time) const { return begin_of(monitor.clock().wall(time), length); }
  Sum &sum(const Camera &camera, int64_t begin);
  void close(const Camera &camera, Rows::iterator row);
  void maintain(const Camera &camera);
  void close_all();
  void open_store();
  void begin_anew(const DamagedHistory &problem);
  void resume_incidents();
  void write();
  void write_in_any_file();
  void fail(const HistoryError &problem);
  bool is_idle() const {
    return batch.rows.empty() && batch.events.empty() && batch.references.empty() &&
           batch.incidents.empty() && batch.pictures.empty() && batch.maintenance.empty() &&
           store != nullptr;
  }
  void put(const Incident &incident);
  bool is_reference_due(const Camera &camera);
  void keep_reference(const Camera &camera);
  std::optional<StoredReference> stored_reference(const std::string &id);
  void keep_maintenance(const Camera &camera);
  std::optional<Maintenance> stored_maintenance(const std::string &id);
  void try_to_write();

  const std::string file;
  const bool makes_folder;
  const int64_t length, retention, late;  // milliseconds
  const Monitor &monitor;
  OpenIncidents incidents;
  uint64_t incidents_version = 1;
  std::unique_ptr<Store> store;  // null if the file could not be opened
  bool was_opened = false, is_opened_late = false;
  struct KeptReference {
    uint64_t version = 0;
    Time time = 0;  // when it was kept
  };
  std::map<const Camera *, Rows> open;
  std::map<const Camera *, KeptReference> kept;  // in the file or the batch
  Batch batch;
  HistoryStats stats;
  std::string error, notice;
  std::optional<Time> set_aside_time;  // when a file was last set aside
  Time retry = 0, pause = 0;           // when to try again, and the pause before it
};

/// Returns the camera's unfinished row that begins at `begin`. Marks a new row with the verdicts
/// that are active in it.
Sum &History::Implementation::sum(const Camera &camera, int64_t begin) {
  const auto [row, is_new] = open[&camera].try_emplace(begin);
  if (is_new)
    for (const Standing &standing : camera.standing())
      if (monitor.clock().wall(standing.since) < begin + length) row->second.mark(standing.verdict);
  return row->second;
}

void History::Implementation::close(const Camera &camera, Rows::iterator row) {
  stats.dropped += push(batch.rows, {camera.id(), row->second.finish(row->first, length)});
  open[&camera].erase(row);
  incidents.report(camera);
}

/// Queues an incident for the next write; it replaces an earlier state of the same incident.
void History::Implementation::put(const Incident &incident) {
  batch.incidents[key_of(incident)] = incident;
  if (batch.incidents.size() <= kWaiting) return;
  batch.incidents.erase(batch.incidents.begin());
  ++stats.dropped;
}

/// Begins the row that is due now, and closes those that no interval can belong to any more.
void History::Implementation::maintain(const Camera &camera) {
  const Clock &clock = monitor.clock();
  const int64_t now = clock.wall(clock.now());
  sum(camera, begin_of(now, length));
  Rows &rows = open[&camera];
  for (auto row = rows.begin(); row != rows.end();) {
    const auto next = std::next(row);
    const bool is_finished = row->first + length + late <= now;
    const bool was_set_back = row->first > now + late;  // the machine's clock
    if (is_finished || was_set_back) close(camera, row);
    row = next;
  }
}

void History::Implementation::close_all() {
  for (auto &[camera, rows] : open)
    while (!rows.empty()) close(*camera, rows.begin());
}

void History::Implementation::open_store() {
  store.reset();
  if (makes_folder) make_folder(file);
  try {
    store = std::make_unique<Store>(file, length, monitor);
  } catch (const DamagedHistory &problem) {
    begin_anew(problem);
  }
  was_opened = true;
  resume_incidents();
}

/// Sets the damaged file aside and begins a new one. Throws HistoryError instead if the file is not
/// a history, or if damage returns within kBetweenFiles: then the disk is to blame.
void History::Implementation::begin_anew(const DamagedHistory &problem) {
  store.reset();
  const Time now = monitor.clock().now();
  std::vector<std::string> cameras;
  for (const auto &camera : monitor.cameras())
    cameras.push_back(camera->id() + camera->name() + camera->settings().source);
  if ((set_aside_time && now - *set_aside_time < kBetweenFiles) ||
      !has_traces_of_history(file, cameras))
    throw HistoryError(problem.what());
  const std::string name = set_aside(file, monitor.clock().wall(now));
  set_aside_time = now;
  ++stats.set_aside;
  const std::string what = problem.what();  // after the first line, SQLite quotes the file
  notice = what.substr(0, what.find('\n')) + "; the damaged file was set aside as " + name +
           ", and a new history was begun";
  log_line(notice);  // unlike log_once(), regardless of how many errors were logged
  store = std::make_unique<Store>(file, length, monitor);
  kept.clear();  // the new file has no references
}

/// Resumes the open incidents of the file. If they are damaged, logs that and leaves them as they
/// are.
void History::Implementation::resume_incidents() try {
  incidents.resume(store->open_incidents());
} catch (const HistoryError &problem) {
  log_once(problem.what());
}

void History::Implementation::write() {
  if (store == nullptr || store->has_moved()) {
    const bool is_first = !was_opened;
    open_store();
    is_opened_late = is_first;
    // The maintenance in another file is not the one in force, so it is overwritten.
    if (!is_first)
      for (const auto &camera : monitor.cameras()) keep_maintenance(*camera);
  }
  const Clock &clock = monitor.clock();
  store->write(batch, clock.wall(clock.now()) - retention);
}

void History::Implementation::write_in_any_file() try {
  write();
} catch (const DamagedHistory &problem) {
  begin_anew(problem);
  resume_incidents();
  for (const auto &camera : monitor.cameras()) keep_maintenance(*camera);
  write();
}

void History::Implementation::fail(const HistoryError &problem) {
  ++stats.failures;
  pause = std::clamp(2 * pause, kFirstRetry, kLastRetry);
  retry = monitor.clock().now() + pause;
  error = problem.what();
}

void History::Implementation::try_to_write() try {
  if (is_idle()) return;
  write_in_any_file();
  batch = {};
  if (store->take_changed_incidents()) ++incidents_version;
  pause = 0;
  error.clear();
} catch (const HistoryError &problem) {
  fail(problem);
}

bool History::Implementation::is_reference_due(const Camera &camera) {
  const Time now = monitor.clock().now();
  const KeptReference &known = kept.try_emplace(&camera, KeptReference{0, now}).first->second;
  return camera.reference_version() != known.version ||
         (camera.scene_learned() && now - known.time >= kReferenceEvery);
}

void History::Implementation::keep_reference(const Camera &camera) {
  const Clock &clock = monitor.clock();
  kept[&camera] = {camera.reference_version(), clock.now()};
  StoredReference stored = {seen_by(camera.settings()), 0, {}, nullptr};
  if (const std::optional<Reference> reference = camera.reference())
    stored = {stored.source, reference->learned, reference->scenes, reference->picture};
  batch.references[camera.id()] = std::move(stored);
}

std::optional<StoredReference> History::Implementation::stored_reference(const std::string &id) {
  const auto found = batch.references.find(id);
  if (found != batch.references.end()) return found->second;
  return store != nullptr ? store->reference(id) : std::nullopt;
}

void History::Implementation::keep_maintenance(const Camera &camera) {
  if (!monitor.clock().is_fast()) batch.maintenance[camera.id()] = camera.maintenance();
}

std::optional<Maintenance> History::Implementation::stored_maintenance(const std::string &id) {
  const auto found = batch.maintenance.find(id);
  if (found != batch.maintenance.end()) return found->second;
  return store != nullptr ? store->maintenance(id) : std::nullopt;
}

void prepare(const HistorySettings &settings) try {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(settings.file, unknown))
    open_to_write(settings.file, std::llround(settings.interval * 1000));
} catch (const HistoryError &) {
}

History::History(const HistorySettings &settings, const Monitor &monitor, OpenMode mode)
    : implementation_(
          std::make_unique<Implementation>(settings, monitor, mode == OpenMode::kDeferred)) {
  try {
    implementation_->open_store();
  } catch (const HistoryError &problem) {
    if (mode == OpenMode::kImmediate) throw;
    implementation_->fail(problem);
  }
}

History::~History() = default;

void History::on_interval(const Camera &camera, const Interval &interval) {
  implementation_->incidents.look(camera);
  const int64_t begin = implementation_->row_at(interval.time);
  implementation_->sum(camera, begin).add(interval);
  Implementation::Rows &rows = implementation_->open[&camera];
  while (rows.begin()->first < begin) implementation_->close(camera, rows.begin());
}

void History::on_change(const Camera &camera, const Change &change) {
  const Clock &clock = implementation_->monitor.clock();
  implementation_->stats.dropped +=
      push(implementation_->batch.events,
           {clock.wall(change.time), camera.id(), change.verdict, change.raised, change.value});
  const int64_t length = implementation_->length;
  int64_t row = implementation_->row_at(change.time), last = row;
  if (change.raised) {  // the verdict holds since change.time, maybe many rows ago
    last = implementation_->row_at(clock.is_fast() ? camera.last_frame().value_or(change.time)
                                                   : clock.now());
    row = std::max(row, last - kMarked * length);
  }
  for (; row <= last; row += length) implementation_->sum(camera, row).mark(change.verdict);
  implementation_->incidents.note(camera, change);
}

void History::on_maintenance(const Camera &camera) { implementation_->keep_maintenance(camera); }

void History::on_removed(const Camera &camera) {
  Implementation::Rows &rows = implementation_->open[&camera];
  while (!rows.empty()) implementation_->close(camera, rows.begin());
  implementation_->open.erase(&camera);
  implementation_->incidents.remove(camera);
  if (!implementation_->monitor.clock().is_fast() && camera.scene_learned())
    implementation_->keep_reference(camera);
  implementation_->kept.erase(&camera);
  implementation_->batch.removed[camera.id()] = {camera.name(), camera.settings().source};
}

std::optional<Reference> History::reference(const Camera &camera) try {
  const Clock &clock = implementation_->monitor.clock();
  if (clock.is_fast()) return {};
  const auto stored = implementation_->stored_reference(camera.id());
  if (!stored || stored->scenes.empty() || stored->source != seen_by(camera.settings())) return {};
  return Reference{stored->scenes, stored->learned, stored->picture};
} catch (const HistoryError &problem) {
  log_once(problem.what());
  return {};
}

std::optional<Maintenance> History::maintenance(const Camera &camera) try {
  const Clock &clock = implementation_->monitor.clock();
  if (clock.is_fast()) return {};
  std::optional<Maintenance> stored = implementation_->stored_maintenance(camera.id());
  if (stored && stored->is_over(clock.wall(clock.now()))) stored.reset();
  return stored;
} catch (const HistoryError &problem) {
  log_once(problem.what());
  return {};
}

bool History::take_opened_late() { return std::exchange(implementation_->is_opened_late, false); }

std::optional<IncidentKey> History::incident_of(const Camera &camera, Verdict verdict) const {
  return implementation_->incidents.key_of(camera, verdict);
}

void History::keep_picture(const IncidentPicture &picture) {
  if (picture.jpeg->size() > kMaxPicture) return;
  std::deque<IncidentPicture> &pictures = implementation_->batch.pictures;
  pictures.push_back(picture);
  if (pictures.size() > kWaitingPictures) pictures.pop_front();
}

std::optional<KeptIncident> History::amend(int64_t incident, const Amendment &amendment) {
  Implementation &self = *implementation_;
  if (self.store == nullptr) throw HistoryError(self.error);
  // The number may mean another incident in the new file, which is opened by the next write.
  if (self.store->has_moved()) throw HistoryError("history " + self.file + " was replaced");
  const Clock &clock = self.monitor.clock();
  auto amended = self.store->amend_incident(incident, amendment, clock.wall(clock.now()));
  if (self.store->take_changed_incidents()) ++self.incidents_version;
  return amended;
}

uint64_t History::incidents_version() const { return implementation_->incidents_version; }

void History::tick() {
  // With --fast, time is that of the frames: only frames tell how much of it has passed.
  if (!implementation_->monitor.clock().is_fast()) {
    implementation_->incidents.tick();
    for (const auto &camera : implementation_->monitor.cameras()) {
      implementation_->maintain(*camera);
      if (implementation_->is_reference_due(*camera)) implementation_->keep_reference(*camera);
    }
  }
  if (implementation_->monitor.clock().now() >= implementation_->retry)
    implementation_->try_to_write();
}

void History::flush() {
  implementation_->close_all();
  implementation_->incidents.finish();
  if (!implementation_->monitor.clock().is_fast())
    for (const auto &camera : implementation_->monitor.cameras())
      if (camera->scene_learned()) implementation_->keep_reference(*camera);
  implementation_->try_to_write();
}

const std::string &History::file() const { return implementation_->file; }

const std::string &History::error() const { return implementation_->error; }

const std::string &History::notice() const { return implementation_->notice; }

HistoryStats History::stats() const {
  HistoryStats stats = implementation_->stats;
  const Batch &batch = implementation_->batch;
  stats.pending = batch.rows.size() + batch.events.size() + batch.incidents.size();
  return stats;
}

}  // namespace luminance
