// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipeline that measures a camera's frames.
#pragma once

#include <gst/gst.h>

#include "settings/settings.h"

namespace luminance {

/// Throws std::runtime_error where GStreamer lacks an element that every camera needs.
void check_elements(const Settings &settings);

/// It gives messages of cudahistogram; its sink, `sink`, keeps the latest frame. It opens nothing
/// but the camera's URI, whatever that answers. Throws like check_elements().
GstElement *pipeline_of(const CameraSettings &camera, const Settings &settings);

}  // namespace luminance
