// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/ops.h"
#include "tests/kernels/normalizecase.h"

/// The case of all benchmarks: width × height NV12 to a letterboxed size × size NCHW tensor with
/// ImageNet's mean and standard deviation.
inline cudatensor::NormalizeCase imagenet_letterbox(int width, int height, int size) {
  using namespace cudatensor;
  NormalizeCase p;
  p.source = {
      {PixelFormat::NV12, width, height}, {ColorMatrix::bt709, ColorRange::limited}, true, false};
  p.out = {DType::float32, Layout::nchw, 1, 3, size, size};
  p.resize.mode = ResizeMode::ultralytics;
  p.mean = {0.485, 0.456, 0.406};
  p.std = {0.229, 0.224, 0.225};
  return p;
}
