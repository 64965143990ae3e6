// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudainference.
#pragma once

#include <string>
#include <vector>

#include "gst/util/enums.h"
#include "gst/util/properties.h"

namespace cudatensor {

struct InferenceSettings {
  std::string model, library, cache;
  Provider provider = Provider::automatic;
  int device = -1;
  guint threads = 0;
  std::vector<std::string> outputs;
  bool warm_up = true;

  /// The folder of compiled engines.
  std::string cache_folder() const;
};

const Properties<InferenceSettings> &inference_properties();

}  // namespace cudatensor
