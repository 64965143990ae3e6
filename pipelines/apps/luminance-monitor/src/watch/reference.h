// SPDX-License-Identifier: LGPL-2.1-or-later
// What a camera is meant to look at, as it is kept while the monitor does not run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "watch/scene.h"
#include "watch/time.h"

namespace luminance {

struct Reference {
  std::vector<Scene> scenes;  // in several lights
  Time learned = 0;
  std::shared_ptr<const std::string> picture;  // a JPEG of that time; null: there is none
};

}  // namespace luminance
