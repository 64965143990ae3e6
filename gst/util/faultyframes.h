// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that an element can use only in part or not at all, while the stream goes on.
#pragma once

#include <glib.h>

#include <optional>
#include <string>
#include <utility>

#include "gst/util/errors.h"

namespace cudatensor {

/// Calls `body`. Returns the error if it throws an Error::frame; does not catch others.
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

/// Counts the faulty frames of one stream and posts element warnings about them. A camera may have
/// a fault in each frame, or in every other one. Only these are reported:
/// - the first one after the start and after new caps
/// - later the first one after a good frame, unless there was a warning in the last ten seconds
class FaultyFrames {
 public:
  /// Must be called when the stream starts or has new caps.
  void begin() { *this = {}; }
  /// Reports a fault of the current frame. `text` describes the fault and its effect.
  void add(ErrorReporter &errors, const std::string &text);
  /// Must be called after each frame, good or faulty.
  void end_frame() { in_run_ = std::exchange(faulty_, false); }
  /// Must be called when settings have changed, because the next fault may be a new one.
  void end_run() { in_run_ = false; }

 private:
  bool faulty_ = false;                 // whether the current frame is faulty
  bool in_run_ = false;                 // whether the previous frame was faulty
  guint64 unreported_ = 0;              // faulty frames since the last warning
  std::optional<gint64> last_warning_;  // monotonic time
};

}  // namespace cudatensor
