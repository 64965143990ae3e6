// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/device/transfers.h"

#include <cstring>

namespace cudatensor {
namespace {

constexpr size_t kPlaneAlignment = 256;  // on the device
constexpr size_t kRowAlignment = 16;

constexpr size_t round_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

int planes_of(const ImageDesc &image) { return layout_of(image.format).planes; }
int planes_of(const TensorDesc &) { return 1; }

/// Returns the size of a tensor as a plane: of one row if it is dense, otherwise of one row for each
/// channel.
PlaneSize plane_size(const TensorDesc &tensor, int) {
  if (tensor.is_dense()) return {tensor.bytes(), 1};
  return {tensor.bytes() / static_cast<size_t>(tensor.c), static_cast<size_t>(tensor.c)};
}

ptrdiff_t stride_of(const TensorDesc &tensor) {
  if (tensor.is_dense()) return static_cast<ptrdiff_t>(tensor.bytes());
  return static_cast<ptrdiff_t>(tensor.channel_step()) *
         static_cast<ptrdiff_t>(size_of(tensor.dtype));
}

template <class Byte>
Rows<Byte> rows_of(const BasicImage<Byte> &image, int plane) {
  return {image.planes[plane].data, image.planes[plane].stride};
}
Rows<uint8_t> rows_of(const Tensor &tensor, int) {
  return {static_cast<uint8_t *>(tensor.data), stride_of(tensor.desc)};
}
Rows<const uint8_t> rows_of(const ConstTensor &tensor, int) {
  return {static_cast<const uint8_t *>(tensor.data), stride_of(tensor.desc)};
}

void set_plane(Image &image, int plane, uint8_t *data, ptrdiff_t stride) {
  image.planes[plane] = {data, stride};
}
void set_plane(Tensor &tensor, int, uint8_t *data, ptrdiff_t) { tensor.data = data; }

ConstImage constant(const Image &image, const ConstImage &others) {
  ConstImage result = others;
  for (int p = 0; p < 3; ++p)
    if (image.planes[p].data != nullptr)
      result.planes[p] = {image.planes[p].data, image.planes[p].stride};
  return result;
}
ConstTensor constant(const Tensor &tensor, const ConstTensor &) {
  return {tensor.desc, tensor.data};
}

ptrdiff_t packed_stride(const PlaneSize &size) {
  return static_cast<ptrdiff_t>(size.rows == 1 ? size.row : round_up(size.row, kRowAlignment));
}

/// Returns whether the last row of a plane comes first in memory. CUDA's copies accept no negative
/// stride.
template <class View>
bool is_upside_down(const View &view, int planes) {
  for (int p = 0; p < planes; ++p)
    if (rows_of(view, p).stride < 0) return true;
  return false;
}

/// Returns the size of the block that holds the planes.
template <class Desc>
size_t packed_bytes(const Desc &desc, int planes) {
  size_t bytes = 0;
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = plane_size(desc, p);
    bytes += round_up(packed_stride(size) * size.rows, kPlaneAlignment);
  }
  return bytes;
}

/// Returns a view of planes that lie one after the other in a block.
template <class View, class Desc>
View packed_view(const Desc &desc, int planes, uint8_t *block) {
  View view = {};
  view.desc = desc;
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = plane_size(desc, p);
    set_plane(view, p, block, packed_stride(size));
    block += round_up(packed_stride(size) * size.rows, kPlaneAlignment);
  }
  return view;
}

template <class View, class From>
void queue_copy(Device &device, const View &to, const From &from, int planes, Stream stream) {
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = plane_size(to.desc, p);
    const auto source = rows_of(from, p);
    device.copy(rows_of(to, p), {source.data, source.stride}, size.row, size.rows, stream);
  }
}

template <class View, class From>
void copy_on_host(const View &to, const From &from, int planes) {
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = plane_size(to.desc, p);
    const auto target = rows_of(to, p);
    const auto source = rows_of(from, p);
    for (ptrdiff_t y = 0; y < static_cast<ptrdiff_t>(size.rows); ++y)
      std::memcpy(target.data + target.stride * y, source.data + source.stride * y, size.row);
  }
}

}  // namespace

void copy_tensor(Device &device, const Tensor &to, const ConstTensor &from, Stream stream) {
  queue_copy(device, to, from, 1, stream);
}
void copy_tensor(const Tensor &to, const ConstTensor &from) { copy_on_host(to, from, 1); }

template <class View, class Desc>
View Transfers::place(std::unique_ptr<Memory> &memory, const Desc &desc, int planes) {
  const size_t bytes = packed_bytes(desc, planes);
  if (memory == nullptr || memory->size() < bytes) {
    memory.reset();
    memory = device_.allocate(bytes);
  }
  return packed_view<View>(desc, planes, memory->data());
}

template <class View, class ConstView>
ConstView Transfers::upload_view(const ConstView &host, int planes, bool pinned, Stream stream) {
  const auto target = place<View>(in_, host.desc, planes);
  if (pinned && !is_upside_down(host, planes)) {
    queue_copy(device_, target, host, planes, stream);
  } else {
    const View block =
        packed_view<View>(host.desc, planes, ring_.take(packed_bytes(host.desc, planes)));
    copy_on_host(block, host, planes);
    queue_copy(device_, target, block, planes, stream);
    ring_.in_use_until(stream);
  }
  return constant(target, host);
}

ConstImage Transfers::upload(const ConstImage &host, int planes, bool pinned, Stream stream) {
  return upload_view<Image>(host, planes, pinned, stream);
}
ConstTensor Transfers::upload(const ConstTensor &host, int planes, bool pinned, Stream stream) {
  return upload_view<Tensor>(host, planes, pinned, stream);
}

/// Copies row by row, because CUDA's 2D copies accept no negative stride.
ConstImage Transfers::straighten(const ConstImage &device, int planes, Stream stream) {
  if (!is_upside_down(device, planes)) return device;
  const auto target = place<Image>(in_, device.desc, planes);
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = plane_size(device.desc, p);
    const auto to = rows_of(target, p);
    const auto from = rows_of(device, p);
    for (ptrdiff_t y = 0; y < static_cast<ptrdiff_t>(size.rows); ++y)
      device_.copy({to.data + to.stride * y, to.stride}, {from.data + from.stride * y, to.stride},
                   size.row, 1, stream);
  }
  return constant(target, device);
}

template <class View>
View Transfers::make_room_for(const View &host) {
  const auto device = place<View>(out_, host.desc, planes_of(host.desc));
  result_ = Result<View>{host, device};
  return device;
}

Image Transfers::make_room(const Image &host) { return make_room_for(host); }
Tensor Transfers::make_room(const Tensor &host) { return make_room_for(host); }

template <class View>
void Transfers::queue_download(Result<View> &result, bool pinned, Stream stream) {
  const int planes = planes_of(result.host.desc);
  const bool direct = pinned && !is_upside_down(result.host, planes);
  copies_result_ = !direct;
  if (!direct) {
    const size_t bytes = packed_bytes(result.host.desc, planes);
    if (pinned_out_ == nullptr || pinned_out_->size() < bytes) {
      pinned_out_.reset();
      pinned_out_ = device_.allocate_pinned(bytes);
    }
    result.pinned = packed_view<View>(result.host.desc, planes, pinned_out_->data());
  }
  queue_copy(device_, direct ? result.host : result.pinned, result.device, planes, stream);
}

void Transfers::download(bool pinned, Stream stream) {
  std::visit([&](auto &result) { queue_download(result, pinned, stream); }, result_);
}

namespace {

void copy_result(std::monostate) {}
template <class Result>
void copy_result(const Result &result) {
  copy_on_host(result.host, result.pinned, planes_of(result.host.desc));
}

}  // namespace

void Transfers::finish() {
  if (copies_result_) std::visit([](const auto &result) { copy_result(result); }, result_);
  copies_result_ = false;
}

}  // namespace cudatensor
