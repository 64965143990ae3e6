// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics of this process from Linux, with the standard names of Prometheus clients.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace luminance {

/// CPU time, memory, open files and start time, as far as /proc has them.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace luminance
