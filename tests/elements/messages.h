// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element says: on its bus, in the debug log, and through GLib.
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

/// A bus of its own, read by kind: what is not asked for waits.
class Messages {
 public:
  Messages() : bus_(gst_bus_new()) {}

  GstBus *bus() const { return bus_.get(); }
  std::vector<ElementError> errors();
  /// The texts of element warnings.
  std::vector<std::string> warnings();
  /// Element messages of this name: waits for as many as are expected, then for as many
  /// microseconds more.
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

  /// All of them, one a line.
  std::string text() const;

 private:
  static void add(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                  const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                  gpointer self);

  mutable std::mutex mutex_;
  std::string text_;
};

/// Swallows and counts what GObject says when it refuses a value: a warning, since GLib 2.84 a
/// critical, which must not end the process here.
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
