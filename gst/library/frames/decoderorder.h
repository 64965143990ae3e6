// SPDX-License-Identifier: LGPL-2.1-or-later
// Which decoder decodebin tries first. By their ranks it would prefer software to some releases'
// decoders on a GPU.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Lets a decodebin try the decoders whose frames stay on this GPU before all others.
void prefer_decoders_on(GstElement *decodebin, int gpu);

/// Whether a decoder that decodebin may choose for this coded stream gives all frames from a recovery
/// point on, which is an open random access point. `gpu` as above; -1: only the CPU.
bool starts_at_recovery_points(GstCaps *coded, int gpu);

}  // namespace cudatensor
