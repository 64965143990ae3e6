// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes faults of verdicts that are raised and cleared. A fault causes one alert when it has lasted
// long enough and one when it is over, however often its verdict changes in between.
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
  Time remind = 0;  // between alerts of a fault that lasts; 0: no reminders
  std::array<bool, kVerdicts> verdicts = all_verdicts();  // that cause alerts
};

class Faults {
 public:
  explicit Faults(const FaultLimits &limits) : limits_(limits) {}

  /// Sets the limits, also for present faults. Alerts that were sent are not repeated.
  void set(const FaultLimits &limits) { limits_ = limits; }

  /// Notes that a verdict was raised, at `began`; `alert` has the data for its alerts. `delay`: how
  /// long the monitor holds the verdict before it raises it, also the next time.
  void raise(const Alert &alert, Time began, Time delay);
  /// Notes that a verdict was cleared, at `wall`. If silence cleared it, the picture is unknown,
  /// and the fault is not over.
  void clear(const std::string &camera, Verdict verdict, Cause cause, int64_t wall, Time now);
  /// Takes what is known of each verdict now. Call it for each camera before tick(), with
  /// set_maintenance().
  void look(const std::string &camera, const std::array<Sight, kVerdicts> &sights, int64_t wall,
            Time now);
  /// While a camera is in maintenance, its faults cause no alerts; the end of a fault that has been
  /// told still does.
  void set_maintenance(const std::string &camera, bool is_in_maintenance);
  /// A camera that is added soon after its removal, as when its settings change, keeps its faults.
  void add(const std::string &camera);
  void remove(const std::string &camera, Time now);

  /// Returns the alerts that are due. Call a few times per second.
  std::vector<Alert> tick(Time now);

  /// Returns whether there is a fault that is not over, told or not.
  bool has(const std::string &camera, Verdict verdict) const {
    return find(camera, verdict) != nullptr;
  }
  /// Returns whether there is a fault that was told and is not over.
  bool stands(const std::string &camera, Verdict verdict) const {
    const Fault *fault = find(camera, verdict);
    return fault != nullptr && fault->is_told;
  }

 private:
  enum class State {
    kRaised,
    kSettling,  // cleared, but not for long
    kUnknown,   // no frame has been judged since
  };
  struct Fault {
    Alert alert;
    Time began = 0, delay = 0;
    State state = State::kRaised;
    Time settling = 0;  // since when it is settling
    Time told = 0;      // time of the latest alert
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
  std::map<std::string, Camera> cameras_;  // by id; those that have faults
};

}  // namespace luminance
