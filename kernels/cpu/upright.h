// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of a stored picture as it is seen. Rows that lie in memory are read there. Rows that run
// backwards, or down the stored picture, are copied: only the samples that a plan reads, in blocks
// that stay in the cache.
#pragma once

#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/rows.h"

namespace cudatensor::cpu {

/// The samples that a plan reads along one axis of the seen picture, in rising order, each once.
class SamplesRead {
 public:
  SamplesRead() = default;
  /// Reads the second tap only where it has a weight. Entries that are pad read nothing.
  template <class Taps>
  explicit SamplesRead(const Taps &taps) {
    for (const auto &tap : taps) {
      if (is_pad(tap)) continue;
      samples_.push_back(tap.i0);
      if (tap.w != 0) samples_.push_back(tap.i1);
    }
    sort();
  }
  /// Reads `count` neighboring samples.
  SamplesRead(int first, int count);

  int count() const { return static_cast<int>(samples_.size()); }
  int sample(int i) const { return samples_[i]; }
  /// Returns the position of a sample in the order of those read, or of the next one.
  int find(int sample) const;

 private:
  static bool is_pad(const Tap &tap) { return tap.inside == 0.0f; }
  static bool is_pad(const FixedTap &) { return false; }
  void sort();

  std::vector<int32_t> samples_;
};

/// The rows of the components of one plane that are read together. There is one object per plan and
/// one Scratch per thread.
class Upright {
 public:
  Upright() = default;
  /// Reads components [first, first + components), which share pixels.
  Upright(const Source &source, int first, int components, SamplesRead columns, SamplesRead lines);

  /// The copied rows.
  struct Scratch {
    std::vector<uint8_t> staged, rows;
    int block = -1;  // of lines that `rows` has

    void begin_picture() { block = -1; }
  };
  Scratch make_scratch() const;

  /// Whether the rows lie in memory, whole.
  bool is_direct() const { return way_ == Way::direct; }
  /// The bytes of a row's pixels.
  const PixelBytes &pixel() const { return pixel_; }
  /// The bytes of one component of a row's pixels.
  PixelBytes pixel_of_component(int component) const;
  /// Pixels of a row.
  int width() const { return width_; }
  /// Returns the pixel of a column that is read.
  int position_of(int column) const { return is_direct() ? column : columns_.find(column); }

  /// Returns the first byte of row `line`, valid until the next call.
  const uint8_t *row(const ConstImage &in, int line, Scratch &scratch) const;
  /// Returns the bytes of row `line` that a prefetch may name: those of row() if it is direct.
  const uint8_t *ahead(const ConstImage &in, int line, const uint8_t *row) const {
    return is_direct() ? stored_row(in, y_.stored(line)) : row;
  }

  /// Returns how many of `rows` output rows one thread should produce at least, because it copies
  /// the blocks of lines that they read.
  int least_rows(int rows) const;

 private:
  enum class Way { direct, mirrored, transposed };

  /// An axis of the seen picture in samples of the stored one.
  struct StoredAxis {
    bool mirrored = false;
    int length = 0;

    int stored(int i) const { return mirrored ? length - 1 - i : i; }
  };

  int lines_in_block() const;
  void prepare_mirrored(int stored_width);
  void prepare_transposed(int stored_width);
  const uint8_t *stored_row(const ConstImage &in, int y) const;
  void copy_line(const ConstImage &in, int line, Scratch &scratch) const;
  void copy_neighbors(const ConstImage &in, int block, Scratch &scratch) const;
  void copy_gathered(const ConstImage &in, int block, Scratch &scratch) const;
  const uint8_t *stored_column(const ConstImage &in, int i) const;
  void copy_block(const ConstImage &in, int block, Scratch &scratch) const;

  Way way_ = Way::direct;
  FormatLayout layout_ = {};
  int first_ = 0;
  PixelBytes stored_pixel_ = {}, pixel_ = {};
  int width_ = 0;
  StoredAxis x_, y_;
  SamplesRead columns_, lines_;
  std::vector<Gather> gathers_;     // mirrored: one; transposed: one per block of lines
  std::vector<int32_t> neighbors_;  // by block, the first of adjacent stored samples, or -1
  size_t stride_ = 0;               // bytes from a copied row to the next
  size_t staged_stride_ = 0;
};

}  // namespace cudatensor::cpu
