// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipeline that measures the frames of a camera.
#pragma once

#include <gst/gst.h>

#include <string>

#include "settings/settings.h"

namespace luminance {

/// Throws std::runtime_error if an element that every camera needs is missing.
void check_elements(const Settings &settings);

/// Posts messages of cudahistogram for a RegionCounter; the element `sink` keeps the latest frame. Opens only the URI
/// of the camera, whatever the camera responds. Throws like check_elements().
GstElement *pipeline_of(const CameraSettings &camera, const Settings &settings);

/// The same for pictures of a format, "image/jpeg" or "image/png", which are pushed into the appsrc
/// `pictures`. The element `decoder` decodes one of each buffer.
GstElement *picture_pipeline_of(const std::string &format, const CameraSettings &camera,
                                const Settings &settings);

}  // namespace luminance
