// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/verdicts.h"

#include <algorithm>
#include <cmath>

namespace luminance {
namespace {

// If the scene is seen to be in place, as in the light of infrared lamps, a change that stays is
// accepted after this time, sooner than otherwise.
constexpr Time kSceneAccepted = 60 * kSecond;
// A picture whose percentiles 1 and 99 are no further apart is the same whatever the camera does.
constexpr unsigned kPlain = 3;
constexpr Time kFlickerEvery = kSecond;

double seconds_of(Time time) { return static_cast<double>(time) / kSecond; }

/// Returns the gap between pictures that are compared. Key frames are up to ten seconds apart.
Time min_gap_of(const Rules &rules) {
  const double raise = rules[static_cast<size_t>(Verdict::kFrozen)].raise;
  return std::min(10 * kSecond, seconds(raise / 2));
}

using Shares = std::array<double, 256>;
using Lumas = std::array<double, Blocks::kCount>;

Lumas lumas_of(const Blocks &blocks) {
  Lumas lumas;
  for (size_t i = 0; i < lumas.size(); ++i)
    lumas[i] = static_cast<double>(blocks.means[i]) / Blocks::kLuma;
  return lumas;
}

/// Returns the mean change of the visible blocks, in luma. The others are masked in both.
double change_of(const Lumas &a, const Lumas &b, size_t visible) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(visible);
}

template <class Values>
void follow(Values &usual, const Values &latest, double step) {
  for (size_t i = 0; i < usual.size(); ++i) usual[i] += step * (latest[i] - usual[i]);
}

Shares shares_of(const Measurement &frame) {
  Shares shares = {};
  for (size_t i = 0; i < shares.size(); ++i)
    shares[i] = static_cast<double>(frame.bins[i]) / static_cast<double>(frame.pixels);
  return shares;
}

/// Returns the least mean change of pixels, in luma, that turns `a` into `b`.
double distance(const Shares &a, const Shares &b) {
  double sum = 0, carried = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    carried += a[i] - b[i];
    sum += std::abs(carried);
  }
  return sum;
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::kValue: return "value";
    case Cause::kSilence: return "silence";
    case Cause::kRules: return "rules";
    case Cause::kReference: return "reference";
    case Cause::kExplained: return "explained";
    case Cause::kAccepted: return "accepted";
  }
  return "";
}

std::string_view phrase_of(Cause cause) {
  switch (cause) {
    case Cause::kValue: return "the value is good again";
    case Cause::kSilence: return "no frames";
    case Cause::kRules: return "no longer judged";
    case Cause::kReference: return "the reference was learned anew";
    case Cause::kExplained: return "another verdict explains it";
    case Cause::kAccepted: return "the changed picture counts as usual now";
  }
  return "";
}

Judge::Judge(const Rules &rules, Time now)
    : rules_(rules), last_heard_(now), stillness_(min_gap_of(rules)) {}

std::vector<Change> Judge::judge(const Measurement &frame, Time listening_time) {
  std::vector<Change> changes = tick(frame.time, listening_time);  // a gap before it
  last_heard_ = listening_time;
  judge_silence(0, frame.time, changes);
  // Time alone is no judgement: a camera that has just been added may be about to send frames.
  conditions_[static_cast<size_t>(Verdict::kNoFrames)].is_judged = true;
  if (frame.pixels == 0) return changes;
  judge_levels(frame, changes);
  judge_frame_rate(frame, changes);
  return changes;
}

std::vector<Change> Judge::tick(Time now, Time listening_time) {
  std::vector<Change> changes;
  judge_silence(seconds_of(listening_time - last_heard_), now, changes);
  return changes;
}

/// Silence clears the other verdicts even if its own verdict is turned off.
void Judge::judge_silence(double length, Time now, std::vector<Change> &changes) {
  update(Verdict::kNoFrames, length, now, changes);
  if (!cross(Verdict::kNoFrames, silence_, length, now) || !silence_.raised) return;
  restart();
  for (size_t i = 1; i < kVerdicts; ++i)
    clear(static_cast<Verdict>(i), Cause::kSilence, now, changes);
}

std::vector<Change> Judge::set_rules(const Rules &rules, Time now) {
  std::vector<Change> changes;
  rules_ = rules;
  for (size_t i = 0; i < kVerdicts; ++i)
    if (!rules_[i].enabled) clear(static_cast<Verdict>(i), Cause::kRules, now, changes);
  stillness_.set_min_gap(min_gap_of(rules));
  if (!rule_of(Verdict::kFrozen).enabled) {
    stillness_.clear();
    same_since_.reset();
  }
  // When it is turned on again, the picture of that time is the usual one.
  if (!rule_of(Verdict::kSuddenChange).enabled) recent_.reset();
  return changes;
}

/// Clears a verdict, whatever its value is.
void Judge::clear(Verdict verdict, Cause cause, Time now, std::vector<Change> &changes) {
  Condition &condition = conditions_[static_cast<size_t>(verdict)];
  if (condition.raised) changes.push_back({verdict, false, now, condition.value, cause});
  condition = {};
}

void Judge::reset_silence(Time listening_time) {
  if (!silence_.raised) last_heard_ = listening_time;
}

void Judge::restart() {
  same_since_.reset();
  stillness_.clear();
  // A camera that was turned or covered still is when it comes back.
  if (!condition_of(Verdict::kSuddenChange).raised) recent_.reset();
  scenery_.restart();
  scene_usual_.reset();
  flicker_.clear();
}

std::vector<Change> Judge::renew_scene(Time now) {
  std::vector<Change> changes;
  scenery_.renew();
  scene_usual_.reset();
  for (const Verdict verdict : {Verdict::kMoved, Verdict::kCovered, Verdict::kBlurred})
    clear(verdict, Cause::kReference, now, changes);
  return changes;
}

Sight Judge::sight_of(Verdict verdict) const {
  if (!rule_of(verdict).enabled) return Sight::kOff;
  return condition_of(verdict).is_judged ? Sight::kJudged : Sight::kBlind;
}

std::vector<Standing> Judge::standing() const {
  std::vector<Standing> standing;
  for (size_t i = 0; i < kVerdicts; ++i)
    if (conditions_[i].raised)
      standing.push_back(
          {static_cast<Verdict>(i), conditions_[i].since, conditions_[i].value, rules_[i].raise});
  return standing;
}

void Judge::judge_levels(const Measurement &frame, std::vector<Change> &changes) {
  update(Verdict::kTooDark, frame.mean, frame.time, changes);
  update(Verdict::kTooBright, frame.mean, frame.time, changes);
  // A clock and a name in the picture are small, and very bright or dark.
  update(Verdict::kLowContrast, frame.p95 - frame.p5, frame.time, changes);
  update(Verdict::kClippedLow, frame.clipped_low, frame.time, changes);
  update(Verdict::kClippedHigh, frame.clipped_high, frame.time, changes);
}

void Judge::judge_frame_rate(const Measurement &frame, std::vector<Change> &changes) {
  judge_stillness(frame, changes);
  judge_change(frame, changes);
  judge_scenery(frame, changes);

  flicker_.add(frame.time, frame.mean);
  if (frame.time - flicker_judged_ < kFlickerEvery) return;
  flicker_judged_ = frame.time;
  update(Verdict::kFlicker, flicker_.percent(), frame.time, changes);
}

/// Compares the blocks if some frames have them; else the histograms, which have to be the same.
void Judge::judge_stillness(const Measurement &frame, std::vector<Change> &changes) {
  if (!rule_of(Verdict::kFrozen).enabled) return;
  if (frame.p99 - frame.p1 <= kPlain) {
    stillness_.clear();
    same_since_.reset();
    return update(Verdict::kFrozen, 0, frame.time, changes);
  }
  if (frame.blocks != nullptr) {
    has_blocks_ = true;
    stillness_.add(frame.time, frame.blocks, frame.stream_time);
  }
  if (has_blocks_)
    return update(Verdict::kFrozen, seconds_of(stillness_.length()), frame.time, changes);
  if (!same_since_ || !std::equal(same_.begin(), same_.end(), frame.bins)) {
    std::copy_n(frame.bins, same_.size(), same_.begin());
    same_since_ = frame.time;
  }
  update(Verdict::kFrozen, seconds_of(frame.time - *same_since_), frame.time, changes);
}

/// A value that is unknown, as in the dark, leaves its verdict as it is; a value that would change
/// the verdict has to last for the whole hold time again.
void Judge::judge_scenery(const Measurement &frame, std::vector<Change> &changes) {
  if (frame.thumbnail == nullptr) return;
  const std::optional<Scenery::View> view = scenery_.add(frame.time, frame.thumbnail);
  if (view && view->is_usual())
    scene_usual_ = {scene_usual_ ? scene_usual_->since : frame.time, frame.time};
  else
    scene_usual_.reset();
  const auto judge = [&](Verdict verdict, std::optional<double> value) {
    if (value) return update(verdict, *value, frame.time, changes);
    conditions_[static_cast<size_t>(verdict)].crossing.reset();
  };
  judge(Verdict::kMoved, view ? std::optional(view->moved) : std::nullopt);
  judge(Verdict::kCovered, view ? view->covered : std::nullopt);
  judge(Verdict::kBlurred, view ? view->blurred : std::nullopt);
}

/// Whether a picture that differs from the earlier one is the usual one now. A fault that explains
/// the difference has to end first.
bool Judge::is_accepted(Time now) const {
  if (!recent_ || !recent_->differs_since || is_explained(Verdict::kSuddenChange)) return false;
  const Time since = *recent_->differs_since;
  return seconds_of(now - since) >= change_times().accepted ||
         (scene_usual_ &&
          scene_usual_->latest - std::max(since, scene_usual_->since) >= kSceneAccepted);
}

/// Compares frames with the picture of the last seconds, which follows them while they are like it.
/// While they are not, it is the picture that has to come back.
void Judge::judge_change(const Measurement &frame, std::vector<Change> &changes) {
  if (!rule_of(Verdict::kSuddenChange).enabled) return;
  if (is_accepted(frame.time)) {
    recent_.reset();
    clear(Verdict::kSuddenChange, Cause::kAccepted, frame.time, changes);
  }
  const Shares shares = shares_of(frame);
  std::optional<Lumas> blocks;
  if (frame.blocks != nullptr) blocks = lumas_of(*frame.blocks);
  if (!recent_) recent_ = Recent{shares, blocks, frame.time};
  if (!recent_->blocks) recent_->blocks = blocks;

  double moved = distance(shares, recent_->shares);
  if (blocks) moved = std::max(moved, change_of(*blocks, *recent_->blocks, frame.blocks->visible));
  update(Verdict::kSuddenChange, moved, frame.time, changes);
  const Time elapsed = std::max<Time>(0, frame.time - recent_->time);
  recent_->time = frame.time;
  const bool differs =
      condition_of(Verdict::kSuddenChange).raised || moved > rule_of(Verdict::kSuddenChange).raise;
  if (!differs)
    recent_->differs_since.reset();
  else if (!recent_->differs_since)
    recent_->differs_since = frame.time;
  if (differs) return;
  const double step = 1 - std::exp(-seconds_of(elapsed) / change_times().adaptation);
  follow(recent_->shares, shares, step);
  if (blocks) follow(*recent_->blocks, *blocks, step);
}

const Judge::Condition &Judge::condition_of(Verdict verdict) const {
  return conditions_[static_cast<size_t>(verdict)];
}

/// Whether a verdict that stands, or is about to be raised, explains this one.
bool Judge::is_explained(Verdict verdict) const {
  for (size_t i = 0; i < kVerdicts; ++i)
    if (explains(static_cast<Verdict>(i), verdict) &&
        (conditions_[i].raised || conditions_[i].crossing))
      return true;
  return false;
}

void Judge::update(Verdict verdict, double value, Time now, std::vector<Change> &changes) {
  Condition &condition = conditions_[static_cast<size_t>(verdict)];
  if (!rule_of(verdict).enabled) return;
  if (verdict != Verdict::kNoFrames) condition.is_judged = true;
  if (!condition.raised && is_explained(verdict)) {
    condition.value = value;
    condition.crossing.reset();
    return;
  }
  const std::optional<double> threshold = cross(verdict, condition, value, now);
  if (!threshold) return;
  changes.push_back({verdict, condition.raised, condition.since, value, Cause::kValue, threshold});
  if (!condition.raised) return;
  for (size_t i = 0; i < kVerdicts; ++i)
    if (explains(verdict, static_cast<Verdict>(i)) && conditions_[i].raised)
      clear(static_cast<Verdict>(i), Cause::kExplained, now, changes);
}

/// Raises or clears the condition if the value has been beyond the threshold for the hold time.
/// Returns that threshold, or nothing if the condition did not change.
std::optional<double> Judge::cross(Verdict verdict, Condition &condition, double value,
                                   Time now) const {
  const Rule &rule = rule_of(verdict);
  condition.value = value;
  const double threshold = condition.raised ? rule.clear : rule.raise;
  const bool above = is_bad_above(verdict) != condition.raised;  // a value above would change it
  if (above ? value <= threshold : value >= threshold) {
    condition.crossing.reset();
    return {};
  }
  if (!condition.crossing) condition.crossing = now;
  if (now - *condition.crossing < seconds(rule.hold)) return {};
  condition.raised = !condition.raised;
  const bool has_lasted = condition.raised && is_duration(verdict);
  condition.since = has_lasted ? now - seconds(value) : *condition.crossing;
  condition.crossing.reset();
  return threshold;
}

}  // namespace luminance
