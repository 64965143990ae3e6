// SPDX-License-Identifier: LGPL-2.1-or-later
// Owning references to GStreamer's objects.
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
