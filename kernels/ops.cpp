// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/ops.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::input, text); }

std::string text_of(const ImageDesc &d) {
  return std::string(name_of(d.format)) + " " + std::to_string(d.width) + "x" +
         std::to_string(d.height);
}

/// Bytes from the first to behind the last sample of a component's row.
ptrdiff_t row_bytes(const FormatLayout &layout, int c, int width) {
  const Component &component = layout.component[c];
  return static_cast<ptrdiff_t>(component_length(layout.subsampled, c, width)) * component.step;
}

template <class Byte>
void check_image(const BasicImage<Byte> &image, const ImageDesc &expected) {
  const ImageDesc &d = image.desc;
  if (!(d == expected))
    refuse("a picture is " + text_of(d) + ", prepared was " + text_of(expected));
  const FormatLayout layout = layout_of(d.format);
  for (int c = 0; c < layout.components; ++c) {
    const auto &plane = image.planes[layout.component[c].plane];
    if (plane.data == nullptr) refuse("a plane of a " + text_of(d) + " picture has no memory");
    if (plane.stride < row_bytes(layout, c, d.width))
      refuse("a stride of " + std::to_string(plane.stride) + " bytes is shorter than a row of " +
             text_of(d));
  }
}

template <class Void>
void check_tensor(const BasicTensor<Void> &tensor, const TensorDesc &expected) {
  const TensorDesc &d = tensor.desc;
  if (!(d == expected)) refuse("a tensor is not of the type and shape that was prepared");
  if (tensor.data == nullptr) refuse("a tensor has no memory");
  if (reinterpret_cast<uintptr_t>(tensor.data) % size_of(d.dtype) != 0)
    refuse("a tensor's memory is not aligned to its elements");
}

}  // namespace

void check_view(const ConstImage &image, const ImageDesc &expected) {
  check_image(image, expected);
}
void check_view(const Image &image, const ImageDesc &expected) { check_image(image, expected); }
void check_view(const ConstTensor &tensor, const TensorDesc &expected) {
  check_tensor(tensor, expected);
}
void check_view(const Tensor &tensor, const TensorDesc &expected) {
  check_tensor(tensor, expected);
}

void ImagesToTensor::run(const std::vector<ConstImage> &in, const Tensor &out, Stream stream) {
  if (in.size() != in_.size())
    refuse(std::to_string(in.size()) + " pictures for a batch of " + std::to_string(in_.size()));
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].planes[0].data != nullptr) check_view(in[i], in_[i]);
  check_view(out, out_);
  execute(in, out, stream);
}

void RegionsToTensor::run(const ConstImage &in, const std::vector<Region> &regions,
                          const Tensor &out, Stream stream) {
  if (static_cast<int64_t>(regions.size()) > out_.n)
    refuse(std::to_string(regions.size()) + " regions for a batch of " + std::to_string(out_.n));
  check_view(in, in_);
  check_view(out, out_);
  execute(in, regions, out, stream);
}

}  // namespace cudatensor
