// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/objects.h"

#include <algorithm>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr size_t kMostSuppressed = 30000;

using Box = std::array<float, 4>;

float sigmoid(float logit) {
  return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(logit))));
}

/// Replaces logits by probabilities. All are NaN if one is NaN or the greatest is infinite.
void apply_softmax(Candidate *first, size_t count) {
  double greatest = -INFINITY, sum = 0.0;
  for (size_t i = 0; i < count; ++i)
    if (first[i].score > greatest) greatest = first[i].score;
  const auto power = [&](size_t i) { return std::exp(first[i].score - greatest); };
  for (size_t i = 0; i < count; ++i) sum += power(i);
  for (size_t i = 0; i < count; ++i) first[i].score = static_cast<float>(power(i) / sum);
}

/// Leaves the best class of each query, but the last.
void choose_classes(const CandidatePlan &plan, std::vector<Candidate> &candidates) {
  const auto classes = static_cast<size_t>(plan.classes);
  size_t queries = 0;
  for (size_t first = 0; first + classes <= candidates.size(); first += classes) {
    Candidate *const query = &candidates[first];
    const Candidate *best = query;
    for (size_t c = 1; c + 1 < classes; ++c)
      if (query[c].score > best->score) best = query + c;
    const int32_t type = best->type;
    apply_softmax(query, classes);
    candidates[queries++] = query[type];
  }
  candidates.resize(queries);
}

// ------------------------------------------------------------------------------------- boxes

Box centered(const float *b) {
  const float w = b[2] / 2.0f, h = b[3] / 2.0f;
  return {b[0] - w, b[1] - h, b[0] + w, b[1] + h};
}

Box scaled(const Box &b, float width, float height) {
  return {b[0] * width, b[1] * height, b[2] * width, b[3] * height};
}

Box corners_of(Decoder decoder, const float *b, const ObjectParams &params) {
  const auto width = static_cast<float>(params.width), height = static_cast<float>(params.height);
  switch (decoder) {
    case Decoder::yolo:
    case Decoder::yolov5: return centered(b);
    case Decoder::end2end: return {b[0], b[1], b[2], b[3]};
    case Decoder::detr:
    case Decoder::detr_softmax: return scaled(centered(b), width, height);
    case Decoder::ssd: return scaled({b[1], b[0], b[3], b[2]}, width, height);
    case Decoder::scores:
    case Decoder::probabilities: break;
  }
  return {0.0f, 0.0f, width, height};
}

bool is_box(const Box &b) {
  return std::all_of(b.begin(), b.end(), [](float side) { return std::isfinite(side); }) &&
         b[2] > b[0] && b[3] > b[1];
}

float area_of(const Box &b) { return (b[2] - b[0]) * (b[3] - b[1]); }

float iou_of(const Box &a, const Box &b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float inter = std::max(0.0f, width) * std::max(0.0f, height);
  return inter / ((area_of(a) + area_of(b)) - inter);
}

// ------------------------------------------------------------------------------------- order

bool is_selected(const ObjectParams &params, int32_t type) {
  return params.classes.empty() ||
         std::find(params.classes.begin(), params.classes.end(), type) != params.classes.end();
}

/// Adds the candidates that are objects of selected classes.
void add_objects(const CandidatePlan &plan, const ObjectParams &params,
                 const std::vector<Candidate> &candidates, std::vector<FoundObject> &objects) {
  objects.clear();
  for (const Candidate &each : candidates) {
    const Box box = corners_of(plan.decoder, each.box, params);
    if (is_box(box) && is_selected(params, each.type))
      objects.push_back({each.type, each.score, box});
  }
}

void keep_first(std::vector<FoundObject> &objects, int64_t count) {
  if (static_cast<int64_t>(objects.size()) > count) objects.resize(count);
}

void sort_by_score(std::vector<FoundObject> &objects) {
  std::stable_sort(objects.begin(), objects.end(),
                   [](const FoundObject &a, const FoundObject &b) { return a.score > b.score; });
}

void drop_below(std::vector<FoundObject> &objects, float threshold) {
  const auto is_low = [&](const FoundObject &each) { return !(each.score > threshold); };
  objects.erase(std::remove_if(objects.begin(), objects.end(), is_low), objects.end());
}

/// Leaves the boxes that overlap no better one, which come first.
void suppress(std::vector<FoundObject> &objects, const ObjectParams &params) {
  keep_first(objects, kMostSuppressed);
  const auto iou = static_cast<float>(params.iou);
  const auto most = static_cast<size_t>(params.max_objects);
  size_t kept = 0;
  for (size_t i = 0; i < objects.size() && kept < most; ++i) {
    const FoundObject each = objects[i];
    const auto overlaps = [&](const FoundObject &better) {
      return (params.class_agnostic || better.type == each.type) &&
             iou_of(better.box, each.box) > iou;
    };
    const auto end = objects.begin() + static_cast<ptrdiff_t>(kept);
    if (std::none_of(objects.begin(), end, overlaps)) objects[kept++] = each;
  }
  objects.resize(kept);
}

/// Leaves as many pairs of a query and a class as there are queries.
void choose_pairs(std::vector<FoundObject> &objects, int64_t queries) {
  sort_by_score(objects);
  keep_first(objects, queries);
  for (FoundObject &each : objects) each.score = sigmoid(each.score);
}

}  // namespace

void check_object_params(const ObjectParams &p) {
  const auto refuse = [](const char *text) { throw Error(Error::Code::settings, text); };
  if (!(p.confidence >= 0.0 && p.confidence <= 1.0)) refuse("confidence must be from 0 to 1");
  if (!(p.iou >= 0.0 && p.iou <= 1.0)) refuse("iou must be from 0 to 1");
  if (p.max_objects < 1) refuse("max-objects must be at least 1");
}

void find_objects(const CandidatePlan &plan, const ObjectParams &params,
                  std::vector<Candidate> &candidates, std::vector<FoundObject> &objects) {
  if (plan.decoder == Decoder::detr_softmax) choose_classes(plan, candidates);
  if (plan.decoder == Decoder::scores) apply_softmax(candidates.data(), candidates.size());
  add_objects(plan, params, candidates, objects);
  const bool is_ordered =
      plan.decoder == Decoder::end2end || (plan.decoder == Decoder::ssd && plan.has_count);
  if (plan.decoder == Decoder::detr) choose_pairs(objects, plan.boxes);
  drop_below(objects, static_cast<float>(params.confidence));
  if (!is_ordered && plan.decoder != Decoder::detr) sort_by_score(objects);
  const bool overlap = plan.decoder == Decoder::yolo || plan.decoder == Decoder::yolov5 ||
                       (plan.decoder == Decoder::ssd && !plan.has_count);
  if (overlap) suppress(objects, params);
  keep_first(objects, params.max_objects);
}

std::optional<Rect> pixels_of(const Box &box, int width, int height) {
  const auto pixel = [](float corner, int limit) {
    const float rounded = std::floor(corner + 0.5f);
    return static_cast<int>(std::min(std::max(rounded, 0.0f), static_cast<float>(limit)));
  };
  const int x0 = pixel(box[0], width), y0 = pixel(box[1], height);
  const int x1 = pixel(box[2], width), y1 = pixel(box[3], height);
  if (x1 <= x0 || y1 <= y0) return std::nullopt;
  return Rect{x0, y0, x1 - x0, y1 - y0};
}

}  // namespace cudatensor
