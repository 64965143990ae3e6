// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "kernels/cpu/filter.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/resample.h"

namespace cudatensor::cpu {
namespace {

/// Stores rows of samples as rows of a picture.
class PictureStore {
 public:
  explicit PictureStore(const LetterboxPlan &plan)
      : kernels_(row_kernels()),
        layout_(layout_of(plan.out.format)),
        packed_(is_packed_rgb(layout_.family)),
        pad_(plan.out.width, static_cast<uint8_t>(plan.pad)),
        opaque_(plan.out.width, 255) {}

  int components() const { return layout_.components; }
  /// Scratch rows of one thread, which contain the pad value.
  struct Samples {
    std::vector<uint8_t> row[3];
  };
  Samples make_samples() const { return {{pad_, pad_, pad_}}; }

  /// Returns the memory to which the row of component `c` must be written before put().
  uint8_t *row(const Image &out, int c, int y, Samples &samples) const {
    return packed_ ? samples.row[c].data() : out.row(layout_.component[c], y);
  }
  void put(const Image &out, int y, const Samples &samples) const {
    const uint8_t *rows[3];
    for (int c = 0; c < 3; ++c) rows[c] = samples.row[c].data();
    if (packed_) interleave(rows, out, y);
  }

  void put_pad(const Image &out, int y) const {
    const uint8_t *const rows[3] = {pad_.data(), pad_.data(), pad_.data()};
    if (packed_) return interleave(rows, out, y);
    for (int c = 0; c < layout_.components; ++c)
      std::copy(pad_.begin(), pad_.end(), out.row(layout_.component[c], y));
  }

 private:
  void interleave(const uint8_t *const *rows, const Image &out, int y) const {
    const void *by_offset[4] = {};
    by_offset[layout_.padding_offset] = opaque_.data();
    for (int c = 0; c < 3; ++c) by_offset[layout_.component[c].offset] = rows[c];
    kernels_.interleave[1](by_offset, layout_.component[0].step, out.desc.width,
                           out.planes[0].data + out.planes[0].stride * y);
  }

  const RowKernels &kernels_;
  FormatLayout layout_;
  bool packed_;                        // three components side by side
  std::vector<uint8_t> pad_, opaque_;  // one row per component
};

class Letterbox final : public ImageToImage {
 public:
  Letterbox(const LetterboxPlan &plan, const ResamplePlan &resample, Workers &workers)
      : ImageToImage(plan.source, plan.out, plan.geometry),
        rows_(resample),
        store_(plan),
        kernels_(row_kernels()),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i)
      scratch_.push_back({rows_.make_scratch(), store_.make_samples()});
  }

 private:
  struct Scratch {
    ResampleRows::Scratch rows;
    PictureStore::Samples samples;
  };

  void execute(const ConstImage &in, const Image &out, Stream) override {
    workers_.for_rows(out.desc.height, rows_.least_rows(),
                      [&](int64_t begin, int64_t end, int slot) {
                        scratch_[slot].rows.begin_picture();
                        for (int y = static_cast<int>(begin); y < end; ++y)
                          produce(in, out, y, scratch_[slot]);
                      });
  }

  void produce(const ConstImage &in, const Image &out, int y, Scratch &scratch) const {
    if (!rows_.produce(in, y, scratch.rows)) return store_.put_pad(out, y);
    for (int c = 0; c < store_.components(); ++c)
      kernels_.narrow(scratch.rows.component[c].data(), out.desc.width,
                      store_.row(out, c, y, scratch.samples));
    store_.put(out, y, scratch.samples);
  }

  ResampleRows rows_;
  PictureStore store_;
  const RowKernels &kernels_;
  Workers &workers_;
  std::vector<Scratch> scratch_;
};

class FilteredLetterbox final : public ImageToImage {
 public:
  FilteredLetterbox(const LetterboxPlan &plan, const FilterPlan &filter, Workers &workers)
      : ImageToImage(plan.source, plan.out, plan.geometry),
        filter_(filter, workers, memory_),
        store_(plan),
        pad_(static_cast<uint8_t>(plan.pad)) {
    for (int i = 0; i < workers.slots(); ++i) samples_.push_back(store_.make_samples());
  }

 private:
  void execute(const ConstImage &in, const Image &out, Stream) override {
    filter_.run(in, [&](int y, const uint8_t *const *samples, int slot) {
      if (samples == nullptr) return store_.put_pad(out, y);
      for (int c = 0; c < store_.components(); ++c) {
        uint8_t *const row = store_.row(out, c, y, samples_[slot]);
        std::fill(row, row + filter_.begin(), pad_);
        std::copy_n(samples[c], filter_.end() - filter_.begin(), row + filter_.begin());
        std::fill(row + filter_.end(), row + out.desc.width, pad_);
      }
      store_.put(out, y, samples_[slot]);
    });
  }

  FilterMemory memory_;
  Filter filter_;
  PictureStore store_;
  uint8_t pad_;
  std::vector<PictureStore::Samples> samples_;  // by the workers' slot
};

}  // namespace

std::unique_ptr<ImageToImage> make(const LetterboxParams &params, Workers &workers) {
  const LetterboxPlan plan = make_letterbox_plan(params);
  if (const auto *filter = std::get_if<FilterPlan>(&plan.sampling))
    return std::make_unique<FilteredLetterbox>(plan, *filter, workers);
  return std::make_unique<Letterbox>(plan, std::get<ResamplePlan>(plan.sampling), workers);
}

}  // namespace cudatensor::cpu
