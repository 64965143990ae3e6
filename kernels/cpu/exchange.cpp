// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/exchange.h"

#include <cstring>

// See rows.cpp about the instruction sets.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/exchange.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
/// Transposes squares of 16 / sizeof(T) elements a side. Returns the number of columns.
template <class T>
int exchange_squares(const uint8_t *const *from, ptrdiff_t offset, uint8_t *to, ptrdiff_t stride) {
  constexpr int kSide = 16 / sizeof(T);
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      memcpy(to + x * stride + y * sizeof(T), from[y] + offset + x * sizeof(T), sizeof(T));
  return kSide;
}
#else
template <class D, class V>
HWY_INLINE void store_columns(D d, V v, int side, uint8_t *to, ptrdiff_t stride) {
  if constexpr (hn::MaxLanes(D()) == 16) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    store_columns(half, hn::LowerHalf(half, v), side, to, stride);
    store_columns(half, hn::UpperHalf(half, v), side, to + side * stride, stride);
  }
}

/// Transposes squares of 16 / sizeof(T) elements a side, side by side: one in each 16 bytes of a
/// vector. Returns the number of columns.
template <class T>
HWY_INLINE int exchange_squares(const uint8_t *const *from, ptrdiff_t offset, uint8_t *to,
                                ptrdiff_t stride) {
  constexpr int kSide = 16 / sizeof(T), kBytes = HWY_MAX_BYTES >= 32 ? 32 : 16;
  const hn::FixedTag<uint8_t, kBytes> bytes;
  const hn::Repartition<T, decltype(bytes)> d;
  hn::VFromD<decltype(d)> rows[kSide], next[kSide];
  for (int y = 0; y < kSide; ++y) rows[y] = hn::BitCast(d, hn::LoadU(bytes, from[y] + offset));
  // Each round interleaves row i with the row half a square below, which is one step of a perfect
  // shuffle; as many steps as a side has bits exchange rows and columns.
  for (int side = 1; side < kSide; side *= 2) {
    for (int y = 0; y < kSide / 2; ++y) {
      next[2 * y] = hn::InterleaveLower(d, rows[y], rows[y + kSide / 2]);
      next[2 * y + 1] = hn::InterleaveUpper(d, rows[y], rows[y + kSide / 2]);
    }
    for (int y = 0; y < kSide; ++y) rows[y] = next[y];
  }
  for (int y = 0; y < kSide; ++y)
    store_columns(bytes, hn::BitCast(bytes, rows[y]), kSide, to + y * stride, stride);
  return kBytes / sizeof(T);
}
#endif

template <class T>
void exchange(const uint8_t *const *rows, int columns, uint8_t *HWY_RESTRICT to, ptrdiff_t stride) {
  for (int x = 0; x < columns;)
    x += exchange_squares<T>(rows, x * ptrdiff_t{sizeof(T)}, to + x * stride, stride);
}

}  // namespace

ExchangeTable make_exchange_table() {
  return {{nullptr, exchange<uint8_t>, exchange<uint16_t>, nullptr, exchange<uint32_t>}};
}

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_exchange_table);

Exchange exchange_of(int size) {
  static const ExchangeTable table = HWY_DYNAMIC_DISPATCH(make_exchange_table)();
  return table.of_size[size];
}

}  // namespace cudatensor::cpu
#endif
