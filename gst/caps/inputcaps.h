// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps of the pictures that an element reads.
#pragma once

#include "gst/caps/videocaps.h"

namespace cudatensor {

/// The field that nvstreammux sets in caps with memory:NVMM: the maximum number of surfaces in a
/// buffer.
constexpr const char *kSurfacesField = "batch-size";

/// Returns the number of surfaces per buffer that a structure announces; 1 without the field.
int surfaces_of(const GstStructure *structure);

struct InputCaps {
  GstVideoInfo info = {};
  Source source = {};  ///< surfaces have their own formats instead
  bool in_nvmm = false;
  bool is_batch = false;  ///< whether buffers are batches of nvstreammux
  int surfaces = 1;       ///< maximum number of pictures in a buffer
};

/// Parses fixed video caps. Throws Error if they are invalid or not supported.
InputCaps parse_input_caps(const GstCaps *caps);

/// Does the same for an element that takes one picture per buffer. Throws Error if a buffer may
/// have more.
InputCaps parse_single_input_caps(const GstCaps *caps);

}  // namespace cudatensor
