// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that an element cannot use, or only in part, while the stream goes on.
#pragma once

#include <glib.h>

#include <optional>
#include <string>
#include <utility>

#include "gst/util/errors.h"

namespace cudatensor {

/// Calls `body`. Returns the error if it throws one of a single frame; others are not caught.
template <class Body>
std::optional<Error> frame_fault_of(const Body &body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error &error) {
    if (error.code() != Error::Code::frame) throw;
    return error;
  }
}

/// The faults in the frames of one stream, and the element warnings about them. A camera may have
/// a fault in each frame, or in every other one. Only these are reported:
/// - the first one after the start and after new caps
/// - later the first one after a good frame, unless there was a warning in the last ten seconds
class FaultyFrames {
 public:
  /// The stream starts or has new caps.
  void begin() { *this = {}; }
  /// The frame has a fault, which `text` describes with its effect.
  void add(ErrorReporter &errors, const std::string &text);
  /// Called after each frame, good or faulty.
  void end_frame() { in_run_ = std::exchange(faulty_, false); }
  /// The settings have changed: a fault may be another one than before.
  void end_run() { in_run_ = false; }

 private:
  bool faulty_ = false;                 // the current frame
  bool in_run_ = false;                 // the frame before was faulty
  guint64 unreported_ = 0;              // frames since the last warning
  std::optional<gint64> last_warning_;  // monotonic time
};

}  // namespace cudatensor
