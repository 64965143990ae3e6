// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks up functions of GStreamer's libraries that are loaded at run time. In a copy of GStreamer, as
// in the wheel, symbols have a prefix.
#pragma once

#include <string>

#include "config.h"
#include "gst/util/modulefunctions.h"

namespace cudatensor {

/// Does the same as find(), with the name that the function has in GStreamer.
template <class Function>
bool find_of_gstreamer(GModule *module, const char *name, Function &function) {
  return find(module, (std::string(GST_SYMBOL_PREFIX) + name).c_str(), function);
}

}  // namespace cudatensor
