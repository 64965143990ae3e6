// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies of pictures and tensors from host memory to the device and back.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "kernels/image.h"
#include "kernels/pinnedring.h"
#include "kernels/tensor.h"

namespace cudatensor {

/// Queues a copy of a tensor, or of a part of one, in the device's memory.
void copy_tensor(Device &device, const Tensor &to, const ConstTensor &from, Stream stream);
/// Does the same in host memory, at once.
void copy_tensor(const Tensor &to, const ConstTensor &from);

/// The copies of an input and an output. Frames must be queued in order.
class Transfers {
 public:
  explicit Transfers(Device &device) : device_(device), ring_(device) {}

  /// Queues a copy of a view in host memory and returns the view of the copy, which is valid until
  /// the next call. If the host memory is `pinned`, it must not change until the copy is complete;
  /// otherwise it may change at once. Only the first `planes` planes of a picture are copied; the
  /// others still point to host memory.
  ConstImage upload(const ConstImage &host, int planes, bool pinned, Stream stream);
  ConstTensor upload(const ConstTensor &host, int planes, bool pinned, Stream stream);
  /// Queues a copy of a picture in device memory if the stride of one of its first `planes` planes
  /// is negative, which no kernel reads, and returns the view of the copy. Returns other views
  /// unchanged.
  ConstImage straighten(const ConstImage &device, int planes, Stream stream);
  ConstTensor straighten(const ConstTensor &device, int, Stream) { return device; }

  /// Returns a view of device memory for a result that download() copies to `host`.
  Image make_room(const Image &host);
  Tensor make_room(const Tensor &host);
  /// Queues the copy to the view passed to make_room(). With `pinned` memory, the copy is complete
  /// when the stream has executed it, otherwise after finish().
  void download(bool pinned, Stream stream);
  /// Completes the download. Called after waiting for the stream.
  void finish();

 private:
  /// A result that is being downloaded.
  template <class View>
  struct Result {
    View host, device;
    View pinned = {};  ///< finish() copies it to `host`
  };
  using AnyResult = std::variant<std::monostate, Result<Image>, Result<Tensor>>;

  template <class View, class Desc>
  View place(std::unique_ptr<Memory> &memory, const Desc &desc, int planes);
  template <class View, class ConstView>
  ConstView upload_view(const ConstView &host, int planes, bool pinned, Stream stream);
  template <class View>
  View make_room_for(const View &host);
  void queue_download(std::monostate &, bool, Stream) { copies_result_ = false; }
  template <class View>
  void queue_download(Result<View> &result, bool pinned, Stream stream);

  Device &device_;
  PinnedRing ring_;
  std::unique_ptr<Memory> in_, out_;
  std::unique_ptr<Memory> pinned_out_;
  AnyResult result_;
  bool copies_result_ = false;  // whether finish() copies a result
};

}  // namespace cudatensor
