// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture that demonstrates super-resolution: the small input, the input enlarged with
// nearest-neighbor scaling, and the result, each with a detail.
#pragma once

#include <glib.h>

#include <string>
#include <vector>

/// An RGB picture without padding between rows.
struct Picture {
  int width, height;
  std::vector<guint8> rgb;

  static constexpr int kComponents = 3;
  const guint8 *at(int y, int x) const {
    return &rgb[(static_cast<size_t>(y) * width + x) * kComponents];
  }
};

/// Returns a picture in which each pixel is the mean of 2×2 pixels. Width and height must be even.
Picture halved(const Picture &picture);

/// Returns a picture in which each pixel is repeated 2×2 times.
Picture doubled(const Picture &picture);

/// Writes `input`, the same enlarged with nearest-neighbor scaling, and `result`, which has twice
/// the size of the input.
void write_comparison(const std::string &path, const std::string &title, const Picture &input,
                      const Picture &result);
