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
  int offset;  ///< of the first sample, in bytes
  int step;    ///< bytes from a word to its right neighbor
  int bytes;   ///< of a word
};

/// Produces the output rows of a plan. There is one object per plan and one Scratch per thread.
class MatrixRows {
 public:
  explicit MatrixRows(MatrixPlan plan);

  /// The samples of a row of pixels along one axis.
  struct AxisSamples {
    std::vector<int32_t> first;  ///< of the two samples around each pixel
    std::vector<float> w, inside;
    bool are_inside;  ///< whether both samples of all pixels are in the picture
  };

  struct Scratch {
    AxisSamples x, y;
    AxisSamples chroma_x, chroma_y;  // without `inside`; those of luma if it is not subsampled
    std::vector<uint32_t> words[4];  // see CornerWords
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
  /// Returns whether any pixel of the row is in the picture.
  bool find_samples(int y, Scratch &scratch) const;
  void sample(const ConstImage &in, const WordGroup &group, Scratch &scratch) const;
  void blend_border(Scratch &scratch) const;

  MatrixPlan plan_;
  std::vector<WordGroup> groups_;
  const RowKernels &kernels_;
  const MatrixKernels &matrix_kernels_;
};

}  // namespace cudatensor::cpu
