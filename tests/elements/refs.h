// SPDX-License-Identifier: LGPL-2.1-or-later
// References to GStreamer's objects that a test owns.
#pragma once

#include "gst/util/ref.h"

namespace cudatensor {

using BufferRef = Ref<GstBuffer>;
using CapsRef = Ref<GstCaps>;
using ElementRef = Ref<GstElement>;
using EventRef = Ref<GstEvent>;
using MessageRef = Ref<GstMessage>;
using PadRef = Ref<GstPad>;
using QueryRef = Ref<GstQuery>;

}  // namespace cudatensor
