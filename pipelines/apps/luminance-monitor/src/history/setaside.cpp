// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/setaside.h"

#include <glib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "history/error.h"

namespace luminance {
namespace {

/// Texts of the schema. The first page may contain all of them.
constexpr const char *kSchema[] = {"min_summary_length", "clipped_high REAL", "incident_open",
                                   "CREATE INDEX event_camera", "incident_picture"};
constexpr size_t kMinTrace = 10;             // bytes; shorter texts may be in a file by chance
constexpr std::streamsize kLook = 16 << 20;  // bytes

bool has_traces(const std::string &path, const std::vector<std::string> &traces) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes(static_cast<size_t>(kLook));
  in.read(bytes.data(), kLook);
  const auto end = bytes.begin() + in.gcount();
  return std::any_of(traces.begin(), traces.end(), [&](const std::string &trace) {
    return std::search(bytes.begin(), end, trace.begin(), trace.end()) != end;
  });
}

std::string text_of(int64_t time) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / 1000);
  g_autofree gchar *text = date != nullptr ? g_date_time_format(date, "%Y-%m-%dT%H%M%SZ") : nullptr;
  return text != nullptr ? text : "at-an-unknown-time";
}

}  // namespace

bool has_traces_of_history(const std::string &file, const std::vector<std::string> &cameras) {
  std::vector<std::string> traces(std::begin(kSchema), std::end(kSchema));
  for (const std::string &camera : cameras)
    if (camera.size() >= kMinTrace) traces.push_back(camera);
  return has_traces(file, traces) || has_traces(file + "-wal", traces);
}

std::string set_aside(const std::string &file, int64_t time) {
  const std::string base = file + ".damaged-" + text_of(time);
  std::string name = base;
  std::error_code error;
  for (int i = 2; std::filesystem::exists(name, error); ++i) name = base + "-" + std::to_string(i);
  // The log is renamed first: beside a new file, SQLite would take it for that file's log.
  for (const char *end : {"-wal", ""})
    if (std::rename((file + end).c_str(), (name + end).c_str()) != 0 && errno != ENOENT)
      throw HistoryError("history " + file +
                         ": is damaged and cannot be set aside: " + std::strerror(errno));
  std::filesystem::remove(file + "-shm", error);
  return name;
}

}  // namespace luminance
