// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/flexibletensor.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/error.h"

namespace cudatensor {
namespace {

// The fields, in words of 32 bits of the host's byte order; those after them are 0.
enum Field : size_t {
  kMagic = 0,
  kVersion = 1,
  kType = 2,
  kDimensions = 3,  // innermost first; 0: no more
  kFormat = kDimensions + kMaxFlexibleRank,
  kMedia = kFormat + 1,
};

constexpr uint32_t kMagicNumber = 0xfeedcced;
constexpr uint32_t kVersionMark = 0xde000000, kMajorMask = 0x00fff000, kVersion1 = 1 << 12;
constexpr uint32_t kStatic = 0, kFlexible = 1;
constexpr uint32_t kTensorMediaType = 4;
constexpr auto kTypes = static_cast<uint32_t>(ElementType::float16) + 1;

using Words = std::array<uint32_t, kFlexibleHeader / 4>;

[[noreturn]] void refuse(const std::string &cause) {
  throw Error(Error::Code::frame, "a flexible tensor " + cause);
}

void check(const Words &words) {
  if (words[kMagic] != kMagicNumber || (words[kVersion] & kVersionMark) != kVersionMark)
    refuse("does not begin with NNStreamer's header");
  if ((words[kVersion] & kMajorMask) != kVersion1) refuse("has a header of another version");
  if (words[kType] >= kTypes) refuse("has an unknown type");
  // Some elements of NNStreamer write static.
  if (words[kFormat] != kStatic && words[kFormat] != kFlexible) refuse("is sparse");
  if (words[kDimensions] == 0) refuse("has no dimensions");
}

TensorShape shape_in(const Words &words) {
  TensorShape shape;
  shape.type = static_cast<ElementType>(words[kType]);
  for (size_t i = 0; i < kMaxFlexibleRank && words[kDimensions + i] != 0; ++i)
    shape.dimensions.push_back(words[kDimensions + i]);
  return shape;
}

gsize bytes_of(const TensorShape &shape) {
  try {
    return shape.bytes();
  } catch (const Error &) {
    refuse("of " + text_of(shape) + " is too large");
  }
}

}  // namespace

void write_flexible_header(const TensorShape &shape, void *header) {
  const auto &dimensions = shape.dimensions;
  const bool fits = !dimensions.empty() && dimensions.size() <= kMaxFlexibleRank &&
                    std::all_of(dimensions.begin(), dimensions.end(),
                                [](int64_t d) { return d >= 0 && d <= G_MAXUINT32; });
  if (static_cast<uint32_t>(shape.type) >= kTypes || !fits)
    throw Error(Error::Code::settings, "flexible tensors cannot be " + text_of(shape));
  Words words = {};
  words[kMagic] = kMagicNumber;
  words[kVersion] = kVersionMark | kVersion1;
  words[kType] = static_cast<uint32_t>(shape.type);
  for (size_t i = 0; i < dimensions.size(); ++i)
    words[kDimensions + i] = static_cast<uint32_t>(std::max<int64_t>(dimensions[i], 1));
  words[kFormat] = kFlexible;
  words[kMedia] = kTensorMediaType;
  std::memcpy(header, words.data(), kFlexibleHeader);
}

TensorShape read_flexible_header(const void *memory, gsize size) {
  if (size < kFlexibleHeader) refuse("has " + std::to_string(size) + " bytes, without a header");
  Words words;
  std::memcpy(words.data(), memory, kFlexibleHeader);
  check(words);
  TensorShape shape = shape_in(words);
  if (size == kFlexibleHeader) {
    shape.dimensions.back() = 0;
    return shape;
  }
  if (bytes_of(shape) != size - kFlexibleHeader)
    refuse("of " + text_of(shape) + " has " + std::to_string(size - kFlexibleHeader) +
           " bytes after its header");
  return shape;
}

}  // namespace cudatensor
