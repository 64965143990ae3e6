// SPDX-License-Identifier: LGPL-2.1-or-later
// What a camera is meant to look at, in the form that is kept while the monitor does not run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "watch/scene.h"

namespace luminance {

struct Reference {
  std::vector<Scene> scenes;                   // in several lights
  int64_t learned = 0;                         // in milliseconds since 1970
  std::shared_ptr<const std::string> picture;  // a JPEG of that time; null: there is none
};

}  // namespace luminance
