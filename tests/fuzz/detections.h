// SPDX-License-Identifier: LGPL-2.1-or-later
// Random detections of libgstanalytics, where GStreamer has it.
#pragma once

#include "run.h"

namespace fuzz {

/// Adds up to twenty objects, some of them oriented or related to each other.
void add_detections(Run &run, GstBuffer *buffer);

}  // namespace fuzz
