// SPDX-License-Identifier: LGPL-2.1-or-later
#include "yuv444.h"

#include "operations.h"

namespace cudatensor::cpu {

Yuv444Rows::Yuv444Rows(Yuv444Plan plan) : plan_(std::move(plan)), rows_(row_kernels()) {}

void Yuv444Rows::Scratch::forget() {
  for (auto &component : row)
    for (Row &r : component) r.index = -1;
}

Yuv444Rows::Scratch Yuv444Rows::make_scratch() const {
  Scratch scratch;
  for (auto &component : scratch.row)
    for (Scratch::Row &r : component) r.values.resize(plan_.width);
  scratch.forget();
  return scratch;
}

/// Source row `index` of a component, resized; the cached row `other` stays.
const int32_t *Yuv444Rows::resized_row(const ConstImage &in, int c, int index, int other,
                                       Scratch &scratch) const {
  Scratch::Row *cached = scratch.row[c];
  for (int i = 0; i < 2; ++i)
    if (cached[i].index == index) return cached[i].values.data();
  Scratch::Row &row = cached[0].index == other ? cached[1] : cached[0];
  const Component &component = plan_.layout.component[c];
  const auto &taps = c > 0 && plan_.layout.subsampled ? plan_.x.chroma : plan_.x.luma;
  rows_.fixed_horizontal[component.step](in.row(component, index), taps.data(), plan_.width,
                                         row.values.data());
  row.index = index;
  return row.values.data();
}

void Yuv444Rows::produce(const ConstImage &in, int c, int y, Scratch &scratch, uint8_t *out) const {
  const FixedTap &tap = (c > 0 && plan_.layout.subsampled ? plan_.y.chroma : plan_.y.luma)[y];
  const int32_t *v0 = resized_row(in, c, tap.i0, tap.i1, scratch);
  const int32_t *v1 = resized_row(in, c, tap.i1, tap.i0, scratch);
  rows_.fixed_vertical(v0, v1, tap.w, plan_.width, out);
}

namespace {

class Yuv444 final : public ImageToImage {
 public:
  Yuv444(const Yuv444Params &params, Workers &workers)
      : ImageToImage(params.in, params.out),
        rows_(make_yuv444_plan(params)),
        layout_(layout_of(params.out.format)),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.push_back(rows_.make_scratch());
  }

 private:
  void execute(const ConstImage &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int slot) {
      Yuv444Rows::Scratch &scratch = scratch_[slot];
      scratch.forget();
      for (int y = static_cast<int>(begin); y < end; ++y)
        for (int c = 0; c < 3; ++c)
          rows_.produce(in, c, y, scratch, out.row(layout_.component[c], y));
    });
  }

  Yuv444Rows rows_;
  FormatLayout layout_;
  Workers &workers_;
  std::vector<Yuv444Rows::Scratch> scratch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make_yuv444(const Yuv444Params &params, Workers &workers) {
  return std::make_unique<Yuv444>(params, workers);
}

}  // namespace cudatensor::cpu
