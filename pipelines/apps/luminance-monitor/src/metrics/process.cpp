// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace luminance {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

struct Stat {
  double cpu_ticks, start_ticks;  // start: since the machine booted
  double virtual_bytes, resident_pages;
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');  // the program's name may hold spaces
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  double user = 0, system = 0;
  Stat stat = {};
  for (int field = 3; field < 14; ++field) fields >> skipped;
  fields >> user >> system;
  for (int field = 16; field < 22; ++field) fields >> skipped;
  fields >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages;
  stat.cpu_ticks = user + system;
  return fields ? std::optional(stat) : std::nullopt;
}

/// Returns when the machine booted, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  return {};
}

std::optional<double> open_files() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return {};
  const auto count = std::distance(begin(files), end(files));
  return static_cast<double>(count - 1);  // without the descriptor of the listing
}

std::optional<double> max_open_files() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return static_cast<double>(limit.rlim_cur);
}

void add(std::vector<MetricFamily> &families, const char *name, const char *help,
         std::optional<double> value, MetricType type = MetricType::Gauge) {
  if (!value) return;
  prometheus::ClientMetric metric;
  metric.gauge.value = metric.counter.value = *value;
  families.push_back({name, help, type, {metric}});
}

}  // namespace

std::vector<MetricFamily> process_metrics() {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::vector<MetricFamily> families;
  if (const auto stat = read_stat()) {
    add(families, "process_cpu_seconds_total", "CPU time of the monitor, user and system.",
        stat->cpu_ticks / ticks, MetricType::Counter);
    add(families, "process_resident_memory_bytes", "Resident memory of the monitor.",
        stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    add(families, "process_virtual_memory_bytes", "Virtual memory of the monitor.",
        stat->virtual_bytes);
    if (const auto boot = boot_time())
      add(families, "process_start_time_seconds", "Start time of the monitor, since 1970.",
          *boot + stat->start_ticks / ticks);
  }
  add(families, "process_open_fds", "Open file descriptors.", open_files());
  add(families, "process_max_fds", "Limit on open file descriptors.", max_open_files());
  return families;
}

}  // namespace luminance
