// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "gst/elements/elements.h"
#include "gst/meta/batchmeta.h"
#include "gst/meta/detectionsmeta.h"
#include "gst/meta/geometrymeta.h"
#include "gst/nvmm/deepstream.h"
#include "gst/util/enums.h"

static gboolean plugin_init(GstPlugin *plugin) {
  cudatensor::register_geometry_meta();
  cudatensor::register_batch_meta();
  cudatensor::register_detections_meta();
  cudatensor::mark_enums_as_plugin_api();
  cudatensor::nvmm::watch_installation(plugin);
  gboolean all = TRUE;
  all &= GST_ELEMENT_REGISTER(cudanv12toyuv444, plugin);
  all &= GST_ELEMENT_REGISTER(cudaletterbox, plugin);
  all &= GST_ELEMENT_REGISTER(cudanormalize, plugin);
  all &= GST_ELEMENT_REGISTER(cudahistogram, plugin);
  all &= GST_ELEMENT_REGISTER(cudapixelshuffle, plugin);
  all &= GST_ELEMENT_REGISTER(cudadetections, plugin);
  all &= GST_ELEMENT_REGISTER(cudatensormux, plugin);
  all &= GST_ELEMENT_REGISTER(cudarestore, plugin);
  all &= GST_ELEMENT_REGISTER(cudainference, plugin);
  return all;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudatensor,
                  "Converts camera video to tensors for neural networks and measures luminance, on "
                  "CUDA or the CPU",
                  plugin_init, VERSION, "LGPL", PACKAGE, "gst-cudatensor")
