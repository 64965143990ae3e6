// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of 8-bit pixels at the source's own size, as antialiased resizes read them: what ResampleRows
// gives, rounded. Pixels of eight bits are copied or converted without the general path.
#pragma once

#include <vector>

#include "kernels/cpu/filterrows.h"
#include "kernels/cpu/resample.h"

namespace cudatensor::cpu {

/// There is one object per plan, which must not change the size, and one Scratch per thread.
class PixelRows {
 public:
  explicit PixelRows(const ResamplePlan &plan);

  struct Scratch {
    std::vector<ResampleRows::Scratch> general;
    std::vector<uint8_t> luma;
    std::vector<RowPair<uint8_t>> chroma;          // rows of U and V
    std::vector<uint16_t> blended, horizontal[2];  // in units of 1 / 4 and of 1 / 16

    void begin_picture();
  };
  Scratch make_scratch() const;

  int width() const { return plan_.geometry.dst_width; }
  /// Writes row y of each component and up to kFilterSlack bytes behind it.
  void produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;
  /// What rows y and y + 1 read of the first plane.
  Ahead ahead(const ConstImage &in, int y) const;

 private:
  enum class Way { copy, split, chroma, general };
  /// Reads neighboring samples of a component.
  struct Reader {
    int component;
    int bytes;  // of a row whose samples are neighbors, otherwise 0
    int first;
    Gather gather;
  };
  Way choose_way() const;
  bool find_chroma();
  bool doubles(int x) const;
  Reader make_reader(int component, int first, int count) const;
  void read(const Reader &reader, const ConstImage &in, int row, int ahead, uint8_t *out) const;
  const uint16_t *chroma_row(const ConstImage &in, int y, int c, Scratch &scratch) const;
  void convert_chroma(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;

  ResamplePlan plan_;
  Way way_;
  std::vector<Reader> readers_;        // of each result; chroma: of Y, U and V
  std::vector<ResampleRows> general_;  // one, if it is needed
  uint16_t weights_[4] = {};           // see PixelKernels::double_chroma
  int low_ = 0, high_ = 0;             // the columns of chroma that are read
  int begin_ = 0, end_ = 0;            // those that pixels lie at
};

}  // namespace cudatensor::cpu
