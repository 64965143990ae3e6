// SPDX-License-Identifier: LGPL-2.1-or-later
// Prometheus' text format, version 0.0.4. That of prometheus-cpp 1.0 writes 16 digits, which half of
// all doubles do not survive, and label values that are no UTF-8, which end a scrape.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace luminance {

/// Counters, gauges and histograms; a family without samples is left out. Numbers are read back
/// exactly, and what is no UTF-8 in label values becomes U+FFFD.
std::string text_of(const std::vector<prometheus::MetricFamily> &families);

}  // namespace luminance
