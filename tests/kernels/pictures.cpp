// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "oracle.h"

namespace cudatensor {

namespace {

template <class Holds>
std::vector<PixelFormat> formats_that(const Holds &holds) {
  std::vector<PixelFormat> formats;
  for (const PixelFormat format : all_formats())
    if (holds(oracle::format_of(format))) formats.push_back(format);
  return formats;
}

}  // namespace

const std::vector<PixelFormat> kAllFormats =
    formats_that([](const oracle::Format &) { return true; });
const std::vector<PixelFormat> kPackedFormats = formats_that(
    [](const oracle::Format &format) { return format.is_rgb() && format.planes.size() == 1; });
const std::vector<PixelFormat> kYuvFormats =
    formats_that([](const oracle::Format &format) { return format.is_yuv() && format.bits == 8; });
const std::vector<PixelFormat> kDeepFormats =
    formats_that([](const oracle::Format &format) { return format.bits > 8; });
const std::vector<PixelFormat> kSourceFormats = kAllFormats;
const std::vector<PixelFormat> kLetterboxFormats = {
    PixelFormat::BGR,  PixelFormat::RGB,  PixelFormat::BGRx, PixelFormat::RGBx, PixelFormat::BGRA,
    PixelFormat::RGBA, PixelFormat::xBGR, PixelFormat::xRGB, PixelFormat::ABGR, PixelFormat::ARGB,
    PixelFormat::RGBP, PixelFormat::BGRP, PixelFormat::GRAY8};

const std::vector<Content> kAllContents = {Content::random,    Content::zeros, Content::maximum,
                                           Content::checkered, Content::rows,  Content::ramp};

namespace {

void fill_random(Random &random, uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t bits = random.bits();
    std::memcpy(data + i, &bits, std::min<size_t>(8, size - i));
  }
}

uint8_t byte_of(Content content, size_t x, int y) {
  switch (content) {
    case Content::random:
    case Content::zeros: return 0;
    case Content::maximum: return 255;
    case Content::checkered: return (x + static_cast<size_t>(y)) % 2 != 0 ? 255 : 0;
    case Content::rows: return y % 2 != 0 ? 255 : 0;
    case Content::ramp: return static_cast<uint8_t>(x + 3 * static_cast<size_t>(y));
  }
  return 0;
}

/// Bytes of a guard band at least. Vectors have this alignment.
constexpr size_t kGuard = 64;

/// Returns a stride: rows without gaps, at a multiple of 64 bytes, or at any distance.
ptrdiff_t random_stride(Random &random, size_t row_bytes) {
  const auto bytes = static_cast<ptrdiff_t>(row_bytes);
  switch (random.integer(0, 2)) {
    case 0: return bytes;
    case 1: return (bytes + 63) / 64 * 64;
    default: return bytes + random.integer(1, 37);
  }
}

ptrdiff_t stride_of(const Lay &lay, size_t row_bytes) {
  return static_cast<ptrdiff_t>((row_bytes + lay.unit - 1) / lay.unit * lay.unit) + lay.gap;
}

size_t span_of(const oracle::PlaneSize &size, ptrdiff_t stride) {
  return static_cast<size_t>(stride) * (size.rows - 1) + size.row_bytes;
}

/// Returns a multiple of `unit`.
size_t random_offset(Random &random, size_t unit) {
  return random.chance(50) ? 0 : unit * static_cast<size_t>(random.integer(1, 33));
}

size_t unit_of(DType type) {
  if (type == DType::float32) return 4;
  return type == DType::float16 || type == DType::bfloat16 ? 2 : 1;
}

size_t bytes_of(const TensorDesc &d) {
  return static_cast<size_t>(d.n * d.c * d.h * d.w) * unit_of(d.dtype);
}

}  // namespace

Lays random_lays(Random &random) {
  Lays lays = {};
  for (Lay &lay : lays) {
    if (random.chance(50)) lay.offset = static_cast<size_t>(random.integer(1, 17));
    lay.unit = random.pick<size_t>({1, 2, 4, 16, 64});
    if (random.chance(30)) lay.gap = random.integer(1, 5);
  }
  return lays;
}

// ---------------------------------------------------------------------------------------- input

InputPicture::InputPicture(Random &random, const ImageDesc &desc, Content content) : desc_(desc) {
  const size_t planes = oracle::format_of(desc.format).planes.size();
  for (size_t plane = 0; plane < planes; ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc, static_cast<int>(plane));
    const ptrdiff_t stride = random_stride(random, size.row_bytes);
    add_plane(random, Block::Edge::any, random_offset(random, 1), stride, content);
  }
}

InputPicture::InputPicture(Random &random, const ImageDesc &desc, const Lays &lays, Content content)
    : desc_(desc) {
  const size_t planes = oracle::format_of(desc.format).planes.size();
  for (size_t plane = 0; plane < planes; ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc, static_cast<int>(plane));
    add_plane(random, Block::Edge::begin, lays[plane].offset,
              stride_of(lays[plane], size.row_bytes), content);
  }
}

void InputPicture::add_plane(Random &random, Block::Edge edge, size_t offset, ptrdiff_t stride,
                             Content content) {
  const oracle::PlaneSize size = oracle::plane_size(desc_, static_cast<int>(blocks_.size()));
  const size_t bytes = offset + span_of(size, stride);
  Block block(random, bytes, edge);
  fill_random(random, block.data(), bytes);
  for (int y = 0; y < size.rows && content != Content::random; ++y)
    for (size_t x = 0; x < size.row_bytes; ++x)
      block.data()[offset + static_cast<size_t>(stride) * y + x] = byte_of(content, x, y);
  block.poison(0, offset);
  for (int y = 1; y < size.rows; ++y) {
    const size_t end = offset + static_cast<size_t>(stride) * (y - 1) + size.row_bytes;
    block.poison(end, static_cast<size_t>(stride) - size.row_bytes);
  }
  blocks_.push_back(std::move(block));
  offsets_.push_back(offset);
  strides_.push_back(stride);
}

ConstImage InputPicture::view(const Bases &bases) const {
  ConstImage image = {desc_, {}};
  for (size_t plane = 0; plane < blocks_.size(); ++plane)
    image.planes[plane] = {bases[plane] + offsets_[plane], strides_[plane]};
  return image;
}

std::vector<Span> InputPicture::spans() const {
  std::vector<Span> spans;
  for (const Block &block : blocks_) spans.push_back({block.data(), block.size()});
  return spans;
}

void InputPicture::assign(const ConstImage &image) {
  for (size_t plane = 0; plane < blocks_.size(); ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc_, static_cast<int>(plane));
    for (int y = 0; y < size.rows; ++y)
      std::memcpy(blocks_[plane].data() + offsets_[plane] + strides_[plane] * y,
                  image.planes[plane].data + image.planes[plane].stride * y, size.row_bytes);
  }
}

void InputPicture::fill(uint8_t value) {
  for (size_t plane = 0; plane < blocks_.size(); ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc_, static_cast<int>(plane));
    for (int y = 0; y < size.rows; ++y)
      std::fill_n(blocks_[plane].data() + offsets_[plane] + strides_[plane] * y, size.row_bytes,
                  value);
  }
}

InputTensor::InputTensor(Random &random, const TensorDesc &desc)
    : InputTensor(random, desc, Block::Edge::any, random_offset(random, unit_of(desc.dtype))) {}

InputTensor::InputTensor(Random &random, const TensorDesc &desc, size_t offset)
    : InputTensor(random, desc, Block::Edge::begin, offset) {}

InputTensor::InputTensor(Random &random, const TensorDesc &desc, Block::Edge edge, size_t offset)
    : desc_(desc), offset_(offset) {
  const size_t bytes = offset_ + bytes_of(desc);
  block_ = Block(random, bytes, edge);
  fill_with_noise(random);
  const bool floating = (desc.dtype == DType::float32 || desc.dtype == DType::float16) &&
                        desc.elements() <= (int64_t{1} << 26);
  for (size_t i = 0; floating && i < bytes_of(desc) / unit_of(desc.dtype); ++i)
    store(i, static_cast<float>(random.real(-0.5, 1.5)));
}

void InputTensor::fill_with_noise(Random &random) {
  fill_random(random, block_.data(), block_.size());
}

void InputTensor::sprinkle(Random &random) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {std::nanf(""), -std::nanf(""), infinity, -infinity, 1e30f,
                                      -1e30f,        0.0f,           -0.0f,    0.5f,      127.5f,
                                      254.5f,        255.5f,         65504.0f, 1e-30f,    1.0f};
  const size_t count = bytes_of(desc_) / unit_of(desc_.dtype);
  for (size_t i = 0; i < count; i += static_cast<size_t>(random.integer(1, 9)))
    store(i, random.pick(special));
}

void InputTensor::store(size_t i, float value) {
  uint8_t *const data = block_.data() + offset_;
  if (desc_.dtype == DType::float32) std::memcpy(data + 4 * i, &value, 4);
  if (desc_.dtype != DType::float16) return;
  const uint16_t bits = oracle::half_from(value);
  std::memcpy(data + 2 * i, &bits, 2);
}

// --------------------------------------------------------------------------------------- output

void Guarded::allocate(Random &random, size_t size) {
  pattern_.resize(size);
  fill_random(random, pattern_.data(), size);
  actual_ = expected_ = pattern_;
}

size_t Guarded::gap(Random &random) { return kGuard + random_offset(random, 1); }

size_t Guarded::first_difference() const {
  const auto difference = std::mismatch(actual_.begin(), actual_.end(), expected_.begin());
  return static_cast<size_t>(difference.first - actual_.begin());
}

std::string Guarded::difference_at(size_t offset) const {
  return "is " + std::to_string(actual_[offset]) + ", not " + std::to_string(expected_[offset]) +
         ", and was " + std::to_string(pattern_[offset]);
}

OutputPicture::OutputPicture(Random &random, const ImageDesc &desc) : desc_(desc) {
  size_t bytes = gap(random);
  const size_t planes = oracle::format_of(desc.format).planes.size();
  for (size_t plane = 0; plane < planes; ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc, static_cast<int>(plane));
    offsets_.push_back(bytes);
    strides_.push_back(random_stride(random, size.row_bytes));
    bytes += span_of(size, strides_.back()) + gap(random);
  }
  allocate(random, bytes);
}

OutputPicture::OutputPicture(Random &random, const ImageDesc &desc, const Lays &lays)
    : desc_(desc) {
  size_t bytes = 0;
  const size_t planes = oracle::format_of(desc.format).planes.size();
  for (size_t plane = 0; plane < planes; ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc, static_cast<int>(plane));
    offsets_.push_back((bytes + 2 * kGuard - 1) / kGuard * kGuard + lays[plane].offset);
    strides_.push_back(stride_of(lays[plane], size.row_bytes));
    bytes = offsets_.back() + span_of(size, strides_.back());
  }
  allocate(random, bytes + gap(random));
}

Image OutputPicture::view(uint8_t *base) const {
  Image image = {desc_, {}};
  for (size_t plane = 0; plane < offsets_.size(); ++plane)
    image.planes[plane] = {base + offsets_[plane], strides_[plane]};
  return image;
}

std::string OutputPicture::place_of(size_t offset) const {
  for (size_t plane = 0; plane < offsets_.size(); ++plane) {
    const oracle::PlaneSize size = oracle::plane_size(desc_, static_cast<int>(plane));
    const auto stride = static_cast<size_t>(strides_[plane]);
    if (offset < offsets_[plane] || offset >= offsets_[plane] + span_of(size, strides_[plane]))
      continue;
    const size_t y = (offset - offsets_[plane]) / stride, x = (offset - offsets_[plane]) % stride;
    return std::string(x < size.row_bytes ? "byte " : "the gap, byte ") + std::to_string(x) +
           " of row " + std::to_string(y) + " of plane " + std::to_string(plane);
  }
  return "a guard band, at " + std::to_string(offset);
}

testing::AssertionResult OutputPicture::matches() const {
  const size_t offset = first_difference();
  if (offset == size()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << place_of(offset) << " " << difference_at(offset);
}

OutputTensor::OutputTensor(Random &random, const TensorDesc &desc)
    : OutputTensor(random, desc, random_offset(random, unit_of(desc.dtype))) {}

OutputTensor::OutputTensor(Random &random, const TensorDesc &desc, size_t offset)
    : desc_(desc), offset_(kGuard + offset) {
  allocate(random, offset_ + bytes_of(desc) + gap(random));
}

testing::AssertionResult OutputTensor::matches() const {
  const size_t offset = first_difference();
  if (offset == size()) return testing::AssertionSuccess();
  const size_t bytes = bytes_of(desc_), unit = unit_of(desc_.dtype);
  testing::AssertionResult result = testing::AssertionFailure();
  if (offset < offset_ || offset >= offset_ + bytes)
    return result << "a guard band, at " << offset << " " << difference_at(offset);
  const size_t i = (offset - offset_) / unit;
  result << "element " << i << " of " << bytes / unit << ": byte " << (offset - offset_) % unit
         << " " << difference_at(offset);
  const auto value = [&](uint8_t *base) {
    return oracle::element(constant(view(base)), static_cast<int64_t>(i));
  };
  return result << " (" << value(const_cast<uint8_t *>(actual_.data())) << ", not "
                << value(const_cast<uint8_t *>(expected_.data())) << ")";
}

ConstImage constant(const Image &image) {
  ConstImage result = {image.desc, {}};
  for (size_t plane = 0; plane < 3; ++plane)
    result.planes[plane] = {image.planes[plane].data, image.planes[plane].stride};
  return result;
}

}  // namespace cudatensor
