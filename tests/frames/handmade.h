// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that tests make byte by byte.
#pragma once

#include <glib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace cudatensor {

using Text = std::string;

/// Returns a number as bytes, the highest first.
inline Text number(uint64_t value, int bytes) {
  Text text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

/// Returns the result of `look` for the path of a file with this content.
template <class Look>
auto look_at(const Text &content, const Look &look) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("cudatensor-handmade-" + std::to_string(g_random_int()));
  std::ofstream(path, std::ios::binary) << content;
  const auto found = look(path.string());
  std::filesystem::remove(path);
  return found;
}

}  // namespace cudatensor
