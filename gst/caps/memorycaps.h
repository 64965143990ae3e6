// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory features of caps.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Whether the caps have the CUDAMemory feature.
bool in_cuda_memory(const GstCaps *caps);

/// Adds the same caps with the CUDAMemory feature ahead of those in system memory, if a
/// GstCudaMemory can hold them. Takes ownership of the caps.
GstCaps *with_cuda_memory(GstCaps *caps);

/// The same caps without memory features.
GstCaps *without_features(GstCaps *caps);

}  // namespace cudatensor
