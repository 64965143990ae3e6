// SPDX-License-Identifier: LGPL-2.1-or-later
// Antialiased resizes. All threads first filter the source rows along x, then the output rows along
// y, so that no thread repeats the work of another one. The rows between the passes fit into the
// caches: tall pictures are processed in bands of output rows, and pictures that need too many rows
// for one output row, in strips of columns.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cpu/filterrows.h"
#include "kernels/cpu/pixelrows.h"
#include "kernels/cpu/workers.h"

namespace cudatensor::cpu {

/// The memory for rows between the passes. It is shared by all filters that do not run at the same
/// time.
struct FilterMemory {
  std::vector<uint8_t> filtered;  ///< filtered along x
  std::vector<uint8_t> finished;  ///< filtered along both axes, if there are several strips
  std::vector<std::vector<uint8_t>> samples;  ///< source rows, by the workers' slot
};

/// A contiguous part of the output columns.
class FilterStrip {
 public:
  /// Prepares the output columns [begin, end).
  FilterStrip(const FilterPlan &plan, int begin, int end);

  /// The scratch memory of one thread.
  using Scratch = PixelRows::Scratch;
  Scratch make_scratch() const { return pixels_.make_scratch(); }
  /// Returns the bytes needed for the source rows that are filtered together.
  size_t samples_size() const {
    return static_cast<size_t>(columns_.width + columns_.slack) * kMostRows;
  }

  /// Returns the number of columns.
  int width() const { return width_; }
  /// The fewest source rows that one thread should filter.
  int least_rows() const { return pixels_.least_rows(); }
  /// Returns the number of rows that are best filtered together.
  int rows_together() const { return kMostRows / components_; }
  /// Filters `count` source rows along x. The components of a row are written `stride` bytes apart.
  void filter(const ConstImage &in, int row, int count, Scratch &scratch, uint8_t *samples,
              uint8_t *const *out, int stride) const;

 private:
  static constexpr int kMostRows = 6;  // rows of single components

  int components_;
  int width_;
  int first_row_;    // the picture's row that is row 0 of pixels_
  int copied_from_;  // if columns are only copied, the source of the first; otherwise -1
  PixelRows pixels_;
  FilterColumns columns_;
};

/// Produces the output rows of a plan.
class Filter {
 public:
  Filter(FilterPlan plan, Workers &workers, FilterMemory &memory);

  /// The output columns that are not pad.
  int begin() const { return x_begin_; }
  int end() const { return x_end_; }

  /// Calls store(y, samples, slot) for each output row, on several threads. `samples` holds one row
  /// per component with the columns that are not pad; it is null if the whole row is pad.
  template <class Store>
  void run(const ConstImage &in, const Store &store) {
    allocate();
    if (strips_.size() > 1) finish_strips(in);
    for (const Band &band : bands_) {
      if (strips_.size() == 1) filter_columns(in, 0, band);
      workers_.for_rows(band.end - band.begin, [&](int64_t begin, int64_t end, int slot) {
        for (int y = band.begin + static_cast<int>(begin); y < band.begin + end; ++y) {
          const uint8_t *samples[3];
          store(y, finish(y, slot, samples) ? samples : nullptr, slot);
        }
      });
    }
  }

 private:
  /// A range of output rows, and the source rows that they need in addition to those of earlier
  /// bands.
  struct Band {
    int begin, end;
    int src_begin, src_end;
  };
  /// The scratch memory of one thread.
  struct Scratch {
    std::vector<FilterStrip::Scratch> strips;
    std::vector<uint8_t> row;
    std::vector<const uint8_t *> lines;
  };

  void make_strips(const FilterPlan &plan);
  void make_bands();
  void make_scratch();
  void make_digits();
  bool is_pad(int y) const { return y < y_.begin || y >= y_.end || strips_.empty(); }
  size_t row_bytes() const { return static_cast<size_t>(components_) * stride_; }
  uint8_t *filtered_row(int row) const;
  uint8_t *finished_row(int y) const;

  void allocate();
  void filter_columns(const ConstImage &in, size_t strip, const Band &band);
  void finish_rows(size_t strip, const Band &band, int first_column);
  void finish_strips(const ConstImage &in);
  bool finish(int y, int slot, const uint8_t **samples);
  const uint8_t *filter_row(int y, Scratch &scratch);

  FilterAxis y_;
  std::vector<FilterDigits> digits_;  // all windows of y_; empty if digits_of() fails for one
  std::vector<int32_t> first_digit_;  // by output row
  int x_begin_, x_end_;
  int components_;
  int stride_ = 0;    // bytes between the components of a strip's row
  int capacity_ = 0;  // number of rows between the passes
  std::vector<FilterStrip> strips_;
  std::vector<Band> bands_;
  const FilterKernels &kernels_;
  Workers &workers_;
  FilterMemory &memory_;
  std::vector<Scratch> scratch_;  // by the workers' slot
};

}  // namespace cudatensor::cpu
