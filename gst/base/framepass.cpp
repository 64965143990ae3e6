// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framepass.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Throws Error if the session cannot read the surfaces. Device memory of the CUDA runtime is only
/// accessible in its device's primary context.
void check_reader(const nvmm::SurfaceMap &surfaces, const DeviceSession *session) {
  surfaces.check_readable(session == nullptr);
  if (session == nullptr || session->reads_memory_of(surfaces.gpu())) return;
  throw Error(Error::Code::settings, "the surfaces are on GPU " + std::to_string(surfaces.gpu()) +
                                         ", but the element works on another GPU: put all its "
                                         "inputs on the same GPU");
}

}  // namespace

FramePass::Input FramePass::place(GstBuffer *buffer) const {
  if (device_ == nullptr) return {buffer, {false, nullptr}, false};
  return {buffer, device_->place_of(buffer), false};
}

size_t FramePass::add(const Input &input) {
  if (inputs_ == 0)
    first_ = input;
  else
    more_.push_back(input);
  return inputs_++;
}

size_t FramePass::add_input(const InputCaps &caps, GstBuffer *buffer) {
  if (!caps.in_nvmm) return add(place(buffer));
  check_reader(nvmm::SurfaceMap(buffer), device_);
  return add({buffer, {false, nullptr}, true});
}

size_t FramePass::add_input(const TensorDesc &, GstBuffer *buffer) { return add(place(buffer)); }

void FramePass::set_output(GstBuffer *buffer, size_t number) {
  output_ = place(buffer);
  output_number_ = number;
}

void FramePass::begin() {
  if (device_ == nullptr) return;
  SharedStream *stream = output_ ? output_->place.stream : nullptr;
  if (stream == nullptr && inputs_ == 1) stream = first_.place.stream;
  if (stream == nullptr) stream = device_->stream();
  device_->use(stream);
  stream_ = device_->handle_of(stream);
}

GstMapFlags FramePass::map_flags(const Input &buffer, GstMapFlags access) const {
  return buffer.place.on_device ? device_->device_map_flags(access) : access;
}
GstMapFlags FramePass::input_flags(size_t input) const {
  return map_flags(input_of(input), GST_MAP_READ);
}
GstMapFlags FramePass::output_flags() const { return map_flags(*output_, GST_MAP_WRITE); }

template <class View>
View FramePass::read(size_t input, const View &mapped, int planes) {
  if (device_ == nullptr) return mapped;
  const Input &in = input_of(input);
  if (in.in_nvmm) return mapped;
  if (!in.place.on_device)
    return device_->transfers(input).upload(mapped, planes, device_->is_pinned(in.buffer), stream_);
  // Ordered after the map, because it may have queued an upload of the library.
  if (in.place.stream != nullptr) device_->order(device_->handle_of(in.place.stream), stream_);
  return device_->transfers(input).straighten(mapped, planes, stream_);
}

template ConstImage FramePass::read(size_t, const ConstImage &, int);
template ConstTensor FramePass::read(size_t, const ConstTensor &, int);

/// Reads one plane of YUV: the first plane of every YUV format holds luminance.
ConstImage FramePass::luminance(size_t input, const ConstImage &mapped) {
  const FormatLayout layout = layout_of(mapped.desc.format);
  return read(input, mapped, layout.model == ColorModel::yuv ? 1 : layout.planes);
}

template <class View>
View FramePass::write(const View &mapped) {
  if (!is_output_staged()) return mapped;
  return device_->transfers(output_number_).make_room(mapped);
}

template Image FramePass::write(const Image &);
template Tensor FramePass::write(const Tensor &);

void FramePass::copy(const Tensor &to, const ConstTensor &from) {
  if (device_ == nullptr) return copy_tensor(to, from);
  copy_tensor(device_->device(), to, from, stream_);
}

bool FramePass::is_read_later(size_t input) const {
  if (device_ == nullptr) return false;
  const Input &in = input_of(input);
  const bool copied = !in.place.on_device && !in.in_nvmm && !device_->is_pinned(in.buffer);
  return in.place.stream == nullptr && !copied;
}

bool FramePass::has_surfaces() const {
  for (size_t i = 0; i < inputs_; ++i)
    if (input_of(i).in_nvmm) return true;
  return false;
}

void FramePass::finish_output() {
  Transfers &transfers = device_->transfers(output_number_);
  const bool downloads = is_output_staged();
  if (downloads) transfers.download(device_->is_pinned(output_->buffer), stream_);
  if (completes_later()) return;
  device_->device().synchronize(stream_);
  if (downloads) transfers.finish();
}

/// Makes later writes to the inputs wait for the work.
void FramePass::order_inputs() {
  for (size_t i = 0; i < inputs_; ++i)
    if (SharedStream *stream = input_of(i).place.stream)
      device_->order(stream_, device_->handle_of(stream));
}

void FramePass::finish() {
  if (device_ == nullptr) return;
  order_inputs();
  if (!output_) return;
  finish_output();
  if (completes_later()) keep_inputs();
}

void FramePass::finish_part() {
  if (device_ == nullptr) return;
  order_inputs();
  keep_inputs();
}

void FramePass::keep_inputs() {
  // Pools of surfaces are small and do not grow: upstream may wait for the surfaces of earlier
  // passes.
  if (has_surfaces()) device_->drain();
  for (size_t i = 0; i < inputs_; ++i)
    if (is_read_later(i)) device_->keep(input_of(i).buffer, stream_);
}

}  // namespace cudatensor
