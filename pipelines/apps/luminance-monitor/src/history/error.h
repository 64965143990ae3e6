// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>

namespace luminance {

/// An error of the history. Its text names the file and the cause.
struct HistoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The file is damaged or not a history: its contents contradict each other.
struct DamagedHistory : HistoryError {
  using HistoryError::HistoryError;
};

}  // namespace luminance
