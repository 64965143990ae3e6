// SPDX-License-Identifier: LGPL-2.1-or-later
// What Linux says of this process, by the names that Prometheus' clients have for it.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace luminance {

/// CPU time, memory, open files and when it began; without those that /proc does not tell.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace luminance
