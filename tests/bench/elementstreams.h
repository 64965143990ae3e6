// SPDX-License-Identifier: LGPL-2.1-or-later
// NVDEC's frames, with and without cudanormalize behind them.
#pragma once

#include "elementtrace.h"

/// Prints a table of frames a second and CPU time of the streaming threads. Throws
/// std::runtime_error.
void measure_streams(const std::string &clip, bool quick);

/// Prints calls to the driver, and where cudanormalize's kernels lie on the GPU's timeline.
void trace_streams(const std::string &clip, Trace &trace);
