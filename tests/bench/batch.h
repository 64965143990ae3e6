// SPDX-License-Identifier: LGPL-2.1-or-later
// Until Backend::normalize_batch is there: the same frame by frame.
#pragma once

#include "kernels/ops.h"

class ImagesToTensor {
 public:
  ImagesToTensor(cudatensor::Backend &backend, const std::vector<cudatensor::Source> &sources,
                 cudatensor::NormalizeParams params) {
    params.out.n = 1;
    for (const auto &source : sources) {
      params.source = source;
      slots_.push_back(backend.normalize(params));
    }
  }
  void run(const std::vector<cudatensor::ConstImage> &in, const cudatensor::Tensor &out,
           cudatensor::Stream stream = {}) {
    cudatensor::TensorDesc slot = out.desc;
    slot.n = 1;
    for (size_t i = 0; i < slots_.size(); ++i)
      slots_[i]->run(in[i], {slot, static_cast<uint8_t *>(out.data) + i * slot.bytes()}, stream);
  }

 private:
  std::vector<std::unique_ptr<cudatensor::ImageToTensor>> slots_;
};

inline std::unique_ptr<ImagesToTensor> normalize_batch(
    cudatensor::Backend &backend, const std::vector<cudatensor::Source> &sources,
    const cudatensor::NormalizeParams &params) {
  return std::make_unique<ImagesToTensor>(backend, sources, params);
}
