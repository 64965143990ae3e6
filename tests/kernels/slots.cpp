// SPDX-License-Identifier: LGPL-2.1-or-later
#include "slots.h"

#include <vector>

#include "oracle.h"

namespace cudatensor {

TensorDesc slot_desc(TensorDesc tensor) {
  if (tensor.layout == Layout::ncthw) tensor.clip = tensor.n;
  tensor.n = 1;
  return tensor;
}

Tensor slot_of(const Tensor &out, size_t slot) {
  const TensorDesc desc = slot_desc(out.desc);
  const size_t bytes = desc.bytes() / (desc.layout == Layout::ncthw ? desc.c : 1);
  return {desc, static_cast<uint8_t *>(out.data) + slot * bytes};
}

void fill_with_pad(NormalizeCase p, const Tensor &slot) {
  const auto width = static_cast<int>(p.out.w), height = static_cast<int>(p.out.h);
  const auto pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  const std::vector<uint8_t> pad(pixels, static_cast<uint8_t>(p.resize.pad_value));
  const std::vector<uint8_t> chroma(pixels, p.color == Color::yuv ? uint8_t{128} : pad[0]);
  const PixelFormat format = p.color == Color::yuv    ? PixelFormat::Y444
                             : p.color == Color::gray ? PixelFormat::GRAY8
                                                      : PixelFormat::RGBP;
  p.source.image = {format, width, height};
  p.resize.mode = ResizeMode::stretch;
  p.resize.method = Method::nearest;
  oracle::normalize(
      p, {p.source.image, {{pad.data(), width}, {chroma.data(), width}, {chroma.data(), width}}},
      slot);
}

}  // namespace cudatensor
