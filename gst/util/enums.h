// SPDX-License-Identifier: LGPL-2.1-or-later
// The GEnums of the elements' properties; their values are those of the kernels' enumerations.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

enum class BackendChoice { automatic, cuda, cpu };
enum class Provider { automatic, cuda, tensorrt, openvino, cpu };
enum class RegionSource { none, list, meta, tiles, matrices };
enum class RegionUnits { pixels, fractions };
enum class RegionEdge { clip, pad, repeat };
enum class Interlaced { refuse, as_progressive };
/// `automatic`, then the kernels' Decoder.
enum class DecoderSetting {
  automatic,
  yolo,
  yolov5,
  end2end,
  detr,
  detr_softmax,
  ssd,
  scores,
  probabilities
};

GType backend_get_type();
GType provider_get_type();
GType letterbox_mode_get_type();  ///< ResizeMode without stretch
GType resize_mode_get_type();     ///< ResizeMode
GType scale_method_get_type();
GType color_get_type();
GType layout_get_type();
GType dtype_get_type();
GType normalization_get_type();
GType region_source_get_type();
GType region_units_get_type();
GType region_edge_get_type();
GType interlaced_get_type();
GType decoder_get_type();

/// Marks the GEnums as plugin API for the documentation.
void mark_enums_as_plugin_api();

}  // namespace cudatensor
