// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of an element: on its bus, in the debug log, and through GLib.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "refs.h"

namespace cudatensor {

struct ElementError {
  std::string source;  ///< name of the element
  GQuark domain;
  int code;
  std::string text;

  bool is(GQuark wanted_domain, int wanted_code) const {
    return domain == wanted_domain && code == wanted_code;
  }
};

/// A bus whose messages are read by kind. Messages of other kinds stay queued.
class Messages {
 public:
  Messages() : bus_(gst_bus_new()) {}

  GstBus *bus() const { return bus_.get(); }
  std::vector<ElementError> errors();
  /// Returns the texts of element warnings.
  std::vector<std::string> warnings();
  /// Returns element messages of this name. Waits for the expected number, then some microseconds
  /// for more.
  std::vector<MessageRef> elements(const char *name, size_t expected = 0, gulong patience = 0);
  std::vector<MessageRef> of_type(GstMessageType type);

 private:
  size_t count(const char *name) const;
  bool receive(GstClockTime timeout);

  Ref<GstBus> bus_;
  std::vector<MessageRef> waiting_;
};

/// Collects the warnings that the plugin's categories log while it lives.
class WarningLog {
 public:
  WarningLog();
  ~WarningLog();
  WarningLog(const WarningLog &) = delete;
  WarningLog &operator=(const WarningLog &) = delete;

  /// Returns all warnings, one per line.
  std::string text() const;

 private:
  static void add(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                  const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                  gpointer self);

  mutable std::mutex mutex_;
  std::string text_;
};

/// Catches and counts GObject's messages about refused values: warnings, and since GLib 2.84
/// criticals, which must not end the process here.
class GObjectWarnings {
 public:
  GObjectWarnings();
  ~GObjectWarnings();
  GObjectWarnings(const GObjectWarnings &) = delete;
  GObjectWarnings &operator=(const GObjectWarnings &) = delete;

  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
  GLogLevelFlags fatal_;
  guint handler_;
};

}  // namespace cudatensor
