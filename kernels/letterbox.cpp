// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/letterbox.h"

#include "kernels/error.h"

namespace cudatensor {

LetterboxPlan make_letterbox_plan(const LetterboxParams &p) {
  const FormatLayout out = layout_of(p.out.format);
  if (out.model == ColorModel::yuv || out.is_deep())
    throw Error(Error::Code::settings,
                std::string("letterbox output must be RGB or gray of eight bits, not ") +
                    name_of(p.out.format));
  const Color color = out.model == ColorModel::gray ? Color::gray : Color::rgb;
  if (p.resize.antialias) {
    FilterPlan plan = make_filter_plan(p.source, p.resize, color, p.out.width, p.out.height);
    return {p.source.image, plan.geometry, std::move(plan), p.out, p.resize.pad_value};
  }
  ResamplePlan plan = make_resample_plan(p.source, p.resize, color, p.out.width, p.out.height);
  return {p.source.image, plan.geometry, std::move(plan), p.out, p.resize.pad_value};
}

}  // namespace cudatensor
