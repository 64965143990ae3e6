// SPDX-License-Identifier: LGPL-2.1-or-later
// Restricts what an RTSP camera can make rtspsrc do, which would follow redirects, send reports and
// request the time anywhere, and allocate what the head of a message names.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// The status of a redirect that rtspsrc did not follow; the reason phrase is its target.
constexpr guint kRtspRedirect = 305;

/// A longer message is refused by its head.
constexpr guint kMaxRtspMessage = 32 << 20;  // bytes

/// Call before the first rtspsrc of the process is created. May be called repeatedly.
void guard_rtsp();

/// Restricts one rtspsrc.
void guard_rtsp_source(GstElement *source);

}  // namespace luminance
