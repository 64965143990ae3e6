// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/resample.h"

namespace cudatensor::cpu {
namespace {

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, Workers &workers)
      : ImageToImage(plan.source, plan.out, plan.geometry),
        rows_(std::get<ResamplePlan>(plan.sampling)),
        kernels_(row_kernels()),
        layout_(layout_of(plan.out.format)),
        pad_(plan.out.width, static_cast<uint8_t>(plan.pad)),
        opaque_(plan.out.width, 255),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i) {
      scratch_.push_back({rows_.make_scratch(), {}});
      for (auto &row : scratch_.back().samples) row.resize(plan.out.width);
    }
  }

 private:
  struct Scratch {
    ResampleRows::Scratch rows;
    std::vector<uint8_t> samples[3];
  };

  void execute(const ConstImage &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, [&](int64_t begin, int64_t end, int slot) {
      scratch_[slot].rows.begin_picture();
      for (int y = static_cast<int>(begin); y < end; ++y) produce(in, out, y, scratch_[slot]);
    });
  }

  void produce(const ConstImage &in, const Image &out, int y, Scratch &scratch) const {
    const bool packed = layout_.planes == 1 && layout_.components == 3;
    const uint8_t *samples[3];
    if (rows_.produce(in, y, scratch.rows)) {
      for (int c = 0; c < layout_.components; ++c) {
        uint8_t *to = packed ? scratch.samples[c].data() : out.row(layout_.component[c], y);
        kernels_.narrow(scratch.rows.component[c].data(), out.desc.width, to);
        samples[c] = to;
      }
      if (packed) store_packed(samples, out, y);
      return;
    }
    std::fill(samples, samples + 3, pad_.data());
    if (packed) return store_packed(samples, out, y);
    for (int c = 0; c < layout_.components; ++c)
      std::copy(pad_.begin(), pad_.end(), out.row(layout_.component[c], y));
  }

  void store_packed(const uint8_t *const *samples, const Image &out, int y) const {
    const void *by_offset[4] = {};
    by_offset[layout_.padding_offset] = opaque_.data();
    for (int c = 0; c < 3; ++c) by_offset[layout_.component[c].offset] = samples[c];
    kernels_.interleave[1](by_offset, layout_.component[0].step, out.desc.width,
                           out.planes[0].data + out.planes[0].stride * y);
  }

  ResampleRows rows_;
  const RowKernels &kernels_;
  FormatLayout layout_;
  std::vector<uint8_t> pad_, opaque_;  // one row per component
  Workers &workers_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<ImageToImage> make(const LetterboxParams &params, Workers &workers) {
  return std::make_unique<Letterbox>(make_letterbox_plan(params), workers);
}

}  // namespace cudatensor::cpu
