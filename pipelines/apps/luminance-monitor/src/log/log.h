// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints log lines to the standard output.
#pragma once

#include <string>

#include "watch/monitor.h"

namespace luminance {

/// Returns an untrusted text made safe to print: valid UTF-8, without control characters.
std::string on_one_line(const std::string &text);

/// Logs a line of the program itself, with the time.
void log_line(const std::string &text);

class Log : public Observer {
 public:
  explicit Log(const Clock &clock) : clock_(clock) {}

  void on_change(const Camera &camera, const Change &change) override;
  void on_status(const Camera &camera) override;
  void on_maintenance(const Camera &camera) override;

 private:
  void print(const Camera &camera, const std::string &text) const;

  const Clock &clock_;
};

}  // namespace luminance
