// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/scenery.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace luminance {
namespace {

using View = Scenery::View;

// If a smaller share of edges is in place, the picture is another one, even if the other edges are
// not found elsewhere.
constexpr double kAnother = 0.2;
// In another light, the likeness of edges in place is below the usual one by more than kOtherLight.
// What covers a lens does not change the edges that it does not cover.
constexpr double kOtherLight = 0.08, kMaxInOtherLight = 0.9;
// If a larger share of edges is found elsewhere, the picture has moved. A few are found by chance.
constexpr double kFoundElsewhere = 0.15;
// The known scene follows what is seen, such as shadows, leaves and parked cars, in this time.
constexpr double kAdaptation = 1800;  // seconds
constexpr double kUsuallyMoved = 0.15, kUsuallyCovered = 0.12, kUsuallyBlurred = 0.25;
// While a scene is learned, a smaller share of edges is in place only if the camera is being moved.
constexpr double kSteady = 0.5;
constexpr float kMinLooks = 5;
// After a longer gap, the thumbnails before it are of another time.
constexpr Time kGap = 180 * kSecond;

bool is_other_light(const Match &match, const Scene &scene) {
  return match.in_place >= kAnother && match.in_place < kMaxInOtherLight &&
         match.elsewhere < kFoundElsewhere && match.likeness < scene.likeness - kOtherLight;
}

View view_of(const Match &match, const Scene &scene) {
  const bool is_another = match.in_place < kAnother && match.has_edges;
  const auto blurred = match.in_place < kAnother ? std::nullopt : std::optional(match.blur);
  // In a picture that has moved, some edges are in place by chance.
  if (match.elsewhere >= kFoundElsewhere)
    return {1 - match.in_place, {}, match.in_place < kSteady ? std::nullopt : blurred};
  // Edges that are far out of focus are not in place.
  if (match.in_place < kAnother && match.is_same_shape) return {0, 0, 1};
  if (is_another) return {1 - match.in_place, {}, {}};
  return {match.elsewhere, is_other_light(match, scene) ? 0 : match.lost, blurred};
}

/// Returns the scene, changed towards the look by `share`. It keeps the contrast of the scene.
Scene blended(Scene scene, const Look &look, double contrast, double share) {
  const auto step = static_cast<float>(share), factor = static_cast<float>(1 / contrast);
  for (size_t i = 0; i < scene.edges.x.size(); ++i) {
    scene.edges.x[i] += step * (factor * look.edges.x[i] - scene.edges.x[i]);
    scene.edges.y[i] += step * (factor * look.edges.y[i] - scene.edges.y[i]);
  }
  measure_energy(scene.edges);
  for (size_t cell = 0; cell < scene.lumas.size(); ++cell) {
    scene.lumas[cell] += step * (look.lumas[cell] - scene.lumas[cell]);
    if (!look.shows_sharpness(cell)) continue;
    const Fineness now = look.fineness(cell);
    Fineness &usual = scene.fineness[cell];
    usual.near += step * (now.near / look.edges.energy[cell] - usual.near);
    usual.far += step * (now.far / look.edges.energy[cell] - usual.far);
  }
  return scene;
}

}  // namespace

bool Scenery::View::is_usual() const {
  return moved < kUsuallyMoved && covered.value_or(0) < kUsuallyCovered &&
         blurred.value_or(0) < kUsuallyBlurred;
}

void SceneLearner::add(Time time, const Look &look) {
  const bool is_late = since_ && (time < latest_ || time - latest_ > kGap);
  if (count_ >= kMinLooks && !is_late) {
    const Match match(look, mean());
    if (match.cells >= Match::kMinCells && match.in_place < kSteady)
      clear();
    else
      likenesses_.push_back(match.likeness);
  }
  if (is_late) clear();
  if (!since_) since_ = time;
  latest_ = time;
  ++count_;
  for (size_t i = 0; i < edges_.x.size(); ++i) {
    edges_.x[i] += look.edges.x[i];
    edges_.y[i] += look.edges.y[i];
  }
  for (size_t cell = 0; cell < lumas_.size(); ++cell) {
    lumas_[cell] += look.lumas[cell];
    if (!look.shows_sharpness(cell)) continue;
    const Fineness fineness = look.fineness(cell);
    fineness_[cell].near += fineness.near;
    fineness_[cell].far += fineness.far;
    energy_[cell] += look.edges.energy[cell];
  }
}

Scene SceneLearner::mean() const {
  Scene scene;
  for (size_t i = 0; i < edges_.x.size(); ++i) {
    scene.edges.x[i] = edges_.x[i] / count_;
    scene.edges.y[i] = edges_.y[i] / count_;
  }
  measure_energy(scene.edges);
  for (size_t cell = 0; cell < lumas_.size(); ++cell) {
    scene.lumas[cell] = lumas_[cell] / count_;
    if (energy_[cell] == 0) continue;
    scene.fineness[cell] = {fineness_[cell].near / energy_[cell],
                            fineness_[cell].far / energy_[cell]};
  }
  scene.likeness = median(likenesses_, 1);
  return scene;
}

std::optional<Scene> SceneLearner::result() const {
  if (!since_ || latest_ - *since_ < kTime || count_ < 2 * kMinLooks) return {};
  return mean();
}

std::optional<View> Scenery::add(Time time, const std::shared_ptr<const Thumbnail> &thumbnail) {
  thumbnails_.push_back(thumbnail);
  if (thumbnails_.size() > Look::kThumbnails) thumbnails_.pop_front();
  if (thumbnails_.size() < Look::kThumbnails) return {};
  const Look look(thumbnails_);
  if (known_.empty()) {
    learn(time, look);
    return {};
  }
  Known *best = nullptr;
  std::optional<Match> match;
  for (Known &known : known_) {
    const Match other(look, known.scene);
    if (match && other.in_place <= match->in_place) continue;
    best = &known;
    match = other;
  }
  if (match->cells < Match::kMinCells) return {};
  best->used = time;
  const View view = view_of(*match, best->scene);
  if (view.is_usual()) follow(time, look, *match, best->scene);
  return view;
}

void Scenery::restart() { thumbnails_.clear(); }

void Scenery::renew() {
  const uint64_t next = version_ + 1;
  *this = Scenery();
  version_ = next;
}

std::vector<Scene> Scenery::scenes() const {
  std::vector<Scene> scenes;
  for (const Known &known : known_) scenes.push_back(known.scene);
  return scenes;
}

void Scenery::restore(const std::vector<Scene> &scenes, Time learned, Time now) {
  known_.clear();
  for (const Scene &scene : scenes) known_.push_back({scene, now});
  learned_ = learned;
  followed_ = now;
}

/// Adapts the scene to a look that shows it.
void Scenery::follow(Time time, const Look &look, const Match &match, Scene &scene) {
  const Time elapsed = std::clamp<Time>(time - std::exchange(followed_, time), 0, kGap);
  if (is_other_light(match, scene)) return learn(time, look);
  learner_.clear();
  if (match.in_place < kSteady) return;
  const double step = 1 - std::exp(-static_cast<double>(elapsed) / kSecond / kAdaptation);
  Scene next = blended(scene, look, match.contrast, step);
  // If edges fade one after the other, too few may be left to recognize the scene.
  if (next.is_sound()) scene = std::move(next);
}

void Scenery::learn(Time time, const Look &look) {
  learner_.add(time, look);
  std::optional<Scene> scene = learner_.result();
  if (!scene) return;
  learner_.clear();
  if (!scene->is_sound()) return;
  if (known_.size() == kLights)
    known_.erase(std::min_element(known_.begin(), known_.end(),
                                  [](const auto &a, const auto &b) { return a.used < b.used; }));
  known_.push_back({std::move(*scene), time});
  if (!learned_) learned_ = time;
  ++version_;
}

}  // namespace luminance
