// SPDX-License-Identifier: LGPL-2.1-or-later
// The Prometheus text format, version 0.0.4. The serializer of prometheus-cpp 1.0 writes 16 digits,
// which changes half of all doubles, and label values that are not UTF-8, which make a scrape fail.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace luminance {

/// Writes counters, gauges and histograms. Families without samples also have HELP and TYPE, so the
/// names that are served do not depend on what a camera shows. Numbers are exact, and invalid UTF-8
/// in label values becomes U+FFFD.
std::string text_of(const std::vector<prometheus::MetricFamily> &families);

}  // namespace luminance
