// SPDX-License-Identifier: LGPL-2.1-or-later
// What an RTSP camera may make rtspsrc do. It would follow a redirect to any address, send its
// reports to any, and ask any for the time.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// rtspsrc's code for a redirect that it has not followed; the reason is where it leads.
constexpr guint kRtspRedirect = 305;

/// Before the first rtspsrc of the process is made. Any number of times.
void guard_rtsp();

/// For an rtspsrc of its own.
void guard_rtsp_source(GstElement *source);

}  // namespace luminance
