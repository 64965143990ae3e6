// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures NVIDIA's decoders with and without cudanormalize after them.
#pragma once

#include "elementtrace.h"

/// Prints a table of frames per second and CPU time of the streaming threads. Throws
/// std::runtime_error.
void measure_streams(const std::string &clip, bool quick);

/// Prints calls to the driver, and the position of cudanormalize's kernels on the GPU's timeline.
void trace_streams(const std::string &clip, Trace &trace);

/// Prints a table of the chains from GStreamer's and DeepStream's decoder to a tensor, with 1 and 8
/// streams. With a trace, prints the work of the GPU instead of times.
void measure_chains(const std::string &clip, bool quick, Trace *trace);
