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
    std::vector<Upright::Scratch> upright;  // by plane
    std::vector<uint8_t> luma;
    std::vector<RowPair<uint8_t>> chroma;          // rows of U and V
    std::vector<uint16_t> blended, horizontal[2];  // in units of 1 / 4 and of 1 / 16

    void begin_picture();
  };
  Scratch make_scratch() const;

  int width() const { return plan_.geometry.dst_width; }
  /// The fewest rows that one thread should produce.
  int least_rows() const;
  /// Writes row y of each component. May also overwrite up to kFilterSlack bytes after it.
  void produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;
  /// Returns the bytes of the first plane that rows y and y + 1 read.
  Ahead ahead(const ConstImage &in, int y) const;

 private:
  enum class Way { copy, split, chroma, general };
  /// Reads neighboring samples of a component.
  struct Reader {
    size_t plane;
    int first, count;
    bool copies;    // the samples are adjacent
    Gather gather;  // unused if it copies
  };
  bool is_direct() const;
  Way choose_way() const;
  bool find_chroma();
  bool doubles(int x) const;
  size_t plane_of(int component, int first, int count);
  Reader make_reader(int component, int first, int count);
  void read(const ConstImage &in, size_t reader, int line, int ahead, Scratch &scratch,
            uint8_t *out) const;
  void split(const ConstImage &in, int line, Scratch &scratch, uint8_t *const *out) const;
  const uint16_t *chroma_row(const ConstImage &in, int y, int c, Scratch &scratch) const;
  void convert_chroma(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;

  ResamplePlan plan_;
  Way way_;
  std::vector<Upright> planes_;        // unused by Way::general
  std::vector<Reader> readers_;        // one per result; Way::chroma: of Y, U and V
  std::vector<ResampleRows> general_;  // empty, or one for Way::general
  uint16_t weights_[4] = {};           // see PixelKernels::double_chroma
  int low_ = 0, high_ = 0;             // first and last column of chroma that is read
  int begin_ = 0, end_ = 0;            // columns of chroma at which pixels lie, [begin, end)
};

}  // namespace cudatensor::cpu
