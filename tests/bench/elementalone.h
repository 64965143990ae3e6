// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures elements between two bare pads: the cost of a frame for the streaming thread.
#pragma once

#include "elementtrace.h"

/// Prints a table of CPU time and allocations per frame for the elements whose names begin with
/// `only`. With a trace, prints calls to the driver and kernel times instead. Throws
/// std::runtime_error.
void measure_alone(const std::string &only, int bursts, Trace *trace);
