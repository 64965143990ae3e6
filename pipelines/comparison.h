// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture that shows what super-resolution gains: the small input, the input enlarged without it,
// and the result, each with a detail.
#pragma once

#include <glib.h>

#include <string>
#include <vector>

/// RGB without padding.
struct Picture {
  int width, height;
  std::vector<guint8> rgb;

  static constexpr int kComponents = 3;
  const guint8 *at(int y, int x) const {
    return &rgb[(static_cast<size_t>(y) * width + x) * kComponents];
  }
};

/// The mean of each 2×2 pixels. Width and height are even.
Picture halved(const Picture &picture);

/// Each pixel as 2×2 of them.
Picture doubled(const Picture &picture);

/// Writes `input`, twice as large by nearest neighbour, and `result`, which has twice the input's size.
void write_comparison(const std::string &path, const std::string &title, const Picture &input,
                      const Picture &result);
