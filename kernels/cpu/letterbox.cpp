// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operations.h"
#include "resample.h"

namespace cudatensor::cpu {
namespace {

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, Workers &workers)
      : ImageToImage(plan.resample.source.image, plan.out),
        rows_(plan.resample),
        kernels_(row_kernels()),
        layout_(layout_of(plan.out.format)),
        opaque_(plan.out.width, 255.0f),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) scratch_.push_back(rows_.make_scratch());
  }

 private:
  void execute(const ConstImage &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int slot) {
      for (int y = static_cast<int>(begin); y < end; ++y) {
        rows_.produce(in, y, scratch_[slot]);
        if (layout_.planes == 1 && layout_.components == 3)
          store_packed(scratch_[slot], out, y);
        else
          store_planes(scratch_[slot], out, y);
      }
    });
  }

  void store_planes(const ResampleRows::Scratch &scratch, const Image &out, int y) const {
    for (int c = 0; c < layout_.components; ++c)
      kernels_.store_plane(scratch.component[c].data(), rows_.width(),
                           out.row(layout_.component[c], y));
  }

  void store_packed(const ResampleRows::Scratch &scratch, const Image &out, int y) const {
    const float *by_offset[4] = {};
    by_offset[layout_.padding_offset] = opaque_.data();
    for (int c = 0; c < 3; ++c)
      by_offset[layout_.component[c].offset] = scratch.component[c].data();
    kernels_.store_packed[layout_.component[0].step](by_offset, rows_.width(),
                                                     out.planes[0].data + out.planes[0].stride * y);
  }

  ResampleRows rows_;
  const RowKernels &kernels_;
  FormatLayout layout_;
  std::vector<float> opaque_;  // a row of x or A bytes
  Workers &workers_;
  std::vector<ResampleRows::Scratch> scratch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make_letterbox(const LetterboxParams &params, Workers &workers) {
  return std::make_unique<Letterbox>(make_letterbox_plan(params), workers);
}

}  // namespace cudatensor::cpu
