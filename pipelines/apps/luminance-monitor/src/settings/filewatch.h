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
  /// Attributes that differ between two versions of a file. All zero if the file cannot be found.
  using Version = std::array<int64_t, 7>;

  /// While this exists, note() gathers the files that settings are read from, with their versions
  /// just before that. Its destructor makes them the watched files, even if reading has failed: it
  /// may succeed after the last of them has changed. Only one may exist at a time.
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
  /// Call it before `file` is read. Does nothing if no Reading exists.
  static void note(const std::string &file);

  /// Returns whether files have other versions than those that were read, and none has changed for
  /// a second, so that nobody is still writing them. Reports a change once. `now` is monotonic, in
  /// microseconds. Call it a few times per second.
  bool has_changed(int64_t now);

 private:
  using Monitor = std::unique_ptr<GFileMonitor, decltype(&g_object_unref)>;

  static void on_event(GFileMonitor *, GFile *, GFile *, GFileMonitorEvent, gpointer self);
  void monitor_folders();

  std::map<std::string, Version> known_, latest_;
  std::map<std::string, Monitor> folders_;
  bool is_new_ = false;      // `known_` was replaced; its folders may differ
  bool is_stirred_ = false;  // something happened in a folder
  int64_t looked_ = 0;       // when `latest_` was read
  int64_t changed_ = 0;      // when it changed
};

}  // namespace luminance
