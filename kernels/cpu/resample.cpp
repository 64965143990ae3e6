// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resample.h"

#include <algorithm>

namespace cudatensor::cpu {
namespace {

/// Samples in a row of the plane that holds component `c`.
int plane_length(const ResamplePlan &plan, int c) {
  return component_length(plan.layout.subsampled, c, plan.source.image.width) *
         plan.layout.component[c].step;
}

bool holds_picture(const Tap &tap) { return tap.inside > 0.0f; }
bool partly_pad(const Tap &tap) { return tap.inside > 0.0f && tap.inside < 1.0f; }

/// The start of a component's plane row, where the component is at its offset.
const uint8_t *plane_row(const ConstImage &in, const Component &component, int y) {
  return in.row(component, y) - component.offset;
}

}  // namespace

ResampleRows::ResampleRows(ResamplePlan plan) : plan_(std::move(plan)), rows_(row_kernels()) {
  const std::vector<Tap> &x = plan_.sampling.x.luma;
  begin_ = static_cast<int>(std::find_if(x.begin(), x.end(), holds_picture) - x.begin());
  end_ = static_cast<int>(x.rend() - std::find_if(x.rbegin(), x.rend(), holds_picture));
  end_ = std::max(begin_, end_);
  partial_columns_ = std::any_of(x.begin(), x.end(), partly_pad);
}

ResampleRows::Scratch ResampleRows::make_scratch() const {
  Scratch scratch;
  for (int c = 0; c < plan_.sampled; ++c)
    scratch.source[plan_.layout.component[c].plane].resize(plane_length(plan_, c));
  for (auto &row : scratch.component) row.resize(width());
  return scratch;
}

const Tap *ResampleRows::columns(int c) const {
  const AxisPlan &axis = plan_.sampling.x;
  return (c > 0 && plan_.layout.subsampled ? axis.chroma : axis.luma).data();
}

const Tap &ResampleRows::line(int c, int y) const {
  const AxisPlan &axis = plan_.sampling.y;
  return (c > 0 && plan_.layout.subsampled ? axis.chroma : axis.luma)[y];
}

void ResampleRows::blend_plane(const ConstImage &in, int c, int y, float *out) const {
  const Tap &tap = line(c, y);
  const Component &component = plan_.layout.component[c];
  rows_.blend(plane_row(in, component, tap.i0), plane_row(in, component, tap.i1), tap.w,
              plane_length(plan_, c), out);
}

void ResampleRows::sample_bilinear(const ConstImage &in, int y, Scratch &scratch) const {
  int blended = -1;
  for (int c = 0; c < plan_.sampled; ++c) {
    const Component &component = plan_.layout.component[c];
    float *source = scratch.source[component.plane].data();
    // Components of one plane follow each other.
    if (component.plane != blended) blend_plane(in, c, y, source);
    blended = component.plane;
    rows_.interpolate[component.step](source + component.offset, columns(c) + begin_, end_ - begin_,
                                      scratch.component[c].data() + begin_);
  }
}

void ResampleRows::sample_nearest(const ConstImage &in, int y, Scratch &scratch) const {
  for (int c = 0; c < plan_.sampled; ++c) {
    const Component &component = plan_.layout.component[c];
    rows_.pick[component.step](in.row(component, line(c, y).i0), columns(c) + begin_, end_ - begin_,
                               scratch.component[c].data() + begin_);
  }
}

void ResampleRows::fill_pad(Scratch &scratch, int begin, int end) const {
  for (int c = 0; c < plan_.produced; ++c)
    std::fill(scratch.component[c].begin() + begin, scratch.component[c].begin() + end,
              plan_.pad[c]);
}

void ResampleRows::produce(const ConstImage &in, int y, Scratch &scratch) const {
  const float inside_y = plan_.sampling.y.luma[y].inside;
  if (inside_y == 0.0f) return fill_pad(scratch, 0, width());
  if (plan_.method == Method::nearest)
    sample_nearest(in, y, scratch);
  else
    sample_bilinear(in, y, scratch);
  float *c[3];
  for (int i = 0; i < 3; ++i) c[i] = scratch.component[i].data() + begin_;
  rows_.convert[static_cast<int>(plan_.conversion)](plan_.yuv_to_rgb, end_ - begin_, c[0], c[1],
                                                    c[2]);
  fill_pad(scratch, 0, begin_);
  fill_pad(scratch, end_, width());
  if (inside_y == 1.0f && !partial_columns_) return;
  for (int i = 0; i < plan_.produced; ++i)
    rows_.over_pad(plan_.sampling.x.luma.data() + begin_, inside_y, plan_.pad[i], end_ - begin_,
                   c[i]);
}

}  // namespace cudatensor::cpu
