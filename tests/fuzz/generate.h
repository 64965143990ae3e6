// SPDX-License-Identifier: LGPL-2.1-or-later
// Random caps and properties.
#pragma once

#include "run.h"

namespace fuzz {

/// Formats that the sink pad of this element lists.
const std::vector<std::string> &formats_of(const char *factory);

struct Size {
  int width, height;
};
Size random_size(Random &random);

/// Caps of pictures in one of the formats; where the run is not sane, perhaps strange ones.
std::string video_caps(Run &run, const std::vector<std::string> &formats);
/// Caps of tensors that cudapixelshuffle may take.
std::string tensor_caps(Run &run);
/// What downstream takes; empty: anything.
std::string downstream_caps(Run &run);

/// Sets one of the element's own properties, whichever they are: to something sensible where the
/// run is sane.
void set_random_property(Run &run, GstElement *element);
/// Gives another element of the same kind the same settings, but for its number of threads.
void copy_properties(GstElement *from, GstElement *to, guint threads);

}  // namespace fuzz
