// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns errors of GStreamer into messages for operators of cameras.
#pragma once

#include <gst/gst.h>

#include <string>

#include "settings/settings.h"

namespace luminance {

struct Failure {
  std::string text;       // one line
  bool is_vague = false;  // the connection failed for an unknown reason
  bool is_redirect = false;
  std::string location;  // target of an RTSP redirect
};

/// `has_user`: the camera has a user configured.
Failure failure_of(GstMessage *message, bool has_user);

/// Returns the error for an HTTP or RTSP status that is no success. `what`: the thing that was
/// requested, such as "stream".
std::string text_of_status(long code, const std::string &reason, bool has_user, const char *what);

std::string no_answer_within(double seconds);

}  // namespace luminance
