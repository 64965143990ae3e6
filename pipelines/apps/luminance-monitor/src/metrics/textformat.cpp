// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/textformat.h"

#include <glib.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>

namespace luminance {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

const char *name_of(MetricType type) {
  switch (type) {
    case MetricType::Counter: return "counter";
    case MetricType::Gauge: return "gauge";
    case MetricType::Histogram: return "histogram";
    default: return "untyped";
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {digits, end};
}

void escape(std::string &text, const std::string &value) {
  const std::unique_ptr<char, decltype(&g_free)> valid(
      g_utf8_make_valid(value.data(), static_cast<gssize>(value.size())), g_free);
  for (const char c : std::string_view(valid.get())) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
}

/// `le` is the upper bound of a histogram's bucket; it is empty for other samples.
void sample(std::string &text, const std::string &name, const ClientMetric &metric, double value,
            const std::string &le = {}) {
  text += name;
  char before = '{';
  const auto label = [&](const std::string &key, const std::string &of) {
    text += before + key + "=\"";
    escape(text, of);
    text += '"';
    before = ',';
  };
  for (const ClientMetric::Label &pair : metric.label) label(pair.name, pair.value);
  if (!le.empty()) label("le", le);
  if (before == ',') text += '}';
  text += ' ' + number(value) + '\n';
}

void histogram(std::string &text, const std::string &name, const ClientMetric &metric) {
  for (const ClientMetric::Bucket &bucket : metric.histogram.bucket)
    sample(text, name + "_bucket", metric, static_cast<double>(bucket.cumulative_count),
           number(bucket.upper_bound));
  sample(text, name + "_sum", metric, metric.histogram.sample_sum);
  sample(text, name + "_count", metric, static_cast<double>(metric.histogram.sample_count));
}

}  // namespace

std::string text_of(const std::vector<MetricFamily> &families) {
  std::string text;
  for (const MetricFamily &family : families) {
    text += "# HELP " + family.name + ' ' + family.help + '\n';
    text += "# TYPE " + family.name + ' ' + name_of(family.type) + '\n';
    for (const ClientMetric &metric : family.metric) {
      switch (family.type) {
        case MetricType::Counter: sample(text, family.name, metric, metric.counter.value); break;
        case MetricType::Histogram: histogram(text, family.name, metric); break;
        default: sample(text, family.name, metric, metric.gauge.value);
      }
    }
  }
  return text;
}

}  // namespace luminance
