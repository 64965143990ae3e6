// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <charconv>
#include <string>

namespace cudatensor::modelconfig {

/// Returns the shortest text that reads back as the same number.
inline std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

}  // namespace cudatensor::modelconfig
