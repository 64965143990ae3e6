// SPDX-License-Identifier: LGPL-2.1-or-later
// What an error of GStreamer says of a camera, in words for whoever looks after it.
#pragma once

#include <gst/gst.h>

#include <string>

#include "settings/settings.h"

namespace luminance {

struct Failure {
  std::string text;       // on one line
  bool is_vague = false;  // the connection failed, nobody knows how
  bool is_redirect = false;
  std::string location;  // of an RTSP redirect
};

/// `has_user`: the camera was given one.
Failure failure_of(GstMessage *message, bool has_user);

std::string no_answer_within(double seconds);

}  // namespace luminance
