// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/openincidents.h"

#include <algorithm>
#include <string_view>

namespace luminance {
namespace {

// A restarted monitor resumes incidents only after a gap of at most kMaxGap, because nothing is
// known about the gap. It waits kResumed for the verdict: cameras need a while to be judged again.
constexpr int64_t kMaxGap = 15 * 60 * 1000;  // milliseconds
constexpr Time kResumed = 5 * 60 * kSecond;

// Reasons besides the names of causes.
constexpr std::string_view kRestart = "restart", kRemoved = "removed", kEnd = "end";

const Rule &rule_of(const Camera &camera, Verdict verdict) {
  return camera.rules()[static_cast<size_t>(verdict)];
}

/// Returns the minimum time that it takes to raise the verdict.
Time delay_of(const Camera &camera, Verdict verdict) {
  const Rule &rule = rule_of(camera, verdict);
  return seconds(rule.hold + (is_duration(verdict) ? rule.raise : 0));
}

}  // namespace

void OpenIncidents::resume(std::vector<Incident> incidents) {
  for (Incident &incident : incidents) {
    const Camera *const camera = monitor_.camera(incident.camera);
    const auto known = camera != nullptr ? key_of(*camera, incident.verdict) : std::nullopt;
    if ((known && known->since == incident.since) || is_former(incident)) continue;
    const bool is_too_old = now() - incident.until > kMaxGap;
    if (camera == nullptr || known || is_too_old || monitor_.clock().is_fast()) {
      const int64_t until = incident.until;
      end(std::move(incident), until, kRestart);
      continue;
    }
    const Time deadline = monitor_.clock().now() + kResumed + delay_of(*camera, incident.verdict);
    former_.push_back({std::move(incident), deadline});
  }
}

void OpenIncidents::note(const Camera &camera, const Change &change) {
  if (change.raised) return begin(camera, change);
  Open &open = open_[&camera];
  const auto found = open.find(change.verdict);
  if (found == open.end()) return;
  Incident incident = std::move(found->second);
  open.erase(found);
  end(std::move(incident), wall(change.time), name_of(change.cause));
}

void OpenIncidents::begin(const Camera &camera, const Change &change) {
  if (key_of(camera, change.verdict)) return;  // it lasts already
  Incident incident;
  if (auto former = take_former(camera.id(), change.verdict)) {
    incident = *std::move(former);
  } else {
    incident.camera = camera.id();
    incident.verdict = change.verdict;
    incident.since = wall(change.time);
    incident.threshold = rule_of(camera, change.verdict).raise;
    incident.is_in_maintenance = camera.maintenance().has_value();
  }
  incident.until = std::max(incident.since, now());
  if (is_worse(change.verdict, change.value, incident.value)) incident.value = change.value;
  put_(incident);
  open_[&camera][change.verdict] = std::move(incident);
}

/// Ends an incident. Its end is not before its begin, even if the clock was set back in between.
void OpenIncidents::end(Incident incident, int64_t time, std::string_view reason) {
  incident.until = std::max(incident.since, time);
  incident.reason = reason;
  put_(incident);
}

std::optional<Incident> OpenIncidents::take_former(const std::string &camera, Verdict verdict) {
  const auto found = std::find_if(former_.begin(), former_.end(), [&](const Former &former) {
    return former.incident.camera == camera && former.incident.verdict == verdict;
  });
  if (found == former_.end()) return {};
  Incident incident = std::move(found->incident);
  former_.erase(found);
  return incident;
}

void OpenIncidents::look(const Camera &camera) {
  const auto open = open_.find(&camera);
  if (open == open_.end()) return;
  for (const Standing &standing : camera.standing()) {
    const auto found = open->second.find(standing.verdict);
    if (found == open->second.end()) continue;
    Incident &incident = found->second;
    if (is_worse(standing.verdict, standing.value, incident.value)) incident.value = standing.value;
  }
}

void OpenIncidents::report(const Camera &camera) {
  const auto open = open_.find(&camera);
  if (open == open_.end()) return;
  for (auto &[verdict, incident] : open->second) {
    incident.until = std::max(incident.since, now());
    put_(incident);
  }
}

void OpenIncidents::remove(const Camera &camera) {
  look(camera);
  const auto open = open_.find(&camera);
  if (open != open_.end()) {
    for (auto &[verdict, incident] : open->second) end(std::move(incident), now(), kRemoved);
    open_.erase(open);
  }
  for (size_t verdict = 0; verdict < kVerdicts; ++verdict)
    if (auto former = take_former(camera.id(), static_cast<Verdict>(verdict))) {
      const int64_t until = former->until;
      end(*std::move(former), until, kRestart);
    }
}

bool OpenIncidents::is_former(const Incident &incident) const {
  return std::any_of(former_.begin(), former_.end(), [&](const Former &former) {
    return former.incident.camera == incident.camera &&
           former.incident.verdict == incident.verdict && former.incident.since == incident.since;
  });
}

bool OpenIncidents::is_lost(const Former &former) const {
  const Camera *const camera = monitor_.camera(former.incident.camera);
  return camera == nullptr || camera->sight_of(former.incident.verdict) == Sight::kOff ||
         monitor_.clock().now() >= former.deadline;
}

void OpenIncidents::tick() {
  for (const auto &camera : monitor_.cameras()) look(*camera);
  std::vector<Former> rest;
  for (Former &former : former_) {
    if (!is_lost(former)) {
      rest.push_back(std::move(former));
      continue;
    }
    const int64_t until = former.incident.until;
    end(std::move(former.incident), until, kRestart);
  }
  former_ = std::move(rest);
}

void OpenIncidents::finish() {
  const bool is_over = monitor_.clock().is_fast();
  for (const auto &camera : monitor_.cameras()) {
    look(*camera);
    if (!is_over) {
      report(*camera);
      continue;
    }
    for (auto &[verdict, incident] : open_[camera.get()])
      end(std::move(incident), wall(camera->last_frame().value_or(monitor_.clock().now())), kEnd);
  }
  if (is_over) open_.clear();
}

std::optional<IncidentKey> OpenIncidents::key_of(const Camera &camera, Verdict verdict) const {
  const auto open = open_.find(&camera);
  if (open == open_.end()) return {};
  const auto found = open->second.find(verdict);
  if (found == open->second.end()) return {};
  return luminance::key_of(found->second);
}

}  // namespace luminance
