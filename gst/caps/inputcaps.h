// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps of the pictures that an element reads.
#pragma once

#include "gst/caps/videocaps.h"

namespace cudatensor {

/// The field of caps with memory:NVMM that nvstreammux sets: the most surfaces in a buffer.
constexpr const char *kSurfacesField = "batch-size";

/// The surfaces of a buffer that a structure announces; 1 without the field.
int surfaces_of(const GstStructure *structure);

struct InputCaps {
  GstVideoInfo info = {};
  Source source = {};  ///< surfaces have a format of their own
  bool in_nvmm = false;
  bool is_batch = false;  ///< of nvstreammux
  int surfaces = 1;       ///< the most pictures in a buffer
};

/// Parses fixed video caps. Throws Error if they are invalid or not supported.
InputCaps parse_input_caps(const GstCaps *caps);

/// The same, for an element that takes one picture per buffer.
InputCaps parse_single_input_caps(const GstCaps *caps);

}  // namespace cudatensor
