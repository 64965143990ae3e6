// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps and the memory that they ask for.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Whether caps are of CUDAMemory.
bool in_cuda_memory(const GstCaps *caps);

/// The same caps in CUDAMemory, which is preferred, where it can hold them, and in system memory.
/// Takes the caps.
GstCaps *in_both_memories(GstCaps *caps);

/// The same caps, whatever memory they are in.
GstCaps *without_memories(GstCaps *caps);

}  // namespace cudatensor
