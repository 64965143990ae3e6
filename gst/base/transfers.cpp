// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/transfers.h"

#include <cstring>
#include <utility>

namespace cudatensor {
namespace {

constexpr size_t kAlign = 256;  // of planes on the device

constexpr size_t round_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

template <class ImageType>
Planes planes_of_image(const ImageType &image) {
  const FormatLayout layout = layout_of(image.desc.format);
  Planes planes = {};
  for (int c = 0; c < layout.components; ++c) {
    const Component &component = layout.component[c];
    auto &plane = planes.plane[component.plane];
    plane.data = const_cast<uint8_t *>(image.planes[component.plane].data);
    plane.stride = image.planes[component.plane].stride;
    plane.row = static_cast<size_t>(component_length(layout.subsampled, c, image.desc.width)) *
                component.step;
    plane.rows = component_length(layout.subsampled, c, image.desc.height);
  }
  return planes;
}

Planes planes_of_tensor(const TensorDesc &desc, const void *data) {
  const size_t bytes = desc.bytes();
  Planes planes = {};
  planes.plane[0] = {static_cast<uint8_t *>(const_cast<void *>(data)),
                     static_cast<ptrdiff_t>(bytes), bytes, 1};
  return planes;
}

template <class ImageType>
ImageType image_with_planes(ImageType image, const Planes &planes) {
  for (size_t i = 0; i < planes.plane.size(); ++i)
    image.planes[i] = {planes.plane[i].data, planes.plane[i].stride};
  return image;
}

/// The shape, packed into one block: bytes, and each plane's offset as its data.
struct Packed {
  Planes planes;
  size_t size;
};

Packed packed(const Planes &shape, uint8_t *base) {
  Packed result = {shape, 0};
  for (auto &plane : result.planes.plane) {
    if (plane.rows == 0) continue;
    plane.stride = static_cast<ptrdiff_t>(plane.rows == 1 ? plane.row : round_up(plane.row, 16));
    plane.data = base + result.size;
    result.size += round_up(plane.stride * plane.rows, kAlign);
  }
  return result;
}

size_t packed_size(const Planes &shape) { return packed(shape, nullptr).size; }

void copy_on_host(const Planes &to, const Planes &from) {
  for (size_t i = 0; i < to.plane.size(); ++i)
    for (size_t y = 0; y < to.plane[i].rows; ++y)
      memcpy(to.plane[i].data + to.plane[i].stride * y,
             from.plane[i].data + from.plane[i].stride * y, to.plane[i].row);
}

void queue_copy(Device &device, const Planes &to, const Planes &from, Stream stream) {
  for (size_t i = 0; i < to.plane.size(); ++i)
    if (to.plane[i].rows > 0)
      device.copy({to.plane[i].data, to.plane[i].stride},
                  {from.plane[i].data, from.plane[i].stride}, to.plane[i].row, to.plane[i].rows,
                  stream);
}

}  // namespace

Planes planes_of(const Image &image) { return planes_of_image(image); }
Planes planes_of(const ConstImage &image) { return planes_of_image(image); }
Planes planes_of(const Tensor &t) { return planes_of_tensor(t.desc, t.data); }
Planes planes_of(const ConstTensor &t) { return planes_of_tensor(t.desc, t.data); }

Image with_planes(const Image &image, const Planes &p) { return image_with_planes(image, p); }
ConstImage with_planes(const ConstImage &image, const Planes &p) {
  return image_with_planes(image, p);
}
Tensor with_planes(const Tensor &t, const Planes &p) { return {t.desc, p.plane[0].data}; }
ConstTensor with_planes(const ConstTensor &t, const Planes &p) { return {t.desc, p.plane[0].data}; }

Planes Transfers::place(std::unique_ptr<Memory> &memory, const Planes &shape) {
  const size_t size = packed_size(shape);
  if (memory == nullptr || memory->size() < size) {
    memory.reset();
    memory = device_.allocate(size);
  }
  return packed(shape, memory->data()).planes;
}

Planes Transfers::upload(const Planes &host, bool pinned, Stream stream) {
  const Planes target = place(in_, host);
  if (pinned) {
    queue_copy(device_, target, host, stream);
    return target;
  }
  const Planes block = packed(host, ring_.take(packed_size(host))).planes;
  copy_on_host(block, host);
  queue_copy(device_, target, block, stream);
  ring_.done_after(stream);
  return target;
}

Planes Transfers::make_room(const Planes &host) {
  device_out_ = place(out_, host);
  return device_out_;
}

void Transfers::download(const Planes &host, bool pinned, Stream stream) {
  Planes target = host;
  host_out_ = {};
  if (!pinned) {
    const size_t size = packed_size(host);
    if (pinned_out_ == nullptr || pinned_out_->size() < size) {
      pinned_out_.reset();
      pinned_out_ = device_.allocate_pinned(size);
    }
    target = packed(host, pinned_out_->data()).planes;
    host_out_ = host;
    pinned_host_out_ = target;
  }
  queue_copy(device_, target, device_out_, stream);
}

void Transfers::finish() {
  copy_on_host(host_out_, pinned_host_out_);
  host_out_ = {};
}

}  // namespace cudatensor
