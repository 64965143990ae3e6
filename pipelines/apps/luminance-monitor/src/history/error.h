// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>

namespace luminance {

/// The text names the file and the cause.
struct HistoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace luminance
