// SPDX-License-Identifier: LGPL-2.1-or-later
// The verdicts on a camera's picture, judged frame by frame: a verdict changes when its value has
// been beyond a threshold for a while.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "settings/rules.h"
#include "watch/flicker.h"
#include "watch/measurement.h"
#include "watch/scenery.h"
#include "watch/stillness.h"
#include "watch/time.h"

namespace luminance {

struct Standing {
  Verdict verdict;
  Time since;        // when it began, not when the hold time was over
  double value;      // the latest value
  double threshold;  // the present one for raising it
};

/// Why a verdict was raised or cleared. All but the first only clear.
enum class Cause {
  kValue,      // it crossed a threshold
  kSilence,    // the camera sends no frames
  kRules,      // the verdict was turned off
  kReference,  // what the camera is meant to look at was learned anew
  kExplained,  // another verdict is the reason
  kAccepted,   // the changed picture is the usual one now
};
/// The name in the API: "value", "silence", "rules", "reference", "explained", "accepted".
std::string_view name_of(Cause cause);
/// Why a verdict was cleared, for people: "no longer judged".
std::string_view phrase_of(Cause cause);

struct Change {
  Verdict verdict;
  bool raised;   // or cleared
  Time time;     // when it began or ended, not when the hold time was over
  double value;  // at the change
  Cause cause = Cause::kValue;
  std::optional<double> threshold = {};  // the one that the value crossed, if that is the cause
};

/// What is known of a verdict.
enum class Sight {
  kOff,    // it is not judged
  kBlind,  // no frame has shown it, since the camera was silent or the verdict was turned on
  kJudged,
};

/// The verdicts of one camera.
class Judge {
 public:
  /// Silence is measured from `now` on.
  Judge(const Rules &rules, Time now);

  /// Returns the changes, including those due to the time since the last frame.
  /// `listening_time` is a clock that is stopped while the program cannot receive frames; silence
  /// is measured with it.
  std::vector<Change> judge(const Measurement &frame, Time listening_time);
  std::vector<Change> judge(const Measurement &frame) { return judge(frame, frame.time); }
  /// Call a few times per second, with or without frames. Without frames, all other verdicts are
  /// cleared.
  std::vector<Change> tick(Time now, Time listening_time);
  std::vector<Change> tick(Time now) { return tick(now, now); }
  /// Judges by these rules from now on. Verdicts that stand are judged by their new thresholds;
  /// those that are turned off are cleared.
  std::vector<Change> set_rules(const Rules &rules, Time now);
  const Rules &rules() const { return rules_; }
  Sight sight_of(Verdict verdict) const;
  /// Whether the camera sends no frames, by the rule of no-frames, even if that is turned off.
  bool is_silent() const { return silence_.raised; }
  /// Measures silence from now on, unless the camera already counts as silent.
  void reset_silence(Time listening_time);
  /// Call if the next frames must not be compared with earlier ones.
  void restart();

  /// Learns anew what the camera is meant to look at, and clears the verdicts on that.
  std::vector<Change> renew_scene(Time now);

  /// Returns the verdicts that stand, in order of severity.
  std::vector<Standing> standing() const;
  /// What the camera is meant to look at.
  const Scenery &scenery() const { return scenery_; }
  Scenery &scenery() { return scenery_; }

 private:
  struct Condition {
    bool raised = false;
    bool is_judged = false;        // whether a frame has been judged
    Time since = 0;                // when `raised` became what it is
    std::optional<Time> crossing;  // since when the value has been beyond the threshold
    double value = 0;
  };
  struct Recent {
    std::array<double, 256> shares;                            // of the pixels, by luma
    std::optional<std::array<double, Blocks::kCount>> blocks;  // their lumas
    Time time;
    std::optional<Time> differs_since = {};  // since when frames have been unlike it
  };

  struct Span {
    Time since, latest;
  };

  void judge_levels(const Measurement &frame, std::vector<Change> &changes);
  void judge_frame_rate(const Measurement &frame, std::vector<Change> &changes);
  void judge_stillness(const Measurement &frame, std::vector<Change> &changes);
  void judge_scenery(const Measurement &frame, std::vector<Change> &changes);
  void judge_change(const Measurement &frame, std::vector<Change> &changes);
  const Rule &rule_of(Verdict verdict) const { return rules_[static_cast<size_t>(verdict)]; }
  const Condition &condition_of(Verdict verdict) const;
  bool is_explained(Verdict verdict) const;
  bool is_accepted(Time now) const;
  void clear(Verdict verdict, Cause cause, Time now, std::vector<Change> &changes);
  void judge_silence(double length, Time now, std::vector<Change> &changes);
  void update(Verdict verdict, double value, Time now, std::vector<Change> &changes);
  std::optional<double> cross(Verdict verdict, Condition &condition, double value, Time now) const;

  Rules rules_;
  std::array<Condition, kVerdicts> conditions_;
  Condition silence_;  // by the rule of no-frames, even if that is not reported
  Time last_heard_;    // `listening_time` of the last frame
  Stillness stillness_;
  bool has_blocks_ = false;              // at least for some frames
  std::array<uint64_t, 256> same_ = {};  // the bins of the latest frames, all identical
  std::optional<Time> same_since_;
  std::optional<Recent> recent_;  // the picture of the last seconds
  Scenery scenery_;
  std::optional<Span> scene_usual_;  // the latest thumbnails, while all show the usual scene
  Flicker flicker_;
  Time flicker_judged_ = 0;
};

}  // namespace luminance
