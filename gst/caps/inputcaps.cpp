// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/inputcaps.h"

#include "gst/caps/memorycaps.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

/// Throws Error if frames have several surfaces, as those of nvdewarper.
void check_surfaces_per_frame(const GstStructure *structure) {
  int count = 1;
  gst_structure_get_int(structure, "num-surfaces-per-frame", &count);
  if (count > 1)
    throw Error(Error::Code::settings,
                "num-surfaces-per-frame is " + std::to_string(count) +
                    ", but only buffers with one surface per frame are supported");
}

}  // namespace

int surfaces_of(const GstStructure *structure) {
  int count = 1;
  gst_structure_get_int(structure, kSurfacesField, &count);
  return std::max(count, 1);
}

InputCaps parse_input_caps(const GstCaps *caps) {
  InputCaps result;
  result.info = parse_video_caps(caps);
  result.source = source_of(caps, result.info);
  result.in_nvmm = in_nvmm(caps);
  if (!result.in_nvmm) return result;
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  check_surfaces_per_frame(structure);
  result.is_batch = gst_structure_has_field(structure, kSurfacesField);
  result.surfaces = surfaces_of(structure);
  return result;
}

InputCaps parse_single_input_caps(const GstCaps *caps) {
  InputCaps result = parse_input_caps(caps);
  if (result.surfaces > 1)
    throw Error(Error::Code::settings,
                "buffers with memory:NVMM have up to " + std::to_string(result.surfaces) +
                    " surfaces, but this element takes one picture per buffer: put it before "
                    "nvstreammux or behind nvstreamdemux, or use cudanormalize");
  result.is_batch = false;
  return result;
}

}  // namespace cudatensor
