// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures and tensors that detect wrong accesses. Inputs begin or end at a protected page, and end
// with their last sample, so that compute-sanitizer detects reads beyond it. Outputs are surrounded
// by a pattern that must not change.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "block.h"
#include "kernels/ops.h"
#include "random.h"

namespace cudatensor {

extern const std::vector<PixelFormat> kAllFormats;
extern const std::vector<PixelFormat> kPackedFormats;
extern const std::vector<PixelFormat> kYuvFormats;   ///< formats of eight bits
extern const std::vector<PixelFormat> kDeepFormats;  ///< formats of more bits
extern const std::vector<PixelFormat> kSourceFormats;
extern const std::vector<PixelFormat> kLetterboxFormats;

enum class Content { random, zeros, maximum, checkered, rows, ramp };

extern const std::vector<Content> kAllContents;

/// A block of memory that is copied to a device.
struct Span {
  const uint8_t *data;
  size_t size;
};

/// Alignment of a plane: it begins `offset` bytes after an address that is aligned for every
/// vector. Its stride is a multiple of `unit`, plus `gap` bytes. By default, everything can be
/// accessed in words.
struct Lay {
  size_t offset = 0;
  size_t unit = 64;
  ptrdiff_t gap = 0;
};
using Lays = std::array<Lay, 3>;

/// Returns planes that are aligned to words or a little off.
Lays random_lays(Random &random);

/// Addresses of a picture's blocks; a tensor has one block.
using Bases = std::array<const uint8_t *, 3>;

/// A picture in which every plane has its own block, which ends with the plane's last sample. The
/// bytes before the plane and between rows are noise, and poisoned for AddressSanitizer.
class InputPicture {
 public:
  InputPicture(Random &random, const ImageDesc &desc, Content content = Content::random);
  InputPicture(Random &random, const ImageDesc &desc, const Lays &lays,
               Content content = Content::random);

  ConstImage view() const { return view({blocks_[0].data(), data(1), data(2)}); }
  /// Returns the same picture in copies of its blocks.
  ConstImage view(const Bases &bases) const;
  std::vector<Span> spans() const;

  /// Copies the samples of a picture of the same format and size.
  void assign(const ConstImage &image);
  /// Sets every byte of every sample.
  void fill(uint8_t value);

 private:
  void add_plane(Random &random, Block::Edge edge, size_t offset, ptrdiff_t stride,
                 Content content);
  const uint8_t *data(size_t plane) const {
    return plane < blocks_.size() ? blocks_[plane].data() : nullptr;
  }

  ImageDesc desc_;
  std::vector<Block> blocks_;
  std::vector<size_t> offsets_;
  std::vector<ptrdiff_t> strides_;
};

class InputTensor {
 public:
  /// Elements of float types are about -0.5..1.5, which covers the range of pictures. Very large
  /// tensors hold noise.
  InputTensor(Random &random, const TensorDesc &desc);
  /// Begins `offset` bytes after an address that is aligned for every vector.
  InputTensor(Random &random, const TensorDesc &desc, size_t offset);

  ConstTensor view() const { return view({block_.data(), nullptr, nullptr}); }
  /// Returns the same tensor in a copy of its block.
  ConstTensor view(const Bases &bases) const { return {desc_, bases[0] + offset_}; }
  std::vector<Span> spans() const { return {{block_.data(), block_.size()}}; }

  /// Fills the tensor with random bits, which include NaN.
  void fill_with_noise(Random &random);
  /// Replaces some elements by special values: NaN, infinities, huge numbers, half-integers.
  void sprinkle(Random &random);
  /// Sets the first element.
  void set(float value) { store(0, value); }

 private:
  InputTensor(Random &random, const TensorDesc &desc, Block::Edge edge, size_t offset);
  void store(size_t i, float value);

  TensorDesc desc_;
  size_t offset_;
  Block block_;
};

/// A block that a kernel writes to, and its expected content.
class Guarded {
 public:
  uint8_t *actual() { return actual_.data(); }
  size_t size() const { return actual_.size(); }
  Span span() const { return {actual_.data(), size()}; }

  /// Restores the pattern for another run.
  void reset() { actual_ = pattern_; }
  /// Makes the current content the expected content of the next run.
  void adopt() { expected_ = actual_; }

 protected:
  Guarded() = default;
  void allocate(Random &random, size_t size);
  /// Returns the size of the next gap, or of a guard.
  static size_t gap(Random &random);
  /// Returns the offset of the first unexpected byte; size() if there is none.
  size_t first_difference() const;
  std::string difference_at(size_t offset) const;

  std::vector<uint8_t> pattern_, actual_, expected_;
};

class OutputPicture : public Guarded {
 public:
  OutputPicture(Random &random, const ImageDesc &desc);
  OutputPicture(Random &random, const ImageDesc &desc, const Lays &lays);

  Image view() { return view(actual()); }
  /// Returns the same picture in a copy of the block.
  Image view(uint8_t *base) const;
  /// Returns the picture that the oracle writes to.
  Image expected() { return view(expected_.data()); }
  /// Checks that the samples are as expected, and all other bytes unchanged.
  testing::AssertionResult matches() const;

 private:
  std::string place_of(size_t offset) const;

  ImageDesc desc_;
  std::vector<size_t> offsets_;
  std::vector<ptrdiff_t> strides_;
};

class OutputTensor : public Guarded {
 public:
  OutputTensor(Random &random, const TensorDesc &desc);
  /// Begins `offset` bytes after an address that is aligned for every vector.
  OutputTensor(Random &random, const TensorDesc &desc, size_t offset);

  Tensor view() { return view(actual()); }
  Tensor view(uint8_t *base) const { return {desc_, base + offset_}; }
  Tensor expected() { return view(expected_.data()); }
  testing::AssertionResult matches() const;

 private:
  TensorDesc desc_;
  size_t offset_;
};

/// Returns the tensor as an input.
ConstImage constant(const Image &image);

}  // namespace cudatensor
