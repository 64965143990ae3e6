// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces each picture of a stream by the frame that it was made from.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/util/errors.h"
#include "gst/util/ref.h"
#include "kernels/orientation.h"

namespace cudatensor {

/// The logic of cudarestore. Only the streaming thread calls push() and handle(); reset() is called
/// while there is none.
class Restorer {
 public:
  Restorer(GstElement *element, GstPad *src) : src_(src), errors_(element) {}

  /// Pushes the frame of a picture. Takes ownership. Reports an element error if the picture does
  /// not carry its frame.
  GstFlowReturn push(GstBuffer *picture);
  /// Handles a serialized event. Takes ownership.
  gboolean handle(GstEvent *event);
  void reset();

 private:
  Ref<GstBuffer> restore(Ref<GstBuffer> picture, Ref<GstCaps> &caps);
  void set_caps(GstCaps *caps);
  void send_held();
  void hold(GstEvent *event);
  void drop_held(GstEventType type);

  GstPad *src_;
  ErrorReporter errors_;
  Ref<GstCaps> caps_;                     // the caps of the frames; null before the first frame
  std::optional<Direction> orientation_;  // in the tags of the last frame
  // Sticky events that follow the caps, received before these are known, and tags with an
  // orientation, which is known with the next frame.
  std::vector<Ref<GstEvent>> held_;
};

}  // namespace cudatensor
