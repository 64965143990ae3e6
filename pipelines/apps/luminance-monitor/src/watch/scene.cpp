// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/scene.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace luminance {
namespace {

constexpr size_t kCells = Thumbnail::kCells, kCell = Thumbnail::kCell;
constexpr size_t kColumns = Thumbnail::kColumns, kRows = Thumbnail::kRows;

// Strength of edges in luma per pixel of the thumbnail, root mean square over a cell: above it,
// edges are the scene's, and below it, they may be those of noise or of an encoder.
constexpr float kEdges = 0.7F;
constexpr float kMinEnergy = kEdges * kEdges * kCell * kCell;
// The likeness of edges in place. Of other scenes it is 0.1 on average, and 0.5 in few cells.
constexpr double kInPlace = 0.6;
// The likeness of edges that are found elsewhere, and by how much it exceeds that in their place.
constexpr double kElsewhere = 0.75, kMoreElsewhere = 0.25;
constexpr size_t kMaxSearches = 24;  // cells whose edges are looked for elsewhere
// In the dark, nine of ten pixels are darker than kDark. Cells without edges are then ignored if
// the contrast of the others is below kFaint of the scene's, or if a share of the cells below kFew
// is in place.
constexpr float kDark = 50;
constexpr double kFaint = 0.5, kFew = 0.2;
// The least strength of fine edges that are judged, in squares of luma, plus a share of that of
// noise, which is known to a twentieth.
constexpr float kMinFine = 0.5F, kClear = 0.25F;
// The correlation of the lumas of a picture far out of focus with those of the scene.
constexpr double kSameShape = 0.85;

constexpr float kMaxLuma = 255;
constexpr double kMaxLikeness = 1.001;  // 1, and rounding errors

template <class Values>
bool are_within(const Values &values, float min, float max) {
  return std::all_of(values.begin(), values.end(),
                     [=](float value) { return value >= min && value <= max; });
}

/// Returns the median of the values of five thumbnails.
template <class Get>
auto median_of(const Look::Thumbnails &thumbnails, const Get &get) {
  static_assert(Look::kThumbnails == 5, "this is the median of five");
  const auto a = get(*thumbnails[0]), b = get(*thumbnails[1]), c = get(*thumbnails[2]),
             d = get(*thumbnails[3]), e = get(*thumbnails[4]);
  const auto low = std::max(std::min(a, b), std::min(c, d));
  const auto high = std::min(std::max(a, b), std::max(c, d));
  return std::max(std::min(low, high), std::min(std::max(low, high), e));
}

Plane lumas_of(const Look::Thumbnails &thumbnails) {
  Plane lumas;
  for (size_t i = 0; i < lumas.size(); ++i)
    lumas[i] = static_cast<float>(
                   median_of(thumbnails, [i](const Thumbnail &each) { return each.lumas[i]; })) /
               Thumbnail::kLuma;
  return lumas;
}

/// Returns the mean of each cell's pixels that are not masked; 0 for masked cells.
CellValues means_of(const Plane &lumas, const Thumbnail::Pixels &masked) {
  CellValues sums = {}, pixels = {};
  for (size_t i = 0; i < lumas.size(); ++i) {
    if (masked.test(i)) continue;
    const size_t cell = i / Thumbnail::kWidth / kCell * kColumns + i % Thumbnail::kWidth / kCell;
    sums[cell] += lumas[i];
    ++pixels[cell];
  }
  for (size_t cell = 0; cell < kCells; ++cell)
    if (pixels[cell] > 0) sums[cell] /= pixels[cell];
  return sums;
}

/// Whether nine of ten pixels that are not masked are darker than in the light.
bool are_dark(const Plane &plane, const Thumbnail::Pixels &masked) {
  std::vector<float> lumas;
  for (size_t i = 0; i < plane.size(); ++i)
    if (!masked.test(i)) lumas.push_back(plane[i]);
  if (lumas.empty()) return true;
  const auto bright = lumas.begin() + static_cast<std::ptrdiff_t>(lumas.size() * 9 / 10);
  std::nth_element(lumas.begin(), bright, lumas.end());
  return *bright < kDark;
}

Thumbnail::Detail detail_of(const Look::Thumbnails &thumbnails, size_t cell) {
  const auto of = [&](float Thumbnail::Detail::*value) {
    return median_of(thumbnails, [=](const Thumbnail &each) { return each.details[cell].*value; });
  };
  return {of(&Thumbnail::Detail::near), of(&Thumbnail::Detail::far), of(&Thumbnail::Detail::noise)};
}

/// Returns Pearson's correlation coefficient.
double correlation(const std::vector<double> &a, const std::vector<double> &b) {
  const auto count = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  const double both = (aa - sum_a * sum_a / count) * (bb - sum_b * sum_b / count);
  return both > 0 ? (ab - sum_a * sum_b / count) / std::sqrt(both) : 0;
}

}  // namespace

double median(std::vector<double> values, double without) {
  if (values.empty()) return without;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Fineness Look::fineness(size_t cell) const {
  const Thumbnail::Detail &detail = details[cell];
  return {detail.near - detail.noise, detail.far - detail.noise};
}

bool Look::shows_sharpness(size_t cell) const {
  const Fineness fine = fineness(cell);
  return !is_dark && edges.energy[cell] >= kMinEnergy &&
         std::min(fine.near, fine.far) >= details[cell].noise;
}

Look::Look(const Thumbnails &thumbnails) {
  const Plane plane = lumas_of(thumbnails);
  Thumbnail::Pixels masked;
  for (const auto &thumbnail : thumbnails) masked |= thumbnail->masked;
  edges = edges_of(plane, masked);
  lumas = means_of(plane, masked);
  for (size_t cell = 0; cell < kCells; ++cell) details[cell] = detail_of(thumbnails, cell);
  is_dark = are_dark(plane, masked);
}

bool Scene::has_edges(size_t cell) const { return edges.energy[cell] >= kMinEnergy; }

bool Scene::is_recognizable() const {
  size_t cells = 0;
  for (size_t cell = 0; cell < kCells; ++cell) cells += has_edges(cell);
  return cells >= Match::kMinCells;
}

bool Scene::is_sound() const {
  const auto is_finite = [](const Fineness &each) {
    return std::isfinite(each.near) && std::isfinite(each.far);
  };
  return are_within(edges.x, -kMaxLuma, kMaxLuma) && are_within(edges.y, -kMaxLuma, kMaxLuma) &&
         are_within(lumas, 0, kMaxLuma) &&
         std::all_of(fineness.begin(), fineness.end(), is_finite) && likeness >= -kMaxLikeness &&
         likeness <= kMaxLikeness && is_recognizable();
}

Match::Match(const Look &look, const Scene &scene) {
  compare(look, scene);
  if (cells < kMinCells) return;
  search(look, scene);
  count_lost();
  compare_shape(look, scene);
  blur =
      std::max({0.0, missing(look, scene, &Fineness::near), missing(look, scene, &Fineness::far)});
}

void Match::compare(const Look &look, const Scene &scene) {
  std::vector<double> likenesses, contrasts;
  size_t edges_now = 0;
  for (size_t cell = 0; cell < kCells; ++cell) {
    if (!scene.has_edges(cell)) continue;
    ++cells;
    edges_now += look.edges.energy[cell] >= kMinEnergy;
    const double like = luminance::likeness(look.edges, scene.edges, cell);
    states_[cell] = like < kInPlace ? State::kMissing : State::kInPlace;
    if (like < kInPlace) continue;
    likenesses.push_back(like);
    contrasts.push_back(
        static_cast<double>(std::sqrt(look.edges.energy[cell] / scene.edges.energy[cell])));
  }
  const auto share = [&] {
    return cells > 0 ? static_cast<double>(likenesses.size()) / static_cast<double>(cells) : 0;
  };
  likeness = median(likenesses, 0);
  contrast = median(contrasts, 1);
  if (look.is_dark && (share() < kFew || contrast < kFaint)) ignore_unlit(look);
  in_place = share();
  has_edges = 2 * edges_now >= cells;
}

/// Leaves out cells without edges in the look: what is not seen in the dark may still be there.
void Match::ignore_unlit(const Look &look) {
  for (size_t cell = 0; cell < kCells; ++cell) {
    if (states_[cell] != State::kMissing || look.edges.energy[cell] >= kMinEnergy) continue;
    states_[cell] = State::kUnlit;
    --cells;
  }
}

/// Looks for the edges of missing cells elsewhere. Some of these cells stand for all.
void Match::search(const Look &look, const Scene &scene) {
  std::vector<size_t> missing;
  for (size_t cell = 0; cell < kCells; ++cell)
    if (states_[cell] == State::kMissing) missing.push_back(cell);
  if (missing.empty()) return;
  const size_t step = missing.size() / kMaxSearches + 1;
  double tried = 0, found = 0;
  for (size_t i = 0; i < missing.size(); i += step, ++tried) {
    const double like = likeness_elsewhere(look.edges, scene.edges, missing[i]);
    const double here = luminance::likeness(look.edges, scene.edges, missing[i]);
    found += like >= kElsewhere && like - here >= kMoreElsewhere;
  }
  elsewhere = (1 - in_place) * found / tried;
}

/// Counts covered cells. What covers a lens covers cells that lie together. People, snow and other
/// light leave some of the cells of any neighbourhood alone.
void Match::count_lost() {
  size_t count = 0;
  for (size_t cell = 0; cell < kCells; ++cell) {
    if (states_[cell] != State::kMissing) continue;
    const size_t x = cell % kColumns, y = cell / kColumns;
    size_t missing = 0, all = 0;
    for (size_t j = y > 0 ? y - 1 : 0; j < std::min(y + 2, kRows); ++j)
      for (size_t i = x > 0 ? x - 1 : 0; i < std::min(x + 2, kColumns); ++i) {
        const State state = states_[j * kColumns + i];
        missing += state == State::kMissing;
        all += state == State::kMissing || state == State::kInPlace;
      }
    count += 3 * missing >= 2 * all && missing >= 3;
  }
  lost = static_cast<double>(count) / static_cast<double>(cells);
}

/// Far out of focus, edges are gone, but light and dark are where they were.
void Match::compare_shape(const Look &look, const Scene &scene) {
  std::vector<double> now, before;
  for (size_t cell = 0; cell < kCells; ++cell) {
    if (states_[cell] != State::kMissing) continue;
    now.push_back(static_cast<double>(look.lumas[cell]));
    before.push_back(static_cast<double>(scene.lumas[cell]));
  }
  is_same_shape = now.size() >= kMinCells && correlation(now, before) >= kSameShape;
}

/// Returns the share of the sharpness that is missing. The squares of noise add to those of edges:
/// cells where noise would hide the expected fine edges are left out.
double Match::missing(const Look &look, const Scene &scene, float Fineness::*scale) const {
  std::vector<double> ratios;
  for (size_t cell = 0; cell < kCells; ++cell) {
    const float expected = scene.fineness[cell].*scale * look.edges.energy[cell];
    if (states_[cell] != State::kInPlace || expected < kMinFine + kClear * look.details[cell].noise)
      continue;
    ratios.push_back(static_cast<double>(look.fineness(cell).*scale / expected));
  }
  return ratios.size() < kMinCells / 2 ? 0 : 1 - median(ratios, 1);
}

}  // namespace luminance
