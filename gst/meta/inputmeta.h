// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorInputMeta: the frame from which a picture was made. An element that keeps its input
// attaches it, and cudarestore takes it out again.
//
// Metas of a scaled, moved or cropped copy of the picture are kept where GStreamer's transforms
// describe the change; others drop the meta.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/analytics/relations.h"
#include "gst/util/boxmap.h"
#include "gst/util/ref.h"

namespace cudatensor {

struct KeptInput {
  Ref<GstBuffer> frame;
  Ref<GstCaps> caps;  ///< of the frame
  BoxMap map;         ///< from the frame to the picture
  /// The analytics results of the picture (`from`) that the frame carries as well (`to`).
  std::vector<SameResult> same;
};

GType input_meta_api();

void attach_input(GstBuffer *picture, KeptInput input);

/// If `in` carries a kept input, attaches it to `out`, too, which `map` relates to `in`. `results`
/// are the analytics results that were copied from `in` to `out`.
void carry_input(GstBuffer *in, GstBuffer *out, const BoxMap &map,
                 const std::vector<SameResult> &results);

/// Takes the kept input out of a writable buffer. If others use the buffer as well, its input stays
/// and the result shares it. The frame is null if the buffer has none.
KeptInput take_input(GstBuffer *picture);

}  // namespace cudatensor
