// SPDX-License-Identifier: LGPL-2.1-or-later
// The files that settings were read from, and whether they have changed since.
#pragma once

#include <gio/gio.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace luminance {

/// Not thread-safe.
class FileWatch {
 public:
  /// What one version of a file has that another has not. All zero: it cannot be found.
  using Version = std::array<int64_t, 7>;

  /// While this exists, the files that settings are read from are gathered, as they were just
  /// before that. In the end they replace those that are watched, also where reading has failed: it
  /// may succeed when the last of them has changed. One at a time.
  class Reading {
   public:
    explicit Reading(FileWatch &watch);
    ~Reading();
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;

   private:
    friend class FileWatch;
    FileWatch &watch_;
    std::map<std::string, Version> files_;
  };
  /// Call before `file` is read. Does nothing if files are not being gathered.
  static void note(const std::string &file);

  /// Call a few times per second. Whether there are other versions of files than those that were
  /// read, and none has changed for a second, so that nobody is still writing them. `now` is
  /// monotonic, in microseconds. A change is reported once.
  bool has_changed(int64_t now);

 private:
  using Monitor = std::unique_ptr<GFileMonitor, decltype(&g_object_unref)>;

  static void on_event(GFileMonitor *, GFile *, GFile *, GFileMonitorEvent, gpointer self);
  void monitor_folders();

  std::map<std::string, Version> known_, latest_;
  std::map<std::string, Monitor> folders_;
  bool is_new_ = false;      // `known_`, whose folders may be others
  bool is_stirred_ = false;  // something happened in a folder
  int64_t looked_ = 0;       // when `latest_` was read
  int64_t changed_ = 0;      // when it changed
};

}  // namespace luminance
