// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of all benchmark programs. Each program generates them with these formulas.
// peers/common.py has the same formulas for Python.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace bench {

using Bytes = std::vector<uint8_t>;

/// The number of different frames. Each frame is stored separately.
constexpr int kPatterns = 4;

/// Returns the number of frames that are used in turn: twice the L2 cache of an H200, so that they
/// do not stay in it.
inline int frames_of(size_t bytes) {
  return static_cast<int>(std::min<size_t>((size_t{128} << 20) / bytes + 1, 512));
}

/// A triangle wave from 0 to 64.
inline int triangle(int t) {
  t &= 127;
  return std::min(t, 128 - t);
}

/// A level of a picture, from 64 to 192. Slopes of one level per pixel reveal a result that is
/// shifted by a pixel, but hide small differences in how samples are placed or rounded.
inline uint8_t level(int x, int y, int pattern) {
  return static_cast<uint8_t>(64 + triangle(x + 29 * pattern) + triangle(y + 13 * pattern));
}

/// Levels of chroma. With those of luma, all colors are within the range of RGB, so that nothing is
/// clamped.
inline uint8_t chroma_u(int x, int pattern) {
  return static_cast<uint8_t>(112 + triangle(x + 29 * pattern) / 2);
}
inline uint8_t chroma_v(int y, int pattern) {
  return static_cast<uint8_t>(144 - triangle(y + 13 * pattern) / 2);
}

/// The sides must be even.
inline Bytes nv12(int width, int height, int pattern) {
  Bytes picture;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) picture.push_back(level(x, y, pattern));
  for (int y = 0; y < height / 2; ++y)
    for (int x = 0; x < width / 2; ++x) {
      picture.push_back(chroma_u(x, pattern));
      picture.push_back(chroma_v(y, pattern));
    }
  return picture;
}

inline Bytes packed(int width, int height, int channels, int pattern) {
  Bytes picture;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) picture.push_back(level(x + 40 * c, y, pattern));
  return picture;
}

/// SplitMix64 of the index of each 8-byte word, ANDed with `mask`. `bytes` is a multiple of 8.
inline Bytes noise(size_t bytes, int pattern, uint64_t mask = ~uint64_t{0}) {
  Bytes data(bytes);
  const uint64_t first = static_cast<uint64_t>(pattern) << 32;
  for (size_t i = 0; i < bytes / 8; ++i) {
    uint64_t z = (first + i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z = (z ^ (z >> 31)) & mask;
    std::memcpy(data.data() + 8 * i, &z, 8);
  }
  return data;
}

/// Masks for noise of float16 or float32 values in [0, 1).
constexpr uint64_t kFloat16 = 0x3bff3bff3bff3bffu, kFloat32 = 0x3f7fffff3f7fffffu;

inline Bytes flat(size_t bytes) { return Bytes(bytes, 114); }

/// A checksum that depends on order: the sum of all 8-byte words, each multiplied by a different
/// odd number.
inline uint64_t digest(const Bytes &data) {
  uint64_t sum = 0;
  for (size_t i = 0; i < data.size() / 8; ++i) {
    uint64_t word;
    std::memcpy(&word, data.data() + 8 * i, 8);
    sum += word * (2 * i + 1);
  }
  return sum;
}

}  // namespace bench
