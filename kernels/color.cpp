// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/color.h"

namespace cudatensor {

YuvToRgb make_yuv_to_rgb(Colorimetry colorimetry) {
  struct Weights {
    double kr, kb;
  };
  static const Weights weights[] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};
  const auto [kr, kb] = weights[static_cast<size_t>(colorimetry.matrix)];
  const bool full = colorimetry.range == ColorRange::full;
  const double ky = full ? 1.0 : 255.0 / 219.0;
  const double y0 = full ? 0.0 : -16.0 * ky;
  const double c = full ? 1.0 : 255.0 / 224.0;
  const double kg = 1.0 - kr - kb;
  return {static_cast<float>(ky),
          static_cast<float>(y0),
          static_cast<float>(2.0 * (1.0 - kr) * c),
          static_cast<float>(-2.0 * (1.0 - kb) * kb / kg * c),
          static_cast<float>(-2.0 * (1.0 - kr) * kr / kg * c),
          static_cast<float>(2.0 * (1.0 - kb) * c)};
}

}  // namespace cudatensor
