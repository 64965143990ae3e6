// SPDX-License-Identifier: LGPL-2.1-or-later
// The way of pictures and tensors from the host's memory to the device and back.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/ops.h"
#include "kernels/pinnedring.h"

namespace cudatensor {

/// The rows of a view's planes, wherever they lie.
struct Planes {
  struct Plane {
    uint8_t *data;
    ptrdiff_t stride;
    size_t row;   ///< bytes
    size_t rows;  ///< 0 where there is no such plane
  };
  std::array<Plane, 3> plane;
};

Planes planes_of(const Image &image);
Planes planes_of(const ConstImage &image);
Planes planes_of(const Tensor &tensor);
Planes planes_of(const ConstTensor &tensor);

/// The view of other planes of the same shape.
Image with_planes(const Image &image, const Planes &planes);
ConstImage with_planes(const ConstImage &image, const Planes &planes);
Tensor with_planes(const Tensor &tensor, const Planes &planes);
ConstTensor with_planes(const ConstTensor &tensor, const Planes &planes);

/// For frames whose work is queued in order.
class Transfers {
 public:
  explicit Transfers(Device &device) : device_(device), ring_(device) {}

  /// Queues a copy of the host's planes to the device. Those that are `pinned` must stay as they are
  /// until the stream has come so far; others may change at once. The result is good until the next
  /// call.
  Planes upload(const Planes &host, bool pinned, Stream stream);

  /// Room on the device for a result that download() then brings to planes of that shape.
  Planes make_room(const Planes &host);
  /// Queues the copy; with `pinned` planes finish() need not be called.
  void download(const Planes &host, bool pinned, Stream stream);
  /// After the stream has been waited for.
  void finish();

 private:
  Planes place(std::unique_ptr<Memory> &memory, const Planes &shape);

  Device &device_;
  PinnedRing ring_;
  std::unique_ptr<Memory> in_, out_;
  std::unique_ptr<Memory> pinned_out_;
  Planes device_out_ = {};
  Planes host_out_ = {}, pinned_host_out_ = {};  // what finish() copies
};

}  // namespace cudatensor
