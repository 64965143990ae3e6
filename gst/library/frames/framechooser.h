// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of frames of a stream.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

namespace cudatensor {

/// Stream time in ns.
using StreamTime = gint64;
constexpr StreamTime kNever = G_MAXINT64;

/// Returns whether a frame at `time` had the same time as the frame before it, which is now at
/// `last`: frames with equal times get increasing ones. Packets that arrive together may share a
/// time, but each frame is shown.
constexpr bool is_of_burst(StreamTime time, StreamTime last) {
  return time <= last && last - time < static_cast<StreamTime>(GST_USECOND);
}

/// A choice of frames. A frame is shown from its timestamp until that of the next frame.
struct FrameSelection {
  enum class Kind {
    all,
    step,       ///< every `step`th frame
    period,     ///< the frames that are shown at each multiple of `period` from the start
    times,      ///< the frames that are shown at `times`
    positions,  ///< the frames with these numbers, for streams without timestamps
    keyframes
  };
  Kind kind = Kind::all;
  guint64 step = 1;
  double period = 0;                ///< ns
  std::vector<StreamTime> times;    ///< ascending
  std::vector<guint64> positions;   ///< ascending, from 0
  std::optional<StreamTime> start;  ///< the first frame is the one that is shown at this time
  StreamTime stop = kNever;         ///< frames from this time on are not wanted

  /// Returns whether each shown frame is wanted.
  bool is_everything() const { return kind == Kind::all && !start && stop == kNever; }
  /// Returns whether the choice depends on when the next frame is shown.
  bool needs_end() const { return kind == Kind::period || kind == Kind::times || start; }
};

/// Returns the numbers of `count` of `n` frames, as NumPy's linspace(0, n - 1, count, dtype=int)
/// does; all frames once if `n` is not greater than `count`.
std::vector<guint64> spread_evenly(guint64 n, guint64 count);

class FrameChooser {
 public:
  explicit FrameChooser(FrameSelection selection);

  /// Returns how many times a frame is wanted that is shown from `begin` until `end`. Called for
  /// the frames in the order in which they are shown; frames before next_time() may be left out.
  guint64 choose(StreamTime begin, StreamTime end, bool is_keyframe);
  /// Returns whether no further frame is wanted if the next one is shown from `begin` on.
  bool is_done(StreamTime begin) const;
  /// Returns the next wanted time. Frames that have ended by then are not wanted.
  StreamTime next_time() const;

  const FrameSelection &selection() const { return selection_; }

 private:
  guint64 choose_times(StreamTime begin, StreamTime end);
  guint64 choose_position();
  StreamTime time_of(guint64 i) const;
  bool has_time(guint64 i) const;

  FrameSelection selection_;
  std::optional<StreamTime> origin_;  // the start of the first period
  guint64 next_ = 0;                  // index of the next time or position
  guint64 position_ = 0;              // number of the next frame
};

}  // namespace cudatensor
