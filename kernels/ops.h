// SPDX-License-Identifier: LGPL-2.1-or-later
// THE SEAM between those who hold pictures (GStreamer elements, tests, benchmarks) and those who
// compute (the CPU, CUDA). A backend is opened once and asked for operations; an operation is
// prepared once per geometry, then run on every frame.
#pragma once

#include <memory>
#include <vector>

#include "kernels/device.h"
#include "kernels/histogram.h"
#include "kernels/letterbox.h"
#include "kernels/normalize.h"
#include "kernels/pixelshuffle.h"
#include "kernels/slotplans.h"
#include "kernels/yuv444.h"

namespace cudatensor {

void check_view(const ConstImage &image, const ImageDesc &expected);
void check_view(const Image &image, const ImageDesc &expected);
void check_view(const ConstTensor &tensor, const TensorDesc &expected);
void check_view(const Tensor &tensor, const TensorDesc &expected);

/// A prepared operation from one kind of view to another. It may keep scratch memory, so only one
/// thread runs it at a time, and frames that overlap run on one stream; it allocates nothing while
/// it runs. The CUDA backend's views lie in device memory, or in pinned memory.
template <class In, class Out, class InDesc, class OutDesc>
class Operation {
 public:
  virtual ~Operation() = default;
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// Throws Error where a view is not what the operation was prepared for: format, size, a null
  /// plane, a stride shorter than a row, a misaligned tensor. With a stream it returns before the
  /// work is done; without one the output is complete.
  void run(const In &in, const Out &out, Stream stream = {}) {
    check_view(in, in_);
    check_view(out, out_);
    execute(in, out, stream);
  }

 protected:
  Operation(const InDesc &in, const OutDesc &out) : in_(in), out_(out) {}
  virtual void execute(const In &in, const Out &out, Stream stream) = 0;

 private:
  InDesc in_;
  OutDesc out_;
};

/// A picture to another, which it fills as its geometry says.
class ImageToImage : public Operation<ConstImage, Image, ImageDesc, ImageDesc> {
 public:
  const Geometry &geometry() const { return geometry_; }

 protected:
  ImageToImage(const ImageDesc &in, const ImageDesc &out, const Geometry &geometry)
      : Operation(in, out), geometry_(geometry) {}

 private:
  Geometry geometry_;
};

using TensorToTensor = Operation<ConstTensor, Tensor, TensorDesc, TensorDesc>;
using TensorToImage = Operation<ConstTensor, Image, TensorDesc, ImageDesc>;

/// Pictures of any sizes and formats, or regions of them, into the slots of one tensor. The same holds
/// as for an Operation, but that slots which show another kind of picture or another region than
/// before are planned anew.
class NormalizeOperation {
 public:
  virtual ~NormalizeOperation() = default;
  NormalizeOperation(const NormalizeOperation &) = delete;
  NormalizeOperation &operator=(const NormalizeOperation &) = delete;

  /// Changes the parameters; the tensor's shape stays, and so does what the frames before have left in
  /// memory. Throws as Backend::normalize() does, and then changes nothing.
  void set_params(const NormalizeParams &params) {
    plans_.set_params(params);
    update_params();
  }

  /// Fills a slot of the tensor for each of `slots`, of which there are at most as many as the tensor
  /// has, and those behind the last with the pad colour. Returns the geometry of each slot, until the
  /// next call; all zero for one that is pad. Throws Error as an Operation does, and where no plan can
  /// be made: make_slot_plan() says when.
  const std::vector<Geometry> &run(const std::vector<Slot> &slots, const Tensor &out,
                                   Stream stream = {});

 protected:
  NormalizeOperation(const NormalizeParams &params, const TensorDesc &out)
      : plans_(params, out), out_(out) {}

  /// After plans().tensor() has changed, and perhaps all plans.
  virtual void update_params() = 0;
  /// Updates plans() and fills the slots.
  virtual void execute(const std::vector<Slot> &slots, const Tensor &out, Stream stream) = 0;
  SlotPlans &plans() { return plans_; }

 private:
  SlotPlans plans_;
  TensorDesc out_;
};

/// Counts the pixels of each luminance. The same holds as for an Operation; for the CUDA backend the
/// bins lie in device or pinned memory.
class HistogramOperation {
 public:
  virtual ~HistogramOperation() = default;
  HistogramOperation(const HistogramOperation &) = delete;
  HistogramOperation &operator=(const HistogramOperation &) = delete;

  /// Counts a picture.
  void add(const ConstImage &in, Stream stream = {}) {
    check_view(in, in_);
    execute(&in, nullptr, stream);
  }

  /// Overwrites the bins with what was counted since the last time, and begins anew.
  void take(Bins &bins, Stream stream = {}) { execute(nullptr, &bins, stream); }

  /// Both at once.
  void run(const ConstImage &in, Bins &bins, Stream stream = {}) {
    check_view(in, in_);
    execute(&in, &bins, stream);
  }

 protected:
  explicit HistogramOperation(const ImageDesc &in) : in_(in) {}
  virtual void execute(const ConstImage *in, Bins *bins, Stream stream) = 0;

 private:
  ImageDesc in_;
};

/// The table of operations. Each function checks its parameters, makes the plan and throws Error
/// where it cannot be run. An operation must not outlive its backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::unique_ptr<ImageToImage> yuv444(const Yuv444Params &params) = 0;
  virtual std::unique_ptr<ImageToImage> letterbox(const LetterboxParams &params) = 0;
  virtual std::unique_ptr<NormalizeOperation> normalize(const NormalizeParams &params,
                                                        const TensorDesc &out) = 0;
  virtual std::unique_ptr<HistogramOperation> histogram(const HistogramParams &params) = 0;
  virtual std::unique_ptr<TensorToTensor> pixelshuffle(const PixelShuffleParams &params) = 0;
  virtual std::unique_ptr<TensorToImage> pixelshuffle(const PixelShuffleToVideoParams &params) = 0;

  /// The GPU that the operations run on; null for the CPU.
  virtual Device *device() { return nullptr; }
};

/// Rows are spread over `threads` threads; 0 is one per core.
std::unique_ptr<Backend> open_cpu_backend(unsigned threads);

/// On the device of the CUDA context that is current for the calling thread, or of the first device
/// where there is none. It and its operations are used and destroyed with that context current.
/// Throws Error::not_found, with the reason, where this build has no CUDA, or this machine no usable
/// driver or device.
std::unique_ptr<Backend> open_cuda_backend();

}  // namespace cudatensor
