// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/faultyframes.h"

namespace cudatensor {
namespace {

constexpr gint64 kPause = 10 * G_USEC_PER_SEC;

}  // namespace

void FaultyFrames::add(ErrorReporter &errors, const std::string &text) {
  errors.log(text);
  if (std::exchange(faulty_, true)) return;
  const gint64 now = g_get_monotonic_time();
  if (last_warning_ && (in_run_ || now - *last_warning_ < kPause)) {
    ++unreported_;
    return;
  }
  last_warning_ = now;
  const guint64 more = std::exchange(unreported_, 0);
  errors.warn_again(more == 0 ? text
                              : text + " (" + std::to_string(more) +
                                    " more frames since the last warning)");
}

}  // namespace cudatensor
