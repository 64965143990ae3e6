// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures NVDEC with and without cudanormalize after it.
#pragma once

#include "elementtrace.h"

/// Prints a table of frames per second and CPU time of the streaming threads. Throws
/// std::runtime_error.
void measure_streams(const std::string &clip, bool quick);

/// Prints calls to the driver, and the position of cudanormalize's kernels on the GPU's timeline.
void trace_streams(const std::string &clip, Trace &trace);
