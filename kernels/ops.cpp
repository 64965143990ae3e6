// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/ops.h"

#include <cstdlib>
#include <type_traits>

#include "kernels/error.h"

namespace cudatensor {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::input, text); }

std::string text_of(const ImageDesc &d) {
  return std::string(name_of(d.format)) + " " + std::to_string(d.width) + "x" +
         std::to_string(d.height);
}

template <class Byte>
void check_image(const BasicImage<Byte> &image, const ImageDesc &expected) {
  const ImageDesc &d = image.desc;
  if (!(d == expected))
    refuse("expected a picture of " + text_of(expected) + ", got " + text_of(d));
  for (int p = 0; p < layout_of(d.format).planes; ++p) {
    const auto &plane = image.planes[p];
    if (plane.data == nullptr) refuse("a plane of a " + text_of(d) + " picture has no memory");
    if (std::abs(plane.stride) < static_cast<ptrdiff_t>(plane_size(d, p).row))
      refuse("a stride of " + std::to_string(plane.stride) + " bytes is shorter than a row of " +
             text_of(d));
  }
}

template <class Void>
void check_tensor(const BasicTensor<Void> &tensor, const TensorDesc &expected) {
  const TensorDesc &d = tensor.desc;
  if (!(d == expected)) refuse("the tensor's type or shape differs from the prepared one");
  if (tensor.data == nullptr) refuse("a tensor has no memory");
  if (reinterpret_cast<uintptr_t>(tensor.data) % size_of(d.dtype) != 0)
    throw Error(std::is_const_v<Void> ? Error::Code::frame : Error::Code::input,
                "a tensor's memory is not aligned to its elements");
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

namespace {

void check_slots(const std::vector<Slot> &slots) {
  const Slot *last = nullptr;
  for (const Slot &slot : slots) {
    if (slot.is_pad()) continue;
    const bool is_checked = last != nullptr && is_same_view(slot.image, last->image) &&
                            slot.source.image == last->source.image;
    if (!is_checked) check_view(slot.image, slot.source.image);
    last = &slot;
  }
}

}  // namespace

const std::vector<Geometry> &NormalizeOperation::run(const std::vector<Slot> &slots,
                                                     const Tensor &out, Stream stream) {
  if (static_cast<int64_t>(slots.size()) > out_.n)
    refuse(std::to_string(slots.size()) + " slots for a batch of " + std::to_string(out_.n));
  check_slots(slots);
  check_view(out, out_);
  try {
    execute(slots, out, stream);
  } catch (...) {
    plans_.forget();
    throw;
  }
  return plans_.geometries();
}

void DetectionOperation::run(const CandidatePlan &plan, const OutputData &data,
                             const std::vector<bool> &wanted, Stream stream) {
  if (!wanted.empty() && static_cast<int64_t>(wanted.size()) != plan.slots)
    refuse("there are " + std::to_string(plan.slots) + " slots, not " +
           std::to_string(wanted.size()));
  for (int i = 0; i < number_of_outputs(plan) && plan.rows > 0; ++i) {
    if (data.output[i] == nullptr) refuse("an output has no memory");
    if (reinterpret_cast<uintptr_t>(data.output[i]) % size_of(plan.types[i]) != 0)
      throw Error(Error::Code::frame, "an output's memory is not aligned to its elements");
  }
  execute(plan, data, wanted, stream);
}

}  // namespace cudatensor
