// SPDX-License-Identifier: LGPL-2.1-or-later
// An element of this library's own pipelines, whose behavior is a C++ object.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/util/ref.h"

namespace cudatensor {

/// The behavior of an element: how it handles the input of its sink pad. Functions are called on
/// the streaming thread, unless they say otherwise.
class FrameStage {
 public:
  virtual ~FrameStage() = default;

  virtual GstFlowReturn chain(Ref<GstBuffer> buffer) = 0;
  /// Handles an event. The default forwards it.
  virtual bool event(Ref<GstEvent> event);
  /// Answers a query from upstream. The default forwards it.
  virtual bool query(GstQuery *query);
  /// Called by any thread before the pads are deactivated: chain() must return soon.
  virtual void stop() {}

  GstElement *element() const { return element_; }
  GstPad *sink() const { return sink_; }
  GstPad *src() const { return src_; }

 protected:
  GstFlowReturn push(Ref<GstBuffer> buffer) { return gst_pad_push(src_, buffer.release()); }
  bool push(GstEvent *event) { return gst_pad_push_event(src_, event); }

 private:
  friend GstElement *make_stage(std::unique_ptr<FrameStage> stage);

  GstElement *element_ = nullptr;
  GstPad *sink_ = nullptr, *src_ = nullptr;
};

/// Returns a floating element with the pads `sink` and `src`, which owns the stage.
GstElement *make_stage(std::unique_ptr<FrameStage> stage);

/// Returns whether an object is an element that make_stage() has made.
bool is_stage(gpointer object);

/// Returns the stage of an element that make_stage() has made.
FrameStage *stage_of(GstElement *element);

}  // namespace cudatensor
