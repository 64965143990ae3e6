// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling plans in device memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/image.h"
#include "kernels/pinnedring.h"
#include "kernels/samplingplan.h"
#include "kernels/tensor.h"

namespace cudatensor::cuda {

/// A plan entry in the form that kernels use. The second sample is the one after the first. Along x
/// it is read only if its weight is not 0; along y it is read for all rows if any row has a
/// non-zero weight.
template <class Weight>
struct alignas(8) Entry {
  int32_t first;  ///< index of the first sample; -1: pad. kPartial is added if part of the weight
                  ///< is pad
  Weight w;
};
constexpr int32_t kPartial = 1 << 30;

/// The luma and chroma entries of one coordinate, fetched in one load. They are identical if chroma
/// is not subsampled.
template <class Weight>
struct alignas(16) Taps {
  Entry<Weight> luma, chroma;
};

/// The maximum number of neighboring columns or rows per thread. Tables are padded with copies of
/// the last entry, so that kernels need no bounds check.
constexpr size_t kNeighbours = 8;

/// Tables of rows. The threads of a warp read the same entries.
template <class Weight>
struct LineTables {
  const Taps<Weight> *taps;
  const float *inside;  ///< read if an entry has kPartial
};

/// Tables of columns. Each thread reads different entries, several neighbors at once.
template <class Weight>
struct ColumnTables {
  const int32_t *luma, *chroma;  ///< first samples, in the format of Entry::first
  const Weight *luma_weight, *chroma_weight;
  const float *inside;
};

/// The tables of both axes, and the flags that the kernel branches on. The flags are uniform for a
/// frame, so branches do not diverge.
template <class Weight>
struct Tables {
  ColumnTables<Weight> x;
  LineTables<Weight> y;
  // Indexed by luma and chroma.
  bool blends[2];       ///< whether any weight is not 0
  bool blends_rows[2];  ///< whether any weight along y is not 0
};

inline float inside_of(const Tap &tap) { return tap.inside; }
inline float inside_of(const FixedTap &) { return 1.0f; }

/// The weight of an entry along y whose first sample has no effect. Blending with the weight 1 has
/// that effect only for integers.
constexpr float kSecondOnly = 2.0f;
inline float full_weight(const Tap &, bool integers) { return integers ? 1.0f : kSecondOnly; }
inline int32_t full_weight(const FixedTap &, bool) { return kFixedOne; }

/// Whether the second sample has an effect. At the picture's edge the plan repeats the first
/// sample, so that the weight is irrelevant.
template <class AnyTap>
bool blends(const AnyTap &tap) {
  return tap.i0 != tap.i1 && tap.w != 0;
}

template <class AnyTap>
bool any_blends(const std::vector<AnyTap> &taps) {
  return std::any_of(taps.begin(), taps.end(), blends<AnyTap>);
}

template <class Weight, class AnyTap>
Entry<Weight> entry_of(const AnyTap &tap) {
  const float inside = inside_of(tap);
  if (inside == 0.0f || tap.i0 < 0) return {-1, 0};
  const int32_t partial = inside < 1.0f ? kPartial : 0;
  return {tap.i0 + partial, blends(tap) ? tap.w : Weight()};
}

/// Makes an entry along y, where the second sample is always read if any row has a non-zero weight.
/// A single sample, which could be the last row, becomes the second sample with the full weight, so
/// that no row beyond the picture is read.
template <class Weight, class AnyTap>
Entry<Weight> line_entry_of(const AnyTap &tap, bool second_is_read, bool integers) {
  Entry<Weight> entry = entry_of<Weight>(tap);
  if (second_is_read && tap.i0 == tap.i1 && tap.i0 > 0 && entry.first >= 0)
    entry = {entry.first - 1, full_weight(tap, integers)};
  return entry;
}

/// Concatenated tables for a single upload.
class TableBytes {
 public:
  /// Returns the offset of the table.
  template <class Value>
  size_t append(const std::vector<Value> &values) {
    const size_t begin = end();
    bytes_.resize(begin + values.size() * sizeof(Value));
    std::memcpy(&bytes_[begin], values.data(), values.size() * sizeof(Value));
    return begin;
  }
  const std::vector<uint8_t> &get() const { return bytes_; }
  /// The size rounded up to the alignment of the next table.
  size_t end() const { return (bytes_.size() + 15) & ~size_t{15}; }

 private:
  std::vector<uint8_t> bytes_;
};

/// The offsets of a plan's tables in a block that may hold several plans.
template <class Weight>
class TableOffsets {
 public:
  /// Appends the tables of a plan. `integers`: whether its samples are integers.
  template <class Plan>
  TableOffsets(TableBytes &bytes, const Plan &x, const Plan &y, bool integers = true)
      : integers_(integers) {
    const auto &chroma_x = x.chroma.empty() ? x.luma : x.chroma;
    const auto &chroma_y = y.chroma.empty() ? y.luma : y.chroma;
    tables_.blends_rows[0] = any_blends(y.luma);
    tables_.blends_rows[1] = any_blends(chroma_y);
    tables_.blends[0] = any_blends(x.luma) || tables_.blends_rows[0];
    tables_.blends[1] = any_blends(chroma_x) || tables_.blends_rows[1];
    luma_ = append_columns(bytes, x.luma);
    chroma_ = append_columns(bytes, chroma_x);
    firsts_ = padded(x.luma.size()) * sizeof(int32_t);
    inside_x_ = bytes.append(inside_weights(x.luma));
    lines_ = bytes.append(lines_of(y.luma, chroma_y));
    inside_y_ = bytes.append(inside_weights(y.luma));
  }

  /// Returns the tables in a copy of the block.
  Tables<Weight> in(const uint8_t *block) const {
    Tables<Weight> tables = tables_;
    tables.x = {reinterpret_cast<const int32_t *>(block + luma_),
                reinterpret_cast<const int32_t *>(block + chroma_),
                reinterpret_cast<const Weight *>(block + luma_ + firsts_),
                reinterpret_cast<const Weight *>(block + chroma_ + firsts_),
                reinterpret_cast<const float *>(block + inside_x_)};
    tables.y = {reinterpret_cast<const Taps<Weight> *>(block + lines_),
                reinterpret_cast<const float *>(block + inside_y_)};
    return tables;
  }

 private:
  static size_t padded(size_t entries) {
    return (entries + kNeighbours - 1) / kNeighbours * kNeighbours;
  }

  /// Appends the first samples, then the weights.
  template <class AnyTap>
  static size_t append_columns(TableBytes &bytes, const std::vector<AnyTap> &taps) {
    std::vector<int32_t> firsts;
    std::vector<Weight> weights;
    for (const AnyTap &tap : taps) {
      const Entry<Weight> entry = entry_of<Weight>(tap);
      firsts.push_back(entry.first);
      weights.push_back(entry.w);
    }
    firsts.resize(padded(taps.size()), firsts.back());
    weights.resize(padded(taps.size()), weights.back());
    const size_t begin = bytes.append(firsts);
    bytes.append(weights);
    return begin;
  }

  template <class AnyTap>
  std::vector<Taps<Weight>> lines_of(const std::vector<AnyTap> &luma,
                                     const std::vector<AnyTap> &chroma) const {
    std::vector<Taps<Weight>> lines;
    for (size_t i = 0; i < luma.size(); ++i)
      lines.push_back({line_entry_of<Weight>(luma[i], tables_.blends_rows[0], integers_),
                       line_entry_of<Weight>(chroma[i], tables_.blends_rows[1], integers_)});
    lines.resize(padded(luma.size()), lines.back());
    return lines;
  }

  template <class AnyTap>
  static std::vector<float> inside_weights(const std::vector<AnyTap> &taps) {
    std::vector<float> inside;
    for (const auto &tap : taps) inside.push_back(inside_of(tap));
    inside.resize(padded(taps.size()), inside.back());
    return inside;
  }

  Tables<Weight> tables_ = {};  // everything except the addresses
  bool integers_;
  size_t luma_, chroma_, firsts_, inside_x_, lines_, inside_y_;
};

/// The tables of a plan in device memory.
template <class Weight>
class UploadedTables {
 public:
  using Places = TableOffsets<Weight>;

  /// Uploads the tables, or shares identical ones already in device memory.
  template <class Plan>
  UploadedTables(CudaDevice &device, const Plan &x, const Plan &y, bool integers = true) {
    TableBytes bytes;
    const Places places(bytes, x, y, integers);
    memory_ = device.table(bytes.get().data(), bytes.get().size());
    tables_ = places.in(memory_->data());
  }
  /// Uses tables owned by another object.
  explicit UploadedTables(const Tables<Weight> &tables) : tables_(tables) {}

  const Tables<Weight> &get() const { return tables_; }

 private:
  std::shared_ptr<const Memory> memory_;
  Tables<Weight> tables_;
};

/// Tables that change from frame to frame, in consecutive places of the same size.
class PerFrameTables {
 public:
  PerFrameTables(CudaDevice &device, size_t place_bytes, size_t places)
      : device_(device),
        ring_(device),
        place_bytes_(place_bytes),
        memory_(device.allocate(place_bytes * places)) {}

  /// Queues the upload of tables to a place and the following ones. Work that was queued earlier
  /// still reads the earlier tables. Returns the address of the place.
  const uint8_t *upload(size_t place, const TableBytes &tables, Stream stream) {
    const std::vector<uint8_t> &bytes = tables.get();
    const auto row = static_cast<ptrdiff_t>(bytes.size());
    uint8_t *const to = memory_->data() + place * place_bytes_, *const pinned = ring_.take(row);
    std::memcpy(pinned, bytes.data(), bytes.size());
    device_.copy({to, row}, {pinned, row}, bytes.size(), 1, stream);
    ring_.in_use_until(stream);
    return to;
  }

 private:
  CudaDevice &device_;
  PinnedRing ring_;
  size_t place_bytes_;
  std::unique_ptr<Memory> memory_;
};

template <class Weight, int kLines>
__device__ __forceinline__ void load_lines(const Tables<Weight> &tables, int y,
                                           Taps<Weight> (&lines)[kLines]) {
#pragma unroll
  for (int i = 0; i < kLines; ++i)
    lines[i] = bit_cast<Taps<Weight>>(__ldg(reinterpret_cast<const int4 *>(tables.y.taps + y) + i));
}

/// `kCount` neighboring table entries, fetched in one load.
template <int kCount, class Value>
struct alignas(4 * kCount) Neighbours {
  Value value[kCount];

  static __device__ __forceinline__ Neighbours load(const Value *at) {
    using Word = std::conditional_t<kCount == 4, int4, int>;
    return bit_cast<Neighbours>(__ldg(reinterpret_cast<const Word *>(at)));
  }
};

/// Loads `kColumns` neighboring columns from x on, which must be a multiple of kColumns.
template <class Weight, int kColumns>
__device__ __forceinline__ void load_columns(const Tables<Weight> &tables, int x,
                                             Taps<Weight> (&columns)[kColumns]) {
  using Firsts = Neighbours<kColumns, int32_t>;
  using Weights = Neighbours<kColumns, Weight>;
  const Firsts luma = Firsts::load(tables.x.luma + x), chroma = Firsts::load(tables.x.chroma + x);
  Weights luma_weight = {}, chroma_weight = {};
  if (tables.blends[0]) luma_weight = Weights::load(tables.x.luma_weight + x);
  if (tables.blends[1]) chroma_weight = Weights::load(tables.x.chroma_weight + x);
#pragma unroll
  for (int k = 0; k < kColumns; ++k)
    columns[k] = {{luma.value[k], luma_weight.value[k]}, {chroma.value[k], chroma_weight.value[k]}};
}

/// Base class of samplers whose Args contain tables.
template <class Args, class Weight>
struct TableSampler {
  static constexpr BlockShape kBlock = kPixelBlock;
  template <class Sink>
  static constexpr int kRows = Sink::kRows;
  template <class Sink>
  static constexpr int kBlocksPerSm = Sink::kBlocksPerSm;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, int x,
                                                 Taps<Weight> (&columns)[kColumns]) {
    load_columns(in.tables, x, columns);
  }
  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, int y,
                                               Taps<Weight> (&lines)[kLines]) {
    load_lines(in.tables, y, lines);
  }
};

}  // namespace cudatensor::cuda
