// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures and tensors that notice who touches what: inputs begin or end at a page that faults, and
// end with their last sample, so that compute-sanitizer sees a read beyond it; outputs lie among a
// pattern that must survive.
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
extern const std::vector<PixelFormat> kYuvFormats;     ///< of eight bits
extern const std::vector<PixelFormat> kDeepFormats;    ///< of more
extern const std::vector<PixelFormat> kSourceFormats;
extern const std::vector<PixelFormat> kLetterboxFormats;

enum class Content { random, zeros, maximum, checkered, rows, ramp };

extern const std::vector<Content> kAllContents;

/// A block as those see it who copy it to a device.
struct Span {
  const uint8_t *data;
  size_t size;
};

/// How a plane lies: `offset` bytes behind an address that suits every vector, its rows a whole number
/// of `unit`s and `gap` bytes apart. As it stands, whatever is read or written in words can be.
struct Lay {
  size_t offset = 0;
  size_t unit = 64;
  ptrdiff_t gap = 0;
};
using Lays = std::array<Lay, 3>;

/// Each plane in whole words or a little beside them.
Lays random_lays(Random &random);

/// Where the blocks of a picture begin; a tensor has one.
using Bases = std::array<const uint8_t *, 3>;

/// Every plane is a block of its own that ends with the plane's last sample. What lies
/// before the plane and in the gaps between rows is noise, and poisoned for AddressSanitizer.
class InputPicture {
 public:
  InputPicture(Random &random, const ImageDesc &desc, Content content = Content::random);
  InputPicture(Random &random, const ImageDesc &desc, const Lays &lays,
               Content content = Content::random);

  ConstImage view() const { return view({blocks_[0].data(), data(1), data(2)}); }
  /// The same picture in copies of its blocks.
  ConstImage view(const Bases &bases) const;
  std::vector<Span> spans() const;

  /// Takes over the samples of a picture of the same format and size.
  void assign(const ConstImage &image);
  /// Every byte of every sample.
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
  /// float types hold about -0.5..1.5, what a picture may come from; those that are too large to be
  /// filled one by one, noise.
  InputTensor(Random &random, const TensorDesc &desc);
  /// Begins `offset` bytes behind an address that suits every vector.
  InputTensor(Random &random, const TensorDesc &desc, size_t offset);

  ConstTensor view() const { return view({block_.data(), nullptr, nullptr}); }
  /// The same tensor in a copy of its block.
  ConstTensor view(const Bases &bases) const { return {desc_, bases[0] + offset_}; }
  std::vector<Span> spans() const { return {{block_.data(), block_.size()}}; }

  /// Any bits, so also numbers that are none.
  void fill_with_noise(Random &random);
  /// Every few elements one that is special: not a number, infinite, huge, half an integer.
  void sprinkle(Random &random);
  /// The first element.
  void set(float value) { store(0, value); }

 private:
  InputTensor(Random &random, const TensorDesc &desc, Block::Edge edge, size_t offset);
  void store(size_t i, float value);

  TensorDesc desc_;
  size_t offset_;
  Block block_;
};

/// A block that a kernel writes to, and beside it the same block as it must be afterwards.
class Guarded {
 public:
  uint8_t *actual() { return actual_.data(); }
  size_t size() const { return actual_.size(); }
  Span span() const { return {actual_.data(), size()}; }

  /// Puts the pattern back, for another run.
  void reset() { actual_ = pattern_; }
  /// What was written becomes what is expected of the next run.
  void adopt() { expected_ = actual_; }

 protected:
  Guarded() = default;
  void allocate(Random &random, size_t size);
  /// Size of the next gap, and of the guards.
  static size_t gap(Random &random);
  /// The first byte that is not as expected; size() if there is none.
  size_t first_difference() const;
  std::string difference_at(size_t offset) const;

  std::vector<uint8_t> pattern_, actual_, expected_;
};

class OutputPicture : public Guarded {
 public:
  OutputPicture(Random &random, const ImageDesc &desc);
  OutputPicture(Random &random, const ImageDesc &desc, const Lays &lays);

  Image view() { return view(actual()); }
  /// The same picture in a copy of the block.
  Image view(uint8_t *base) const;
  /// Where the oracle writes.
  Image expected() { return view(expected_.data()); }
  /// Whether the samples are the expected ones, and all else untouched.
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
  /// Begins `offset` bytes behind an address that suits every vector.
  OutputTensor(Random &random, const TensorDesc &desc, size_t offset);

  Tensor view() { return view(actual()); }
  Tensor view(uint8_t *base) const { return {desc_, base + offset_}; }
  Tensor expected() { return view(expected_.data()); }
  testing::AssertionResult matches() const;

 private:
  TensorDesc desc_;
  size_t offset_;
};

/// The tensor as an input.
ConstTensor constant(const Tensor &tensor);
ConstImage constant(const Image &image);

}  // namespace cudatensor
