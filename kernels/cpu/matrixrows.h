// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of slots by a matrix. Each pixel reads samples at a position of its own.
#pragma once

#include <vector>

#include "kernels/cpu/matrixkernels.h"
#include "kernels/matrixplan.h"

namespace cudatensor::cpu {

/// Components whose samples are neighbors in memory, and are read as one word.
struct WordGroup {
  int count;         ///< components
  int component[3];  ///< in the order of their samples
  int plane;
  int offset;                         ///< of the first sample, in bytes
  int step;                           ///< bytes from a word to its right neighbor
  int bytes;                          ///< of a word
  ptrdiff_t words_ahead, rows_ahead;  ///< from a word to one that is prefetched
};

/// Pixels of a row, of which there may be none.
struct PixelRun {
  int begin, end;

  bool is_empty() const { return begin >= end; }
  int count() const { return is_empty() ? 0 : end - begin; }
};

/// What a row of pixels reads along both axes.
struct SampleLines {
  SampleLine x, y;
};

/// Produces the output rows of a plan. There is one object per plan and one Scratch per thread.
class MatrixRows {
 public:
  explicit MatrixRows(MatrixPlan plan);

  /// The samples around the pixels of a row along one axis. Pixels whose samples are all in the
  /// picture have only weights here.
  struct AxisTaps {
    std::vector<int32_t> i0, i1;
    std::vector<float> w, inside;
  };
  struct Samples {
    AxisTaps x, y;
    std::vector<int32_t> offset;  // of pixels whose samples are all in the picture
  };

  struct Scratch {
    Samples luma, chroma;               // chroma of full size has the samples of luma
    std::vector<uint8_t> above, below;  // see WordPairs
    std::vector<float> component[3];

    void begin_picture() {}
  };
  Scratch make_scratch() const;

  /// Writes the unrounded row y to scratch.component. Returns false if the whole row is pad.
  bool produce(const ConstImage &in, int y, Scratch &scratch) const;

  int begin() const { return 0; }
  int end() const { return plan_.conversion.geometry.dst_width; }
  int least_rows() const { return 1; }

 private:
  struct Row;

  Row make_row(const ConstImage &in, int y) const;
  void find(const Row &row, Scratch &scratch) const;
  void place(const WordPlane &plane, const SampleLines &lines, const PixelRun &run,
             Samples &samples) const;
  void load(const WordGroup &group, const WordPlane &plane, const Row &row, Samples &samples,
            Scratch &scratch) const;
  void blend(const WordGroup &group, const PixelRun &run, const Samples &samples,
             Scratch &scratch) const;
  void sample(const ConstImage &in, const Row &row, Scratch &scratch) const;
  void convert(const PixelRun &run, Scratch &scratch) const;
  void pad(const Row &row, Scratch &scratch) const;

  MatrixPlan plan_;
  std::vector<WordGroup> groups_;
  bool has_chroma_;  // subsampled
  const RowKernels &kernels_;
  const MatrixKernels &matrix_kernels_;
};

}  // namespace cudatensor::cpu
