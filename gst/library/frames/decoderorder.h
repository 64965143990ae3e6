// SPDX-License-Identifier: LGPL-2.1-or-later
// The order in which decodebin tries decoders. By their ranks it would prefer software to the GPU
// decoders of some releases.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Makes a decodebin try the decoders whose frames stay on this GPU before all others.
void prefer_decoders_on(GstElement *decodebin, int gpu);

/// Returns whether the decoder that decodebin may choose for this coded stream outputs all frames
/// from a recovery point on, which is an open random access point. `gpu` is the GPU of
/// prefer_decoders_on(); -1: only the CPU.
bool starts_at_recovery_points(GstCaps *coded, int gpu);

}  // namespace cudatensor
