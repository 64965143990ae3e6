// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements Backend by calling a function make() for each type of parameters. The functions are in
// the namespace of the Context, which is their last argument.
#pragma once

#include <utility>

#include "kernels/ops.h"

namespace cudatensor {

template <class Context>
class BackendOf : public Backend {
 public:
  template <class... Args>
  explicit BackendOf(Args &&...args) : context_(std::forward<Args>(args)...) {}

  std::unique_ptr<ImageToImage> yuv444(const Yuv444Params &params) override {
    return make(params, context_);
  }
  std::unique_ptr<ImageToImage> letterbox(const LetterboxParams &params) override {
    return make(params, context_);
  }
  std::unique_ptr<NormalizeOperation> normalize(const NormalizeParams &params,
                                                const TensorDesc &out) override {
    return make(params, out, context_);
  }
  std::unique_ptr<HistogramOperation> histogram(const HistogramParams &params) override {
    return make(params, context_);
  }
  std::unique_ptr<TensorToTensor> pixelshuffle(const PixelShuffleParams &params) override {
    return make(params, context_);
  }
  std::unique_ptr<TensorToImage> pixelshuffle(const PixelShuffleToVideoParams &params) override {
    return make(params, context_);
  }
  std::unique_ptr<DetectionOperation> detections() override { return make_detections(context_); }

 protected:
  Context &context() { return context_; }

 private:
  Context context_;
};

}  // namespace cudatensor
