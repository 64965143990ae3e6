// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements between two bare pads: what a frame costs the thread that brings it.
#pragma once

#include "elementtrace.h"

/// Prints a table of CPU time and allocations a frame, of the elements whose names begin with
/// `only`; with a trace, one of calls to the driver and
/// of the GPU's time instead. Throws std::runtime_error.
void measure_alone(const std::string &only, int bursts, Trace *trace);
