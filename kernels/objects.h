// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects from the candidates of a slot: scores, boxes in pixels, order, limits and suppression of
// boxes that overlap. It runs on the host for all backends.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/detections.h"
#include "kernels/geometry.h"

namespace cudatensor {

struct ObjectParams {
  double confidence = 0.25;
  double iou = 0.7;             ///< a box that overlaps a better one by more is suppressed
  int max_objects = 300;        ///< of each slot
  bool class_agnostic = false;  ///< boxes suppress those of other classes, too
  std::vector<int> classes;     ///< only these; empty: all
  int width, height;            ///< of a slot, in pixels
};

/// Throws Error::settings, which names the property, if a parameter is out of range.
void check_object_params(const ObjectParams &params);

struct FoundObject {
  int32_t type;  ///< the class
  float score;
  std::array<float, 4> box;  ///< x0, y0, x1, y1 in pixels of the slot, neither rounded nor clipped
};

/// Replaces `objects` by those of a slot. `candidates` are in the order of their rows; they are
/// reordered.
void find_objects(const CandidatePlan &plan, const ObjectParams &params,
                  std::vector<Candidate> &candidates, std::vector<FoundObject> &objects);

/// Returns a box with its corners rounded to the nearest pixel and clipped to the slot; no value if
/// nothing is left.
std::optional<Rect> pixels_of(const std::array<float, 4> &box, int width, int height);

}  // namespace cudatensor
