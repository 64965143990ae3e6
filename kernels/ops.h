// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface between code that has pictures (GStreamer elements, tests, benchmarks) and code
// that computes (the CPU and CUDA backends). A backend is opened once and creates operations. An
// operation is prepared once per geometry, then run on every frame.
#pragma once

#include <memory>
#include <vector>

#include "kernels/detections.h"
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

/// A prepared operation from one type of view to another. It may have scratch memory, so only one
/// thread may run it at a time, and runs that overlap must use the same stream. It allocates no
/// memory while it runs. For the CUDA backend, views must be in device memory or pinned memory.
template <class In, class Out, class InDesc, class OutDesc>
class Operation {
 public:
  virtual ~Operation() = default;
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  /// Throws Error if a view does not match the operation (format or size), has a null plane or a
  /// stride shorter than a row, or is a misaligned tensor. With a stream, returns before the work
  /// is complete; without one, the output is complete.
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

/// Converts a picture to another picture. The operation has a fixed geometry.
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

/// Converts pictures of any sizes and formats, or regions of them, to the slots of one tensor. The
/// rules of Operation apply, except that a new plan is made for a slot whose picture format, size
/// or region has changed.
class NormalizeOperation {
 public:
  virtual ~NormalizeOperation() = default;
  NormalizeOperation(const NormalizeOperation &) = delete;
  NormalizeOperation &operator=(const NormalizeOperation &) = delete;

  /// Changes the parameters, but not the tensor's shape. The memory from earlier frames is kept.
  /// Throws like Backend::normalize(), without changing anything.
  void set_params(const NormalizeParams &params) {
    plans_.set_params(params);
    update_params();
  }

  /// Fills one slot of the tensor for each element of `slots`, and the remaining slots with the pad
  /// color. Returns the geometry of each slot, all zero for pad; the reference is valid until the
  /// next call. Throws Error like Operation, and if make_slot_plan() throws.
  const std::vector<Geometry> &run(const std::vector<Slot> &slots, const Tensor &out,
                                   Stream stream = {});

 protected:
  NormalizeOperation(const NormalizeParams &params, const TensorDesc &out)
      : plans_(params, out), out_(out) {}

  /// Called after plans().tensor() has changed; the plans may have changed, too.
  virtual void update_params() = 0;
  /// Updates plans() and fills the slots.
  virtual void execute(const std::vector<Slot> &slots, const Tensor &out, Stream stream) = 0;
  SlotPlans &plans() { return plans_; }

 private:
  SlotPlans plans_;
  TensorDesc out_;
};

/// Counts the pixels of each luminance. The rules of Operation apply. For the CUDA backend, the
/// bins must be in device or pinned memory.
class HistogramOperation {
 public:
  virtual ~HistogramOperation() = default;
  HistogramOperation(const HistogramOperation &) = delete;
  HistogramOperation &operator=(const HistogramOperation &) = delete;

  /// Adds the pixels of a picture to the counts.
  void add(const ConstImage &in, Stream stream = {}) {
    check_view(in, in_);
    execute(&in, nullptr, stream);
  }

  /// Writes the counts since the last call to the bins, then resets the counts.
  void take(Bins &bins, Stream stream = {}) { execute(nullptr, &bins, stream); }

  /// Adds the pixels of a picture, then writes and resets the counts, in one step.
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

/// Gathers the candidates for objects in the outputs of a network, in the order of their rows. Only
/// one thread may use it at a time.
class DetectionOperation {
 public:
  virtual ~DetectionOperation() = default;
  DetectionOperation(const DetectionOperation &) = delete;
  DetectionOperation &operator=(const DetectionOperation &) = delete;

  /// `wanted` are the slots to read; empty: all. Throws Error if an output has no memory or is not
  /// aligned to its elements. With a stream, returns before the work is complete. Allocates memory
  /// only if more is needed than before.
  void run(const CandidatePlan &plan, const OutputData &data, const std::vector<bool> &wanted = {},
           Stream stream = {});

  /// Replaces `found` by the candidates of a slot that the last run read. Its work must be complete.
  virtual void take(int64_t slot, std::vector<Candidate> &found) const = 0;

 protected:
  DetectionOperation() = default;
  virtual void execute(const CandidatePlan &plan, const OutputData &data,
                       const std::vector<bool> &wanted, Stream stream) = 0;
};

/// The table of operations. Each function checks its parameters and makes the plan, and throws
/// Error if that is not possible. An operation must not outlive its backend.
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
  virtual std::unique_ptr<DetectionOperation> detections() = 0;

  /// The GPU that the operations run on; null for the CPU.
  virtual Device *device() { return nullptr; }
};

/// Opens the CPU backend. `threads` threads share the rows of a picture; 0 = one per core.
std::unique_ptr<Backend> open_cpu_backend(unsigned threads);

/// Opens the CUDA backend in the CUDA context that is current for the calling thread, or on the
/// first device if there is none. The backend and its operations must be used and destroyed while
/// that context is current. Throws Error::not_found with the reason if the build has no CUDA
/// backend, or the machine has no usable driver or device.
std::unique_ptr<Backend> open_cuda_backend();

}  // namespace cudatensor
