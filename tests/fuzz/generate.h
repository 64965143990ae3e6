// SPDX-License-Identifier: LGPL-2.1-or-later
// Random caps and properties.
#pragma once

#include "run.h"

namespace fuzz {

/// The formats in the caps of the element's sink pad.
const std::vector<std::string> &formats_of(const char *factory);

struct Size {
  int width, height;
};
Size random_size(Random &random);

/// Video caps with one of the formats; possibly invalid if the run is not sane.
std::string video_caps(Run &run, const std::vector<std::string> &formats);
/// Tensor caps for cudapixelshuffle.
std::string tensor_caps(Run &run);
/// Returns caps of the output of a detector or a classifier.
std::string network_caps(Run &run);
/// The caps that downstream accepts; empty means any caps.
std::string downstream_caps(Run &run);

/// Whether an element has read a model's file. A new element may find another file at its path, and
/// has all properties set, which win over those of the file.
bool reads_files(const std::vector<GstElement *> &elements);

/// Sets a random property that the element itself defines, to a valid value if the run is sane.
void set_random_property(Run &run, GstElement *element);
/// Copies all properties to another element of the same type, except the number of threads.
void copy_properties(GstElement *from, GstElement *to, guint threads);

}  // namespace fuzz
