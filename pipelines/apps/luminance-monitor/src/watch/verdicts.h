// SPDX-License-Identifier: LGPL-2.1-or-later
// What is wrong with a camera's picture, judged frame by frame: a value crosses a threshold and
// stays there for a while.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "settings/rules.h"
#include "watch/flicker.h"
#include "watch/measurement.h"
#include "watch/stillness.h"
#include "watch/time.h"

namespace luminance {

struct Standing {
  Verdict verdict;
  Time since;    // when it began, not when the hold was over
  double value;  // the latest
};

struct Change {
  Verdict verdict;
  bool raised;   // or cleared
  Time time;     // when it began or ended, not when the hold was over
  double value;  // that made it so
};

/// The verdicts of one camera.
class Judge {
 public:
  /// From `now` on a frame is waited for.
  Judge(const Rules &rules, Time now);

  /// Returns what has changed, also because of the time since the last frame.
  /// `listened` is a clock that stands still while nobody listens to the camera: the silence of a
  /// camera is measured on it.
  std::vector<Change> judge(const Measurement &frame, Time listened);
  std::vector<Change> judge(const Measurement &frame) { return judge(frame, frame.time); }
  /// Frames or not: a few times a second. Where there are none, nothing else stands.
  std::vector<Change> tick(Time now, Time listened);
  std::vector<Change> tick(Time now) { return tick(now, now); }
  /// A silence begins now, unless one was reported.
  void wait_anew(Time listened);
  /// What comes next is not compared with what was before.
  void restart();

  /// By severity.
  std::vector<Standing> standing() const;

 private:
  struct Condition {
    bool raised = false;
    Time since = 0;                // of `raised`
    std::optional<Time> crossing;  // since when the value says otherwise
    double value = 0;
  };
  struct Usual {
    std::array<double, 256> shares;                            // of pixels
    std::optional<std::array<double, Blocks::kCount>> blocks;  // their lumas
    Time time;
  };

  void judge_levels(const Measurement &frame, std::vector<Change> &changes);
  void judge_flow(const Measurement &frame, std::vector<Change> &changes);
  void judge_stillness(const Measurement &frame, std::vector<Change> &changes);
  void judge_change(const Measurement &frame, std::vector<Change> &changes);
  const Condition &condition_of(Verdict verdict) const;
  void update(Verdict verdict, double value, Time now, std::vector<Change> &changes);

  const Rules rules_;
  std::array<Condition, kVerdicts> conditions_;
  Time heard_;  // `listened` of the last frame
  Stillness stillness_;
  bool has_blocks_ = false;              // or some of its frames have
  std::array<uint64_t, 256> same_ = {};  // the bins of the latest frames, all alike
  std::optional<Time> same_since_;
  std::optional<Usual> usual_;  // the picture of the last seconds
  Flicker flicker_;
  Time flicker_judged_ = 0;
};

}  // namespace luminance
