// SPDX-License-Identifier: LGPL-2.1-or-later
// DeepStream's libraries, which are looked up when the plugin is loaded or when the first buffer
// with its metadata arrives. The plugin does not need them to start.
#pragma once

#include <gst/gst.h>

#include "gst/nvmm/nvdsmeta.h"

namespace cudatensor::nvmm {

/// Whether DeepStream, or Jetson's multimedia packages, are installed (libnvbufsurface). If not, no
/// pad offers memory:NVMM.
bool is_installed();

/// Whether this is a Jetson, whose surfaces are not CUDA pointers.
bool is_jetson();

/// Makes GStreamer scan the plugin again when DeepStream has been installed or removed, because its
/// registry stores the pad templates.
void watch_installation(GstPlugin *plugin);

/// Returns the buffer's batch metadata; null if it has none.
NvDsBatchMeta *batch_meta_of(GstBuffer *buffer);

/// Returns the meta's API type; G_TYPE_INVALID as long as no code of this process has used the
/// meta.
GType nvds_meta_api();

}  // namespace cudatensor::nvmm
