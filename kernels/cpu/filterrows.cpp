// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/filterrows.h"

#include <algorithm>

// Compiled once for each instruction set, like rows.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/filterrows.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define CUDATENSOR_DOT 1
#else
#define CUDATENSOR_DOT 0
#endif
// Targets on which an instruction adds up products of pairs, and packing keeps the order of
// columns.
#if !CUDATENSOR_DOT && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define CUDATENSOR_PAIRS 1
#else
#define CUDATENSOR_PAIRS 0
#endif

void filter_row(const FilterColumns &columns, const uint8_t *HWY_RESTRICT row,
                uint8_t *HWY_RESTRICT out) {
  for (const FilterWindow &window : columns.windows) {
    const uint8_t *const pixels = row + window.first;
    const int32_t *const weights = columns.weights.data() + window.weight;
    int32_t sum = kFilterHalf;
    for (int i = 0; i < window.count; ++i) sum += pixels[i] * weights[i];
    *out++ = filtered_sample(sum);
  }
}

void filter_plain_rows(const uint8_t *const *rows, const RowWeights &weights, int n,
                       uint8_t *HWY_RESTRICT out) {
  constexpr int kPiece = 1024;
  for (int begin = 0; begin < n; begin += kPiece) {
    const int piece = std::min(kPiece, n - begin);
    int32_t sums[kPiece];
    std::fill_n(sums, piece, kFilterHalf);
    for (int i = 0; i < weights.count; ++i) {
      const uint8_t *HWY_RESTRICT row = rows[i] + begin;
      const int32_t weight = weights.weights[i];
      for (int x = 0; x < piece; ++x) sums[x] += row[x] * weight;
    }
    for (int x = 0; x < piece; ++x) out[begin + x] = filtered_sample(sums[x]);
  }
}

#if CUDATENSOR_DOT
// ---------------------------------------------------------------------- dot products of four bytes

}  // namespace
}  // namespace cudatensor::cpu::HWY_NAMESPACE
// Highway chooses this target for processors that have these instructions, but some versions of it
// do not tell the compiler.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

/// Returns the sum of the weights' products, which has at most 32 bits, from the sums of the
/// digits' products.
HWY_INLINE __m512i sum_of(__m512i d0, __m512i d1, __m512i d2) {
  const __m512i sum = _mm512_add_epi32(d0, _mm512_slli_epi32(d1, 8));
  return _mm512_srai_epi32(_mm512_add_epi32(sum, _mm512_slli_epi32(d2, 16)), kFilterBits);
}

/// Returns the words of a group's columns, from the pixels at four bases.
template <int kBases>
HWY_INLINE __m512i gather_words(const uint8_t *row, const ColumnGroup &group, __m512i index) {
  const auto load = [&](int i) HWY_ATTR { return _mm512_loadu_si512(row + group.base[i]); };
  if constexpr (kBases == 1) return _mm512_permutexvar_epi32(index, load(0));
  if constexpr (kBases == 2) return _mm512_permutex2var_epi32(load(0), index, load(3));
  if constexpr (kBases == 4)
    return _mm512_or_si512(_mm512_maskz_permutex2var_epi32(0x00ff, load(0), index, load(1)),
                           _mm512_maskz_permutex2var_epi32(0xff00, load(2), index, load(3)));
}

template <int kBases, int kRows>
HWY_INLINE void filter_group(const FilterColumns &columns, const ColumnGroup &group,
                             const uint8_t *const *rows, ptrdiff_t at, uint8_t *const *out) {
  const __m512i index = _mm512_loadu_si512(group.index);
  const FilterVector *digits = columns.digits.data() + group.digits;
  __m512i d0[kRows], d1[kRows], d2[kRows];
  for (int i = 0; i < kRows; ++i) {
    d0[i] = _mm512_set1_epi32(kFilterHalf);
    d1[i] = d2[i] = _mm512_setzero_si512();
  }
  for (ptrdiff_t word = 0; word < group.words; ++word, digits += 3) {
    const __m512i w0 = _mm512_load_si512(digits);
    const __m512i w1 = _mm512_load_si512(digits + 1);
    const __m512i w2 = _mm512_load_si512(digits + 2);
    for (int i = 0; i < kRows; ++i) {
      const __m512i pixels = gather_words<kBases>(rows[i] + 4 * word, group, index);
      d0[i] = _mm512_dpbusd_epi32(d0[i], pixels, w0);
      d1[i] = _mm512_dpbusd_epi32(d1[i], pixels, w1);
      d2[i] = _mm512_dpbusd_epi32(d2[i], pixels, w2);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    const __m512i sum = _mm512_max_epi32(sum_of(d0[i], d1[i], d2[i]), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out[i] + at), _mm512_cvtusepi32_epi8(sum));
  }
}

/// Prefetches part i of n of the bytes that are read next.
HWY_INLINE void prefetch(const Ahead &ahead, size_t i, size_t n) {
  const size_t lines = (static_cast<size_t>(ahead.bytes) + 63) / 64;
  for (size_t line = lines * i / n; line < lines * (i + 1) / n; ++line)
    for (const uint8_t *const row : ahead.rows) _mm_prefetch(row + 64 * line, _MM_HINT_T1);
}

template <int kBases, int kRows>
void filter_groups(const FilterColumns &columns, const uint8_t *const *rows, const Ahead &ahead,
                   uint8_t *const *out) {
  const size_t groups = columns.groups.size();
  for (size_t i = 0; i < groups; ++i) {
    prefetch(ahead, i, groups);
    filter_group<kBases, kRows>(columns, columns.groups[i], rows,
                                static_cast<ptrdiff_t>(i) * kFilterGroup, out);
  }
}

template <int kBases>
void filter_some(const FilterColumns &columns, const uint8_t *const *rows, int count, Ahead ahead,
                 uint8_t *const *out) {
  for (; count >= 6; count -= 6, rows += 6, out += 6, ahead.bytes = 0)
    filter_groups<kBases, 6>(columns, rows, ahead, out);
  for (; count >= 3; count -= 3, rows += 3, out += 3, ahead.bytes = 0)
    filter_groups<kBases, 3>(columns, rows, ahead, out);
  for (; count >= 1; count -= 1, rows += 1, out += 1, ahead.bytes = 0)
    filter_groups<kBases, 1>(columns, rows, ahead, out);
}

/// Filters columns one by one, 64 pixels of a window and their digits at a time.
void filter_wide(const FilterColumns &columns, const uint8_t *HWY_RESTRICT row,
                 uint8_t *HWY_RESTRICT out) {
  const FilterVector *digits = columns.digits.data();
  for (const FilterWindow &window : columns.windows) {
    __m512i d0 = _mm512_setzero_si512(), d1 = d0, d2 = d0;
    for (int i = 0; i < window.count; i += 64, digits += 3) {
      const __m512i pixels = _mm512_loadu_si512(row + window.first + i);
      d0 = _mm512_dpbusd_epi32(d0, pixels, _mm512_load_si512(digits));
      d1 = _mm512_dpbusd_epi32(d1, pixels, _mm512_load_si512(digits + 1));
      d2 = _mm512_dpbusd_epi32(d2, pixels, _mm512_load_si512(digits + 2));
    }
    const __m512i sum =
        _mm512_add_epi32(_mm512_add_epi32(d0, _mm512_slli_epi32(d1, 8)), _mm512_slli_epi32(d2, 16));
    *out++ = filtered_sample(_mm512_reduce_add_epi32(sum) + kFilterHalf);
  }
}

void filter_columns(const FilterColumns &columns, const uint8_t *const *rows, int count,
                    const Ahead &ahead, uint8_t *const *out) {
  switch (columns.bases) {
    case 1: return filter_some<1>(columns, rows, count, ahead, out);
    case 2: return filter_some<2>(columns, rows, count, ahead, out);
    case 4: return filter_some<4>(columns, rows, count, ahead, out);
    default: break;
  }
  const auto filter = columns.digits.empty() ? filter_row : filter_wide;
  for (int i = 0; i < count; ++i) filter(columns, rows[i], out[i]);
}

/// Makes words of four rows for 64 columns, in the order that pack_words() expects.
HWY_INLINE void make_words(const uint8_t *const *rows, ptrdiff_t x, __m512i *words) {
  const auto load = [&](int i) HWY_ATTR { return _mm512_loadu_si512(rows[i] + x); };
  const __m512i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m512i ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
  const __m512i cd0 = _mm512_unpacklo_epi8(c, d), cd1 = _mm512_unpackhi_epi8(c, d);
  words[0] = _mm512_unpacklo_epi16(ab0, cd0);
  words[1] = _mm512_unpackhi_epi16(ab0, cd0);
  words[2] = _mm512_unpacklo_epi16(ab1, cd1);
  words[3] = _mm512_unpackhi_epi16(ab1, cd1);
}

HWY_INLINE void store_words(const __m512i *sums, uint8_t *out, __mmask64 columns) {
  const __m512i low = _mm512_packs_epi32(sums[0], sums[1]);
  const __m512i high = _mm512_packs_epi32(sums[2], sums[3]);
  _mm512_mask_storeu_epi8(out, columns, _mm512_packus_epi16(low, high));
}

void filter_rows(const uint8_t *const *rows, const RowWeights &weights, int n, uint8_t *out) {
  if (weights.digits == nullptr) return filter_plain_rows(rows, weights, n, out);
  for (ptrdiff_t x = 0; x < n; x += 64) {
    __m512i d[3][4];
    for (int k = 0; k < 4; ++k) {
      d[0][k] = _mm512_set1_epi32(kFilterHalf);
      d[1][k] = d[2][k] = _mm512_setzero_si512();
    }
    for (int i = 0; i < weights.count; i += 4) {
      const uint8_t *four[4];
      for (int k = 0; k < 4; ++k) four[k] = rows[std::min(i + k, weights.count - 1)];
      __m512i words[4];
      make_words(four, x, words);
      for (int digit = 0; digit < 3; ++digit) {
        const __m512i w = _mm512_set1_epi32(weights.digits[i / 4].word[digit]);
        for (int k = 0; k < 4; ++k) d[digit][k] = _mm512_dpbusd_epi32(d[digit][k], words[k], w);
      }
    }
    for (int k = 0; k < 4; ++k) d[0][k] = sum_of(d[0][k], d[1][k], d[2][k]);
    store_words(d[0], out + x, n - x < 64 ? (__mmask64{1} << (n - x)) - 1 : ~__mmask64{0});
  }
}

// ------------------------------------------------------------------------- preparation of columns

/// Sets the bases of a group, of which at most `bases` differ. Returns false if a column is too far
/// from its base.
bool place_group(const FilterColumns &columns, int begin, int bases, ColumnGroup &group) {
  const auto window = [&](int k) -> const FilterWindow & {
    return columns.windows[std::min<size_t>(begin + k, columns.windows.size() - 1)];
  };
  constexpr int kPart = kFilterGroup / 4;
  for (int part = 0; part < 4; ++part)
    group.base[part] = window(part / (4 / bases) * (4 / bases) * kPart).first;
  group.words = 0;
  for (int k = 0; k < kFilterGroup; ++k) {
    const int distance = window(k).first - group.base[k / kPart], index = distance / 4;
    if (distance < 0 || index >= 16) return false;
    const bool second = bases == 2 ? k >= 8 : bases == 4 && k / kPart % 2 == 1;
    group.index[k] = index + (second ? 16 : 0);
    group.words = std::max(group.words, (distance % 4 + window(k).count + 3) / 4);
  }
  return true;
}

/// Appends the digits of a group's weights, each at the place of its pixel.
bool add_digits(FilterColumns &columns, int begin, ColumnGroup &group) {
  group.digits = static_cast<int32_t>(columns.digits.size());
  columns.digits.resize(columns.digits.size() + size_t{3} * group.words);
  FilterVector *const to = columns.digits.data() + group.digits;
  for (int k = 0; k < kFilterGroup && begin + k < static_cast<int>(columns.windows.size()); ++k) {
    const FilterWindow &window = columns.windows[begin + k];
    const int before = (window.first - group.base[k / 4]) % 4;
    std::vector<int32_t> weights(before);
    const auto first = columns.weights.begin() + window.weight;
    weights.insert(weights.end(), first, first + window.count);
    const auto digits = digits_of(weights.data(), static_cast<int>(weights.size()));
    if (digits.empty()) return false;
    for (size_t word = 0; word < digits.size(); ++word)
      for (size_t digit = 0; digit < 3; ++digit)
        to[word * 3 + digit].word[k] = digits[word].word[digit];
  }
  return true;
}

bool make_groups(FilterColumns &columns, int bases) {
  columns.groups.clear();
  columns.digits.clear();
  for (int begin = 0; begin < static_cast<int>(columns.windows.size()); begin += kFilterGroup) {
    ColumnGroup group = {};
    if (!place_group(columns, begin, bases, group) || !add_digits(columns, begin, group))
      return false;
    columns.groups.push_back(group);
    const int end = group.base[3] + 4 * (group.words - 1) + 64;
    columns.slack = std::max(columns.slack, end - columns.width);
  }
  columns.bases = bases;
  return true;
}

void make_wide(FilterColumns &columns) {
  for (const FilterWindow &window : columns.windows) {
    const auto digits = digits_of(columns.weights.data() + window.weight, window.count);
    if (digits.empty()) return columns.digits.clear();
    for (size_t word = 0; word < digits.size(); word += 16)
      for (size_t digit = 0; digit < 3; ++digit) {
        columns.digits.emplace_back();
        for (size_t k = word; k < std::min(word + 16, digits.size()); ++k)
          columns.digits.back().word[k - word] = digits[k].word[digit];
      }
  }
}

void prepare_columns(FilterColumns &columns) {
  for (const int bases : {1, 2, 4})
    if (make_groups(columns, bases)) return;
  columns.groups.clear();
  columns.digits.clear();
  make_wide(columns);
}

}  // namespace
}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {
#elif CUDATENSOR_PAIRS
// ------------------------------------------------------------------------------ products of pairs

// A weight is the sum of a multiple of 2^kHalfBits and a rest, both of which have 16 bits.
// Intermediate sums may overflow; the final sum is right, because it has at most 32 bits.
constexpr int kHalfBits = 12;
struct Halves {
  int16_t low, high;
};
HWY_INLINE Halves halves_of(int32_t weight) {
  const int32_t low =
      ((weight + (1 << (kHalfBits - 1))) & ((1 << kHalfBits) - 1)) - (1 << (kHalfBits - 1));
  return {static_cast<int16_t>(low), static_cast<int16_t>((weight - low) >> kHalfBits)};
}

/// Splits the weights: each vector has the lower halves of kFilterGroup weights, then the upper
/// halves.
void prepare_columns(FilterColumns &columns) {
  for (const FilterWindow &window : columns.windows)
    for (int i = 0; i < window.count; i += kFilterGroup) {
      columns.digits.emplace_back();
      auto *const halves = reinterpret_cast<int16_t *>(columns.digits.back().word);
      for (int k = 0; k < std::min(kFilterGroup, window.count - i); ++k) {
        const Halves weight = halves_of(columns.weights[window.weight + i + k]);
        halves[k] = weight.low;
        halves[kFilterGroup + k] = weight.high;
      }
    }
}

void filter_pairs(const FilterColumns &columns, const uint8_t *HWY_RESTRICT row,
                  uint8_t *HWY_RESTRICT out) {
  const hn::CappedTag<int16_t, kFilterGroup> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const FilterVector *digits = columns.digits.data();
  for (const FilterWindow &window : columns.windows) {
    auto low = hn::Zero(wide), low1 = low, high = low, high1 = low;
    for (int i = 0; i < window.count; i += kFilterGroup, ++digits) {
      const auto *const halves = reinterpret_cast<const int16_t *>(digits->word);
      for (int k = 0; k < kFilterGroup; k += static_cast<int>(hn::Lanes(d))) {
        const auto pixels = hn::PromoteTo(d, hn::LoadU(bytes, row + window.first + i + k));
        low = hn::ReorderWidenMulAccumulate(wide, pixels, hn::Load(d, halves + k), low, low1);
        high = hn::ReorderWidenMulAccumulate(wide, pixels, hn::Load(d, halves + kFilterGroup + k),
                                             high, high1);
      }
    }
    const auto sum = hn::Add(hn::Add(low, low1), hn::ShiftLeft<kHalfBits>(hn::Add(high, high1)));
    *out++ = filtered_sample(hn::GetLane(hn::SumOfLanes(wide, sum)) + kFilterHalf);
  }
}

void filter_columns(const FilterColumns &columns, const uint8_t *const *rows, int count,
                    const Ahead &, uint8_t *const *out) {
  for (int i = 0; i < count; ++i) filter_pairs(columns, rows[i], out[i]);
}

/// Filters a vector of columns, two for each lane of `wide`.
template <class D, class Wide>
HWY_INLINE void filter_piece(D d, Wide wide, const uint8_t *const *rows, const RowWeights &weights,
                             ptrdiff_t x, uint8_t *out) {
  const hn::Rebind<uint8_t, D> bytes;
  const auto half = hn::Set(wide, kFilterHalf), zero = hn::Zero(wide);
  auto low0 = half, low1 = half, high0 = zero, high1 = zero;
  auto more0 = zero, more1 = zero, more2 = zero, more3 = zero;
  for (int i = 0; i < weights.count; i += 2) {
    const bool two = i + 1 < weights.count;
    const auto a = hn::PromoteTo(d, hn::LoadU(bytes, rows[i] + x));
    const auto b = hn::PromoteTo(d, hn::LoadU(bytes, rows[two ? i + 1 : i] + x));
    const auto ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
    const Halves first = halves_of(weights.weights[i]);
    const Halves second = halves_of(two ? weights.weights[i + 1] : 0);
    const auto pair = [&](int16_t even, int16_t odd) HWY_ATTR {
      const auto bits =
          static_cast<uint32_t>(static_cast<uint16_t>(odd)) << 16 | static_cast<uint16_t>(even);
      return hn::BitCast(d, hn::Set(wide, static_cast<int32_t>(bits)));
    };
    const auto low = pair(first.low, second.low), high = pair(first.high, second.high);
    low0 = hn::ReorderWidenMulAccumulate(wide, ab0, low, low0, more0);
    low1 = hn::ReorderWidenMulAccumulate(wide, ab1, low, low1, more1);
    high0 = hn::ReorderWidenMulAccumulate(wide, ab0, high, high0, more2);
    high1 = hn::ReorderWidenMulAccumulate(wide, ab1, high, high1, more3);
  }
  const auto finish = [&](auto low, auto high) HWY_ATTR {
    return hn::ShiftRight<kFilterBits>(hn::Add(low, hn::ShiftLeft<kHalfBits>(high)));
  };
  const auto sums = hn::ReorderDemote2To(d, finish(low0, high0), finish(low1, high1));
  hn::StoreU(hn::DemoteTo(bytes, sums), bytes, out + x);
}

/// `out` must have room for the whole last vector.
void filter_rows(const uint8_t *const *rows, const RowWeights &weights, int n, uint8_t *out) {
  const hn::ScalableTag<int16_t> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  for (ptrdiff_t x = 0; x < n; x += static_cast<ptrdiff_t>(hn::Lanes(d)))
    filter_piece(d, wide, rows, weights, x, out);
}
#else
void filter_columns(const FilterColumns &columns, const uint8_t *const *rows, int count,
                    const Ahead &, uint8_t *const *out) {
  for (int i = 0; i < count; ++i) filter_row(columns, rows[i], out[i]);
}

void filter_rows(const uint8_t *const *rows, const RowWeights &weights, int n, uint8_t *out) {
  filter_plain_rows(rows, weights, n, out);
}

void prepare_columns(FilterColumns &) {}

#endif
#undef CUDATENSOR_DOT
#undef CUDATENSOR_PAIRS

}  // namespace

FilterKernels make_filter_table() { return {prepare_columns, filter_columns, filter_rows}; }

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_filter_table);

const FilterKernels &filter_kernels() {
  static const FilterKernels table = HWY_DYNAMIC_DISPATCH(make_filter_table)();
  return table;
}

std::vector<FilterDigits> digits_of(const int32_t *weights, int count) {
  std::vector<FilterDigits> words((count + 3) / 4);
  for (int i = 0; i < count; ++i) {
    int32_t rest = weights[i];
    for (int digit = 0; digit < 3; ++digit) {
      const auto low = static_cast<int8_t>(static_cast<uint8_t>(rest));
      rest = (rest - low) / 256;
      reinterpret_cast<int8_t *>(&words[i / 4].word[digit])[i % 4] = low;
    }
    if (rest != 0) return {};
  }
  return words;
}

}  // namespace cudatensor::cpu
#endif
