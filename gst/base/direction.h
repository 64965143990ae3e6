// SPDX-License-Identifier: LGPL-2.1-or-later
// The direction in which a stream's pictures are seen: the property of GstVideoDirection, and the
// tag image-orientation, which its value `auto` follows.
#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>

#include "gst/util/properties.h"
#include "kernels/orientation.h"

namespace cudatensor {

struct DirectionSettings {
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  /// The directions in the latest tags of the stream, and in the latest global ones.
  std::optional<Direction> stream_tag, global_tag;
  std::string stream_id;

  /// Returns the direction in force. Throws Error for `custom`.
  Direction direction() const;
  /// Returns the direction in the tags, if there is one.
  std::optional<Direction> tag() const;
  /// Returns whether the direction in force exchanges width and height.
  bool is_transposed() const;
};

/// Takes the tag or the stream's id from an event. A stream with another id has no tags yet.
/// Returns no effect if the tags stay the same.
std::optional<Effect> follow_event(DirectionSettings &settings, GstEvent *event);

/// Forgets the tags, as at the end of a stream.
void forget_tags(DirectionSettings &settings);

/// Whether an event has tags with an orientation.
bool has_orientation(GstEvent *event);
/// Return the event with an orientation in its tags removed or replaced. Take ownership of `event`.
GstEvent *without_orientation(GstEvent *event);
GstEvent *with_orientation(GstEvent *event, Direction direction);
/// Returns an event of tags with an orientation added if they have none. Takes ownership of `event`.
GstEvent *with_default_orientation(GstEvent *event, Direction direction);

GParamSpec *direction_property();

/// Adds the property to a table. `S` has a member `direction`.
template <class S>
void add_direction_property(Properties<S> &table) {
  table.add(direction_property(), Effect::next_frame,
            [](S &s) -> GstVideoOrientationMethod & { return s.direction.method; });
}

}  // namespace cudatensor
