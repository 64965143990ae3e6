// SPDX-License-Identifier: LGPL-2.1-or-later
// One pass of work over the frames in some buffers, in any kind of memory. On the CPU, maps the
// buffers. On a GPU, also synchronizes streams, uploads and downloads, and keeps memory that queued
// work still uses. Surfaces of NVMM are read where they lie. They have no stream, because
// DeepStream's elements push a buffer only after its surfaces are complete; an element that passes
// one on must therefore wait until its own work has read it.
#pragma once

#include <optional>
#include <vector>

#include "gst/base/mapping.h"
#include "gst/device/devicesession.h"

namespace cudatensor {

/// The order of use: add the inputs and the output, call begin(), get the views of the buffers,
/// queue the work, and call finish() before the buffers are unmapped. A buffer is mapped with the
/// flags after it was added and before its view is asked for. The caller holds the buffers until
/// finish().
class FramePass {
 public:
  explicit FramePass(Session &session) : device_(session.device_session()) {}

  /// Adds a buffer and returns the number of the input. Throws Error if surfaces cannot be read
  /// where the work runs.
  size_t add_input(const InputCaps &caps, GstBuffer *buffer);
  size_t add_input(const TensorDesc &desc, GstBuffer *buffer);
  /// Outputs that are filled in turn by several passes have different numbers.
  void set_output(GstBuffer *buffer, size_t number = 0);
  /// Returns whether output() is memory of the session from which the output is copied to the
  /// buffer. It still holds the last output of the same number and size.
  bool is_output_staged() const { return device_ != nullptr && !output_->place.on_device; }

  /// Chooses the stream, which the session uses from now on: the stream of the output's memory,
  /// otherwise of a single input, otherwise of the session.
  void begin();
  /// The stream for the work. It has no handle on the CPU.
  Stream stream() const { return stream_; }

  GstMapFlags input_flags(size_t input) const;
  GstMapFlags output_flags() const;

  /// Returns the view that the work reads. The buffer must be mapped with input_flags().
  ConstImage input(size_t input, const ConstImage &mapped) {
    return read(input, mapped, layout_of(mapped.desc.format).planes);
  }
  ConstTensor input(size_t input, const ConstTensor &mapped) { return read(input, mapped, 1); }
  /// The same for work that reads only luminance: other planes of YUV are not uploaded.
  ConstImage luminance(size_t input, const ConstImage &mapped);
  /// Returns the view that the work writes. The buffer must be mapped with output_flags().
  Image output(const Image &mapped) { return write(mapped); }
  Tensor output(const Tensor &mapped) { return write(mapped); }

  /// Queues a copy between views, which must not overlap.
  void copy(const Tensor &to, const ConstTensor &from);

  /// Called after the work was queued. Afterwards the output is complete, or its memory knows the
  /// stream that completes it. Inputs that the work still reads are kept until then.
  void finish();
  /// Like finish(), for a pass after which another pass continues with the same output. Only the
  /// last pass completes the output, that is, waits for it or downloads it. Until then output()
  /// returns the same view, if no pass has another output with the same number.
  void finish_part();
  /// Returns whether queued work still reads this input. Without an output, finish() keeps no
  /// input.
  bool is_read_later(size_t input) const;

 private:
  struct Input {
    GstBuffer *buffer;
    DeviceSession::Place place;
    bool in_nvmm;
  };
  Input place(GstBuffer *buffer) const;
  GstMapFlags map_flags(const Input &buffer, GstMapFlags access) const;
  size_t add(const Input &input);

  template <class View>
  View read(size_t input, const View &mapped, int planes);
  template <class View>
  View write(const View &mapped);
  bool has_surfaces() const;
  void order_inputs();
  void keep_inputs();
  void finish_output();
  bool completes_later() const { return output_ && output_->place.stream != nullptr; }

  DeviceSession *device_;  // null: the CPU
  Stream stream_;
  const Input &input_of(size_t input) const { return input == 0 ? first_ : more_[input - 1]; }

  size_t inputs_ = 0;
  Input first_ = {};  // not in the vector, so that passes with one input need no allocation
  std::vector<Input> more_;
  std::optional<Input> output_;
  size_t output_number_ = 0;
};

/// Calls `work` with the views of two buffers and its stream. The specs are the arguments of Map.
template <class Work, class InSpec, class OutSpec>
void run_work(Session &session, const Work &work, const InSpec &in_spec, GstBuffer *in,
              const OutSpec &out_spec, GstBuffer *out) {
  FramePass pass(session);
  const size_t input = pass.add_input(in_spec, in);
  pass.set_output(out);
  pass.begin();
  const Map<InSpec> source(in_spec, in, pass.input_flags(input));
  const Map<OutSpec> target(out_spec, out, pass.output_flags());
  work(pass.input(input, source.constant()), pass.output(target.view()), pass.stream());
  pass.finish();
}

/// Runs an operation from buffer to buffer.
template <class Operation, class InSpec, class OutSpec>
void run(Session &session, Operation &operation, const InSpec &in_spec, GstBuffer *in,
         const OutSpec &out_spec, GstBuffer *out) {
  run_work(
      session,
      [&](const auto &from, const auto &to, Stream stream) { operation.run(from, to, stream); },
      in_spec, in, out_spec, out);
}

}  // namespace cudatensor
