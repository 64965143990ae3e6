// SPDX-License-Identifier: LGPL-2.1-or-later
// References to GStreamer's objects that a test owns.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudatensor {

struct Unref {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
  void operator()(GstContext *context) const { gst_context_unref(context); }
  void operator()(GstEvent *event) const { gst_event_unref(event); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
  void operator()(GstQuery *query) const { gst_query_unref(query); }
  void operator()(GstElement *element) const { gst_object_unref(element); }
  void operator()(GstBufferPool *pool) const { gst_object_unref(pool); }
  void operator()(GstBus *bus) const { gst_object_unref(bus); }
  void operator()(GstPad *pad) const { gst_object_unref(pad); }
};

template <class T>
using Ref = std::unique_ptr<T, Unref>;

using BufferRef = Ref<GstBuffer>;
using CapsRef = Ref<GstCaps>;
using ElementRef = Ref<GstElement>;
using EventRef = Ref<GstEvent>;
using MessageRef = Ref<GstMessage>;
using PadRef = Ref<GstPad>;
using QueryRef = Ref<GstQuery>;

}  // namespace cudatensor
