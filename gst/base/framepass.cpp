// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framepass.h"

#include "gst/cuda/cudamemory.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

GstMapFlags map_flags(const gstcuda::Memory *memory, GstMapFlags access) {
  return memory != nullptr ? static_cast<GstMapFlags>(access | gstcuda::kMapCuda) : access;
}

/// Returns the buffer's GstCudaMemory if kernels in the session's context can use it, otherwise
/// null: the frame is then copied through the host.
gstcuda::Memory *own_memory(const CudaSession *session, GstBuffer *buffer) {
  if (session == nullptr) return nullptr;
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  return memory != nullptr && memory->context == session->context()->shared() ? memory : nullptr;
}

/// Throws Error if the session cannot read the surfaces. Device memory of the CUDA runtime is only
/// accessible in its device's primary context.
void check_reader(const nvmm::SurfaceMap &surfaces, const CudaSession *session) {
  surfaces.check_readable(session == nullptr);
  if (session == nullptr || session->context()->is_primary(surfaces.gpu())) return;
  throw Error(Error::Code::settings, "the surfaces are on GPU " + std::to_string(surfaces.gpu()) +
                                         ", but the element works on another GPU: put all its "
                                         "inputs on the same GPU");
}

}  // namespace

FramePass::Input FramePass::find_memory(GstBuffer *buffer) const {
  gstcuda::Memory *memory = own_memory(cuda_, buffer);
  return {buffer, memory, memory != nullptr ? stream_of(memory) : nullptr, false};
}

size_t FramePass::add(const Input &input) {
  if (inputs_ == 0)
    first_ = input;
  else
    more_.push_back(input);
  return inputs_++;
}

size_t FramePass::add_input(const InputCaps &caps, GstBuffer *buffer) {
  if (!caps.in_nvmm) return add(find_memory(buffer));
  check_reader(nvmm::SurfaceMap(buffer), cuda_);
  return add({buffer, nullptr, nullptr, true});
}

size_t FramePass::add_input(const TensorDesc &, GstBuffer *buffer) {
  return add(find_memory(buffer));
}

void FramePass::set_output(GstBuffer *buffer) { output_ = find_memory(buffer); }

void FramePass::begin() {
  if (cuda_ == nullptr) return;
  gstcuda::Stream *stream = output_ ? output_->stream : nullptr;
  if (stream == nullptr && inputs_ == 1) stream = first_.stream;
  if (stream == nullptr) stream = cuda_->stream();
  cuda_->use(stream);
  stream_ = cuda_->handle_of(stream);
}

GstMapFlags FramePass::input_flags(size_t input) const {
  return map_flags(input_of(input).memory, GST_MAP_READ);
}
GstMapFlags FramePass::output_flags() const { return map_flags(output_->memory, GST_MAP_WRITE); }

template <class View>
View FramePass::read(size_t input, const View &mapped, int planes) {
  if (cuda_ == nullptr) return mapped;
  const Input &in = input_of(input);
  if (in.in_nvmm) return mapped;
  if (in.memory == nullptr)
    return cuda_->transfers(input).upload(mapped, planes, is_pinned(in.buffer), stream_);
  // Ordered after the map, because it may have queued an upload of libgstcuda.
  if (in.stream != nullptr) cuda_->order(cuda_->handle_of(in.stream), stream_);
  return cuda_->transfers(input).straighten(mapped, planes, stream_);
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
  if (cuda_ == nullptr || output_->memory != nullptr) return mapped;
  return cuda_->transfers().make_room(mapped);
}

template Image FramePass::write(const Image &);
template Tensor FramePass::write(const Tensor &);

bool FramePass::is_read_later(size_t input) const {
  if (cuda_ == nullptr) return false;
  const Input &in = input_of(input);
  const bool copied = in.memory == nullptr && !in.in_nvmm && !is_pinned(in.buffer);
  return in.stream == nullptr && !copied;
}

bool FramePass::has_surfaces() const {
  for (size_t i = 0; i < inputs_; ++i)
    if (input_of(i).in_nvmm) return true;
  return false;
}

void FramePass::finish_output() {
  const bool downloads = output_->memory == nullptr;
  if (downloads) cuda_->transfers().download(is_pinned(output_->buffer), stream_);
  if (completes_later()) return;
  cuda_->device().synchronize(stream_);
  if (downloads) cuda_->transfers().finish();
}

/// Makes later writes to the inputs wait for the work.
void FramePass::order_inputs() {
  for (size_t i = 0; i < inputs_; ++i)
    if (input_of(i).stream != nullptr) cuda_->order(stream_, cuda_->handle_of(input_of(i).stream));
}

void FramePass::finish() {
  if (cuda_ == nullptr) return;
  order_inputs();
  if (!output_) return;
  finish_output();
  if (completes_later()) keep_inputs();
}

void FramePass::finish_part() {
  if (cuda_ == nullptr) return;
  order_inputs();
  keep_inputs();
}

void FramePass::keep_inputs() {
  // Pools of surfaces are small and do not grow: upstream may wait for the surfaces of earlier
  // passes.
  if (has_surfaces()) cuda_->drain();
  for (size_t i = 0; i < inputs_; ++i)
    if (is_read_later(i)) cuda_->keep(input_of(i).buffer, stream_);
}

}  // namespace cudatensor
