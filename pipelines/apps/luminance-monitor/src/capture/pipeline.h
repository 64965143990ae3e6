// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipeline that measures the frames of a camera.
#pragma once

#include <gst/gst.h>

#include <string>

#include "settings/settings.h"

namespace luminance {

/// Throws std::runtime_error if an element that every camera needs is missing.
void check_elements(const Settings &settings);

/// Returns a pipeline that posts messages of cudahistogram for a RegionCounter, and whose element
/// `sink` keeps the latest frame. It opens only the URI of the camera, whatever the camera
/// responds. Throws like check_elements().
GstElement *pipeline_of(const CameraSettings &camera, const Settings &settings);

/// Returns the same for pictures of a format, "image/jpeg" or "image/png", which are pushed into
/// the appsrc `pictures`. The element `decoder` decodes one picture from each buffer.
GstElement *picture_pipeline_of(const std::string &format, const CameraSettings &camera,
                                const Settings &settings);

}  // namespace luminance
