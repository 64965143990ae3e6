// SPDX-License-Identifier: LGPL-2.1-or-later
#include "traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace cudatensor;

namespace bench {
namespace {

constexpr int kSector = 32;

bool is_pad(const Tap &tap) { return tap.inside == 0.0f; }
bool is_pad(const FixedTap &) { return false; }

/// The samples of an axis with a nonzero weight in a table.
template <class Entry>
std::set<int> samples_of(const std::vector<Entry> &table) {
  std::set<int> samples;
  for (const Entry &tap : table) {
    if (is_pad(tap)) continue;
    samples.insert(tap.i0);
    if (tap.w != 0) samples.insert(tap.i1);
  }
  return samples;
}

/// The parts of a plane that are read: these sectors in each of these rows.
struct Touched {
  std::set<int> rows, sectors;
};

template <class Axis>
size_t bytes_of(const FormatLayout &layout, int components, const Axis &x, const Axis &y) {
  std::map<int, Touched> planes;
  for (int c = 0; c < components; ++c) {
    const bool chroma = c > 0;
    const Component &component = layout.component[c];
    Touched &plane = planes[component.plane];
    for (const int column : samples_of(chroma && layout.chroma_shift_x > 0 ? x.chroma : x.luma))
      plane.sectors.insert((column * component.step + component.offset) / kSector);
    plane.rows.merge(samples_of(chroma && layout.chroma_shift_y > 0 ? y.chroma : y.luma));
  }
  size_t sectors = 0;
  for (const auto &[index, plane] : planes) sectors += plane.rows.size() * plane.sectors.size();
  return sectors * kSector;
}

}  // namespace

size_t read_bytes(const ResamplePlan &plan) {
  const SamplingPlan &sampling = plan.sampling;
  if (orientation_of(plan.source.direction).transposed)
    return bytes_of(plan.layout, plan.sampled, sampling.y, sampling.x);
  return bytes_of(plan.layout, plan.sampled, sampling.x, sampling.y);
}

size_t read_bytes(const Yuv444Plan &plan) {
  return bytes_of(plan.layout, plan.layout.components, plan.x, plan.y);
}

size_t read_bytes(const FilterPlan &plan) { return read_bytes(plan.pixels); }

/// As if all samples in the box of the slot were read.
size_t read_bytes(const MatrixPlan &plan) {
  const Region &region = plan.conversion.geometry.region;
  const ImageDesc &image = plan.conversion.source.image;
  const auto inside = [](double begin, double length, int limit) {
    const double first = std::max(begin, 0.0), end = std::min(begin + length, double(limit));
    return static_cast<int>(std::ceil(std::max(end - first, 0.0)));
  };
  const ImageDesc box = {image.format, inside(region.x, region.width, image.width),
                         inside(region.y, region.height, image.height)};
  size_t bytes = 0;
  for (int plane = 0; plane < plan.conversion.layout.planes; ++plane) {
    const PlaneSize size = plane_size(box, plane);
    bytes += size.row * size.rows;
  }
  return bytes;
}

}  // namespace bench
