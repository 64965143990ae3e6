// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory features of caps.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Whether the caps have the feature of CUDAMemory, or of DeepStream's NVMM.
bool in_cuda_memory(const GstCaps *caps);
bool in_nvmm(const GstCaps *caps);

/// The types of memory that a pad supports in addition to system memory.
struct PadMemories {
  bool cuda, nvmm;
};

/// Adds the same caps in these types of memory, ahead of those in system memory, if the memory can
/// hold them. Takes ownership of the caps.
GstCaps *with_memories(GstCaps *caps, PadMemories memories);

/// Removes the caps in NVMM. Takes ownership of the caps.
GstCaps *without_nvmm(GstCaps *caps);

/// Returns the caps without memory features. Keeps the number of surfaces in a buffer only if the
/// caps had NVMM.
GstCaps *without_features(GstCaps *caps);

}  // namespace cudatensor
