// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/batchrun.h"

#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Throws Error, which names the slot's source.
VideoMap &map(std::deque<VideoMap> &maps, const BatchInput &input, GstMapFlags flags) {
  try {
    return maps.emplace_back(*input.info, input.buffer, flags);
  } catch (const Error &error) {
    throw Error(error.code(), input.name + (": " + std::string(error.what())));
  }
}

void run_on_cpu(ImagesToTensor &operation, const std::vector<BatchInput> &inputs,
                const TensorDesc &out_desc, GstBuffer *out) {
  std::vector<ConstImage> views(inputs.size());
  std::deque<VideoMap> maps;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].buffer != nullptr) views[i] = map(maps, inputs[i], GST_MAP_READ).constant();
  const TensorMap target(out_desc, out, GST_MAP_WRITE);
  operation.run(views, target.view());
}

/// A slot's picture on the GPU.
struct CudaSlot {
  GstBuffer *buffer;
  CudaInput input;
};

void run_on_gpu(CudaSession &session, ImagesToTensor &operation,
                const std::vector<BatchInput> &inputs, const TensorDesc &out_desc, GstBuffer *out) {
  CudaOutput output(session, out);
  const Stream stream = use_stream(session, nullptr, output.own_stream());
  std::deque<VideoMap> maps;
  std::vector<CudaSlot> slots;
  std::vector<ConstImage> views(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].buffer == nullptr) continue;
    CudaSlot &slot =
        slots.emplace_back(CudaSlot{inputs[i].buffer, CudaInput(session, inputs[i].buffer, i)});
    views[i] = slot.input.view(map(maps, inputs[i], slot.input.flags()).constant(), stream);
  }
  const TensorMap target(out_desc, out, output.flags());
  operation.run(views, output.view(target.view()), stream);
  for (CudaSlot &slot : slots) slot.input.finish(stream);
  output.finish(stream);
  for (const CudaSlot &slot : slots)
    if (output.completes_later() && slot.input.is_read_later()) session.keep(slot.buffer, stream);
}

}  // namespace

void run_batch(Session &session, ImagesToTensor &operation, const std::vector<BatchInput> &inputs,
               const TensorDesc &out_desc, GstBuffer *out) {
  if (session.cuda() != nullptr)
    run_on_gpu(*session.cuda(), operation, inputs, out_desc, out);
  else
    run_on_cpu(operation, inputs, out_desc, out);
}

}  // namespace cudatensor
