// SPDX-License-Identifier: LGPL-2.1-or-later
// From verdicts that are raised and cleared to faults: each is told once when it has lasted, and once
// when it is over, however often the verdict changes in between.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "notify/alert.h"
#include "watch/time.h"

namespace luminance {

struct FaultLimits {
  Time after = 0;   // how long a fault has to last
  Time settle = 0;  // how long a verdict has to be cleared for its fault to be over
  Time remind = 0;  // until a fault that lasts is told again; 0: never
  std::array<bool, kVerdicts> verdicts = all_verdicts();  // the others are not told
};

class Faults {
 public:
  explicit Faults(const FaultLimits &limits) : limits_(limits) {}

  /// For faults that stand, too. What was told is not told again.
  void set(const FaultLimits &limits) { limits_ = limits; }

  /// A verdict was raised, at `began`; `alert` says what is told of it. `delay`: how long it takes to
  /// be raised, also when it is raised again.
  void raise(const Alert &alert, Time began, Time delay);
  /// A verdict was cleared, at `wall`. Where silence did it, that says nothing of the picture.
  void clear(const std::string &camera, Verdict verdict, Cause cause, int64_t wall, Time now);
  /// What is known of each verdict. Call it for each camera before tick(), with set_maintenance().
  void look(const std::string &camera, const std::array<Sight, kVerdicts> &sights, int64_t wall,
            Time now);
  /// While somebody works on the camera, its faults are not told, but that told ones are over is.
  void set_maintenance(const std::string &camera, bool is_in_maintenance);
  /// A camera that comes back soon, as after a change of its settings, has the faults that it had.
  void add(const std::string &camera);
  void remove(const std::string &camera, Time now);

  /// What has to be told by now. Call a few times per second.
  std::vector<Alert> tick(Time now);

  /// Whether there is a fault that is not over, told or not.
  bool has(const std::string &camera, Verdict verdict) const {
    return find(camera, verdict) != nullptr;
  }
  /// Whether there is one that was told.
  bool stands(const std::string &camera, Verdict verdict) const {
    const Fault *fault = find(camera, verdict);
    return fault != nullptr && fault->is_told;
  }

 private:
  enum class State {
    kRaised,
    kSettling,  // cleared, but not for long
    kUnknown,   // no frame has told since
  };
  struct Fault {
    Alert alert;
    Time began = 0, delay = 0;
    State state = State::kRaised;
    Time settling = 0;  // since when
    Time told = 0;      // when, the last time
    bool is_told = false;
  };
  struct Camera {
    std::map<Verdict, Fault> faults;
    std::optional<Time> removed;
    bool is_in_maintenance = false;
  };

  const Fault *find(const std::string &camera, Verdict verdict) const;  // or null
  static void settle(Fault &fault, Cause cause, int64_t wall, Time now);
  bool is_wanted(const Fault &fault) const {
    return limits_.verdicts[static_cast<size_t>(fault.alert.verdict)];
  }
  bool review(Fault &fault, bool may_be_told, Time now, std::vector<Alert> &alerts) const;

  FaultLimits limits_;
  std::map<std::string, Camera> cameras_;  // those that have had faults
};

}  // namespace luminance
