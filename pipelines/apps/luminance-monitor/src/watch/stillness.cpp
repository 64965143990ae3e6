// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/stillness.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace luminance {
namespace {

// How far back pictures are looked for, beyond `min_gap`: key frames may use one of several
// quantizers in turn. At least kMinEntries are kept, for a camera with few frames.
constexpr Time kMemory = 20 * kSecond;
constexpr size_t kMinEntries = 32, kMaxEntries = 2000;
// Two pictures can be alike by chance. Pictures that recur for this long are not.
constexpr Time kCertain = kSecond;
// A clock that is drawn into a frozen picture always changes the same blocks, a tenth of all at
// most. Between two pictures that are the same, other blocks change by kChanged at most; between
// any two pictures that an encoder makes of one, by kMoved at most.
constexpr int kChanged = Blocks::kLuma / 2, kMoved = 4 * Blocks::kLuma;
constexpr size_t kClockShare = 10;
// A frame may be broken. Pictures that differ for this long have moved.
constexpr Time kBroken = kSecond;

size_t max_clock_blocks(const Blocks &blocks) { return blocks.visible / kClockShare; }

// The noise of a camera is that of the last hour, once there are ten minutes of it. Frozen pictures
// differ less than by this noise.
constexpr Time kMinute = 60 * kSecond;
constexpr size_t kMinMinutes = 10, kMaxMinutes = 60;
constexpr double kShare = 2. / 3;
constexpr unsigned kLearnEvery = 8;  // frames, because to learn takes longer

/// Returns the mean difference of the blocks that have not changed, in luma; `far` if it is at
/// least that, or if too many blocks have changed. Computes in 16 bits, which compilers vectorize.
/// Blocks that are masked do not differ.
double distance(const Blocks &a, const Blocks &b, double far) {
  const double levels = Blocks::kLuma * static_cast<double>(a.visible);
  const auto max_sum = static_cast<unsigned>(far * levels);
  const size_t max_changed = max_clock_blocks(a);
  unsigned sum = 0, changed = 0;
  for (size_t row = 0; row < Blocks::kCount; row += Blocks::kColumns) {
    uint16_t of_row = 0, changed_in_row = 0;
    for (size_t i = row; i < row + Blocks::kColumns; ++i) {
      const uint16_t x = a.means[i], y = b.means[i];
      const auto apart = static_cast<uint16_t>(x > y ? x - y : y - x);
      const auto is_changed = static_cast<uint16_t>(apart > kChanged ? 1 : 0);
      changed_in_row = static_cast<uint16_t>(changed_in_row + is_changed);
      of_row = static_cast<uint16_t>(of_row + (is_changed != 0 ? 0 : apart));
    }
    sum += of_row;
    changed += changed_in_row;
    if (sum >= max_sum || changed > max_changed) return far;
  }
  return sum / levels;
}

std::bitset<Blocks::kCount> differing(const Blocks &a, const Blocks &b, int by) {
  std::bitset<Blocks::kCount> where;
  for (size_t i = 0; i < Blocks::kCount; ++i)
    if (std::abs(static_cast<int>(a.means[i]) - static_cast<int>(b.means[i])) > by) where.set(i);
  return where;
}

}  // namespace

void Stillness::add(Time time, const Picture &picture, uint64_t position) {
  if (!before_.empty() && time <= before_.back().time) clear();
  pass_ += !before_.empty() && position < before_.back().position;
  const Entry now = {time, picture, position, pass_};
  drop_old(time);
  learn(time);
  ++frames_;
  if (run_ && !is_in_run(*run_, now)) clear();
  // No picture recurred for as long as pictures are kept.
  if (!recurs(now) && run_ && before_.front().time > run_->latest) run_.reset();
  before_.push_back(now);
}

void Stillness::clear() {
  before_.clear();
  run_.reset();
}

void Stillness::drop_old(Time now) {
  const auto is_old = [&] {
    return before_.size() > kMinEntries && now - before_.front().time > min_gap_ + kMemory;
  };
  while (is_old() || before_.size() > kMaxEntries) before_.pop_front();
}

/// Looks for the picture among those before.
bool Stillness::recurs(const Entry &now) {
  for (const Entry &before : before_) {
    if (now.time - before.time < min_gap_) break;
    // While a run goes on, only pictures of the run count.
    if (run_ && before.time > run_->latest) break;
    if (is_same_place(now, before)) continue;
    if (!is_same(*now.picture, *before.picture)) continue;
    if (!run_ && !begin_run(now, before)) return false;
    run_->latest = now.time;
    run_->is_certain = run_->is_certain || now.time - run_->begin >= kCertain;
    return true;
  }
  return false;
}

/// Whether two pictures are of nearly the same position in different passes: what moves slowly
/// looks alike at positions nearby, too.
bool Stillness::is_same_place(const Entry &now, const Entry &before) {
  constexpr uint64_t kNear = 2000000000;
  if (now.pass == before.pass || now.position == kUnknownPosition) return false;
  return now.position < before.position + kNear && before.position < now.position + kNear;
}

bool Stillness::is_same(const Blocks &now, const Blocks &before) {
  const bool learns = frames_ % kLearnEvery == 0;
  const double apart = distance(now, before, learns ? kFar : 1.01 * match_threshold_);
  if (apart > match_threshold_) {
    if (learns) nearest_ = std::min(nearest_, apart);
    return false;
  }
  Where clock = run_ ? run_->clock : Where();
  clock |= differing(now, before, kChanged);
  if (clock.count() > max_clock_blocks(now)) return false;  // something moves about
  if (run_) run_->clock = clock;
  return true;
}

/// Begins a run, unless pictures differ in between: those of a video that loops recur, too.
bool Stillness::begin_run(const Entry &now, const Entry &before) {
  Run run = {before.time, now.time, now.time, before.picture};
  for (const Entry &entry : before_)
    if (entry.time > before.time && !is_in_run(run, entry)) return false;
  run_ = run;
  was_still_ = true;
  return true;
}

/// Whether the picture has not moved, but for a clock, since the run began.
bool Stillness::is_in_run(Run &run, const Entry &entry) {
  const Where moved = differing(*entry.picture, *run.reference, kMoved);
  if (moved.count() > max_clock_blocks(*entry.picture)) {
    if (!run.differs_since) run.differs_since = entry.time;
    return entry.time - *run.differs_since < kBroken;
  }
  run.differs_since.reset();
  run.clock |= moved;
  return run.clock.count() <= max_clock_blocks(*entry.picture);
}

void Stillness::learn(Time now) {
  if (!minute_ || now < *minute_) minute_ = now;
  if (now - *minute_ < kMinute) return;
  if (!was_still_ && !run_) minutes_.push_back(nearest_);
  if (minutes_.size() > kMaxMinutes) minutes_.pop_front();
  minute_ = now;
  nearest_ = kFar;
  was_still_ = run_.has_value();
  if (minutes_.size() < kMinMinutes) return;
  std::vector<double> sorted(minutes_.begin(), minutes_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  match_threshold_ = std::min(kDefaultThreshold, kShare * *middle);
}

}  // namespace luminance
