// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of 8-bit pixels at the source's own size, as antialiased resizes read them: the rounded
// results of ResampleRows. Formats of eight bits are copied or converted without the general path.
#pragma once

#include <vector>

#include "kernels/cpu/filterrows.h"
#include "kernels/cpu/resample.h"

namespace cudatensor::cpu {

/// Produces rows of source pixels. There is one object per plan, which must not change the size,
/// and one Scratch per thread.
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
  /// Writes row y of each component. May also overwrite up to kFilterSlack bytes after it.
  void produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;
  /// Returns the bytes of the first plane that rows y and y + 1 read.
  Ahead ahead(const ConstImage &in, int y) const;

 private:
  enum class Way { copy, split, chroma, general };
  /// Reads neighboring samples of a component.
  struct Reader {
    int component;
    int bytes;  // length of the row if its samples are adjacent, otherwise 0
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
  std::vector<Reader> readers_;        // one per result; Way::chroma: of Y, U and V
  std::vector<ResampleRows> general_;  // empty, or one for Way::general
  uint16_t weights_[4] = {};           // see PixelKernels::double_chroma
  int low_ = 0, high_ = 0;             // first and last column of chroma that is read
  int begin_ = 0, end_ = 0;            // columns of chroma at which pixels lie, [begin, end)
};

}  // namespace cudatensor::cpu
