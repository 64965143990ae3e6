// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaTensorInputMeta holds the frame from which a picture was made. An element that keeps its
// input attaches the meta, and cudarestore takes the frame out again.
//
// GStreamer's transforms keep the meta on a scaled, moved or cropped copy of the picture if they
// describe the change. Other transforms drop it.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/analytics/relations.h"
#include "gst/util/boxmap.h"
#include "gst/util/ref.h"

namespace cudatensor {

struct KeptInput {
  Ref<GstBuffer> frame;
  Ref<GstCaps> caps;  ///< caps of the frame
  BoxMap map;         ///< maps the frame to the picture
  /// The analytics results of the picture (`from`) that the frame carries as well (`to`).
  std::vector<SameResult> same;
  /// The orientation in the tags of the frame's stream, if those of the picture's have another.
  std::optional<Direction> orientation = {};
};

GType input_meta_api();

void attach_input(GstBuffer *picture, KeptInput input);

/// If `in` carries a kept input, attaches it to `out`, too. `map` maps `in` to `out`, and `results`
/// are the analytics results that were copied from `in` to `out`.
void carry_input(GstBuffer *in, GstBuffer *out, const BoxMap &map,
                 const std::vector<SameResult> &results);

/// Takes the kept input out of a writable buffer. If the buffer is not writable because others use
/// it, its input stays, and the result shares it. The frame is null if the buffer has no kept
/// input.
KeptInput take_input(GstBuffer *picture);

}  // namespace cudatensor
