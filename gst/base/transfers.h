// SPDX-License-Identifier: LGPL-2.1-or-later
// The way of pictures and tensors from the host's memory to the device and back.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "kernels/image.h"
#include "kernels/pinnedring.h"
#include "kernels/tensor.h"

namespace cudatensor {

/// For frames whose work is queued in order.
class Transfers {
 public:
  explicit Transfers(Device &device) : device_(device), ring_(device) {}

  /// Queues a copy of a view in host memory and returns the copy's, which is valid until the next call.
  /// The host's memory must not change until the stream comes there if it is `pinned`; other memory may
  /// change at once. With `planes`, only so many of a picture's planes are copied: the others still
  /// point to host memory.
  ConstImage upload(const ConstImage &host, int planes, bool pinned, Stream stream);
  ConstTensor upload(const ConstTensor &host, int planes, bool pinned, Stream stream);

  /// A view of device memory for a result that download() copies to `host`.
  Image make_room(const Image &host);
  Tensor make_room(const Tensor &host);
  /// Queues the copy to the view that make_room() was given. With `pinned` memory it is complete when the
  /// stream comes there, otherwise after finish().
  void download(bool pinned, Stream stream);
  /// After the stream was waited for.
  void finish();

 private:
  /// A result on its way.
  template <class View>
  struct Result {
    View host, device;
    View pinned = {};  ///< that finish() copies to `host`
  };
  using AnyResult = std::variant<std::monostate, Result<Image>, Result<Tensor>>;

  template <class View, class Desc>
  View place(std::unique_ptr<Memory> &memory, const Desc &desc, int planes);
  template <class View, class ConstView>
  ConstView upload_view(const ConstView &host, int planes, bool pinned, Stream stream);
  template <class View>
  View make_room_for(const View &host);
  void queue_download(std::monostate &, bool, Stream) {}
  template <class View>
  void queue_download(Result<View> &result, bool pinned, Stream stream);

  Device &device_;
  PinnedRing ring_;
  std::unique_ptr<Memory> in_, out_;
  std::unique_ptr<Memory> pinned_out_;
  AnyResult result_;
  bool copies_result_ = false;  // in finish()
};

}  // namespace cudatensor
