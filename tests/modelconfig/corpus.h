// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of every kind that the property model-config reads, and functions that damage them.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace cudatensor {

struct ModelFile {
  const char *name;
  std::string contents;
};

/// Returns files that are accepted.
const std::vector<ModelFile> &model_files();

using RandomBits = std::mt19937_64;

/// Changes a few places of a file.
void damage(RandomBits &bits, std::string &contents);

}  // namespace cudatensor
