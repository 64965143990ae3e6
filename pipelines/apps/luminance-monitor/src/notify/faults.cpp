// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/faults.h"

namespace luminance {

void Faults::raise(const Alert &alert, Time began, Time delay) {
  Camera &camera = cameras_[alert.camera];
  const auto [entry, is_new] = camera.faults.try_emplace(alert.verdict);
  Fault &fault = entry->second;
  if (is_new) {
    fault.alert = alert;
    fault.began = began;
  }
  fault.state = State::kRaised;
  fault.delay = delay;
  fault.alert.name = alert.name;
  fault.alert.cleared.reset();
}

void Faults::clear(const std::string &id, Verdict verdict, Cause cause, int64_t wall, Time now) {
  const auto known = cameras_.find(id);
  if (known == cameras_.end()) return;
  const auto found = known->second.faults.find(verdict);
  if (found == known->second.faults.end()) return;
  if (cause == Cause::kSilence)
    found->second.state = State::kUnknown;
  else
    settle(found->second, cause, wall, now);
}

void Faults::look(const std::string &id, const std::array<Sight, kVerdicts> &sights, int64_t wall,
                  Time now) {
  const auto known = cameras_.find(id);
  if (known == cameras_.end()) return;
  for (auto &[verdict, fault] : known->second.faults) {
    const Sight sight = sights[static_cast<size_t>(verdict)];
    const bool is_settling = fault.state == State::kSettling;
    if (sight == Sight::kOff && !is_settling) settle(fault, Cause::kRules, wall, now);
    // A reference that is learned anew ends the fault for good; otherwise, frames have to show that
    // it is over.
    else if (sight == Sight::kBlind && is_settling && fault.alert.cause != Cause::kReference)
      fault.state = State::kUnknown;
    else if (sight == Sight::kJudged && fault.state == State::kUnknown)
      settle(fault, Cause::kValue, wall, now);
  }
}

void Faults::settle(Fault &fault, Cause cause, int64_t wall, Time now) {
  fault.state = State::kSettling;
  fault.settling = now;
  fault.alert.cleared = wall;
  fault.alert.cause = cause;
}

void Faults::set_maintenance(const std::string &id, bool is_in_maintenance) {
  const auto known = cameras_.find(id);
  if (known != cameras_.end()) known->second.is_in_maintenance = is_in_maintenance;
}

void Faults::add(const std::string &id) {
  const auto known = cameras_.find(id);
  if (known != cameras_.end()) known->second.removed.reset();
}

void Faults::remove(const std::string &id, Time now) {
  const auto known = cameras_.find(id);
  if (known == cameras_.end()) return;
  known->second.removed = now;
  for (auto &[verdict, fault] : known->second.faults) fault.state = State::kUnknown;
}

std::vector<Alert> Faults::tick(Time now) {
  std::vector<Alert> alerts;
  for (auto camera = cameras_.begin(); camera != cameras_.end();) {
    auto &[id, known] = *camera;
    for (auto fault = known.faults.begin(); fault != known.faults.end();) {
      const bool may_be_told = is_wanted(fault->second) && !known.is_in_maintenance;
      const bool is_over = review(fault->second, may_be_told, now, alerts);
      fault = is_over ? known.faults.erase(fault) : std::next(fault);
    }
    const bool is_gone = known.removed && now - *known.removed >= limits_.settle;
    camera = is_gone || known.faults.empty() ? cameras_.erase(camera) : std::next(camera);
  }
  return alerts;
}

/// Adds the alert of the fault that is due, if any. Returns whether the fault is over.
bool Faults::review(Fault &fault, bool may_be_told, Time now, std::vector<Alert> &alerts) const {
  const auto tell = [&](Alert::Event event) {
    alerts.push_back(fault.alert);
    alerts.back().event = event;
    fault.told = now;
    fault.is_told = true;
  };
  if (fault.state == State::kRaised && may_be_told) {
    if (!fault.is_told && now - fault.began >= limits_.after)
      tell(Alert::Event::kRaised);
    else if (fault.is_told && limits_.remind > 0 && now - fault.told >= limits_.remind)
      tell(Alert::Event::kReminder);
  }
  const Time settle = limits_.settle + fault.delay;
  if (fault.state != State::kSettling || now - fault.settling < settle) return false;
  if (fault.is_told) tell(Alert::Event::kCleared);
  return true;
}

const Faults::Fault *Faults::find(const std::string &id, Verdict verdict) const {
  const auto camera = cameras_.find(id);
  if (camera == cameras_.end()) return nullptr;
  const auto fault = camera->second.faults.find(verdict);
  return fault != camera->second.faults.end() ? &fault->second : nullptr;
}

}  // namespace luminance
