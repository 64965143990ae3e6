// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells whether a camera still looks at what it is meant to look at, by the edges of the scene,
// which is learned when the camera is first seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "watch/scene.h"
#include "watch/time.h"

namespace luminance {

/// Learns a scene from looks at it.
class SceneLearner {
 public:
  static constexpr Time kTime = 120 * kSecond;

  /// Adds a look. Begins anew if the camera is being moved.
  void add(Time time, const Look &look);
  void clear() { *this = SceneLearner(); }
  /// Returns the scene once enough was seen.
  std::optional<Scene> result() const;

 private:
  Scene mean() const;

  std::optional<Time> since_;
  Time latest_ = 0;
  float count_ = 0;
  Edges edges_;  // the sums
  CellValues lumas_ = {}, energy_ = {};
  std::array<Fineness, Thumbnail::kCells> fineness_ = {};
  std::vector<double> likenesses_;
};

class Scenery {
 public:
  static constexpr size_t kLights = 4;  // lights in which the scene is known, at most

  struct View {
    double moved;  // share of the scene's edges that are not where they were
    // Empty if unknown, because hardly anything is where it was.
    std::optional<double> covered;  // share of the scene's edges that are not seen
    std::optional<double> blurred;  // share of the scene's fine detail that is missing

    /// Whether this is what the camera is meant to see.
    bool is_usual() const;
  };

  /// Adds the next thumbnail. Call every few seconds. Returns nothing while the scene is not known,
  /// or if it is too dark or too plain to be recognized.
  std::optional<View> add(Time time, const std::shared_ptr<const Thumbnail> &thumbnail);
  /// Call if the next thumbnails do not follow those before. The scene stays the same.
  void restart();
  /// Forgets the scene, and learns what is seen from now on.
  void renew();
  /// What is known of the scene, in several lights; empty: nothing yet.
  std::vector<Scene> scenes() const;
  /// Goes on with scenes that were known before.
  void restore(const std::vector<Scene> &scenes, Time learned, Time now);
  /// A number that changes whenever a scene is learned or forgotten.
  uint64_t version() const { return version_; }
  /// When the scene was learned, if it is known.
  std::optional<Time> learned() const { return learned_; }

 private:
  struct Known {
    Scene scene;
    Time used;  // when it was last the scene most like what was seen
  };

  void follow(Time time, const Look &look, const Match &match, Scene &scene);
  void learn(Time time, const Look &look);

  Look::Thumbnails thumbnails_;
  std::vector<Known> known_;  // the scene in several lights
  SceneLearner learner_;      // learns the scene, or the scene in another light
  std::optional<Time> learned_;
  Time followed_ = 0;
  uint64_t version_ = 0;
};

}  // namespace luminance
