// SPDX-License-Identifier: LGPL-2.1-or-later
// Restricts what an RTSP camera can make rtspsrc do. By itself, rtspsrc follows redirects, sends
// reports and requests the time anywhere, and allocates the size that a message's header names.
#pragma once

#include <gst/gst.h>

namespace luminance {

/// The status of a redirect that rtspsrc did not follow; the reason phrase is its target.
constexpr guint kRtspRedirect = 305;

/// A message whose header announces more is refused.
constexpr guint kMaxRtspMessage = 32 << 20;  // bytes

/// Call before the first rtspsrc of the process is created. May be called repeatedly.
void guard_rtsp();

/// Restricts one rtspsrc.
void guard_rtsp_source(GstElement *source);

}  // namespace luminance
