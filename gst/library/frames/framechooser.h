// SPDX-License-Identifier: LGPL-2.1-or-later
// Which frames of a stream are wanted.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

namespace cudatensor {

/// Stream time in ns.
using StreamTime = gint64;
constexpr StreamTime kNever = G_MAXINT64;

/// Whether a frame has the time of the one before it, at `last`, for frames of one time get increasing
/// ones. Packets that come at once may have one time, but each frame is shown.
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

  /// Whether each frame that is shown is wanted.
  bool is_everything() const { return kind == Kind::all && !start && stop == kNever; }
  /// Whether the choice depends on when the next frame is shown.
  bool needs_end() const { return kind == Kind::period || kind == Kind::times || start; }
};

/// The numbers of `count` frames of `n`, as NumPy's linspace(0, n - 1, count, dtype=int); all
/// frames once if there are not more.
std::vector<guint64> spread_evenly(guint64 n, guint64 count);

class FrameChooser {
 public:
  explicit FrameChooser(FrameSelection selection);

  /// How many times a frame is wanted that is shown from `begin` until `end`. To be called for the
  /// frames in the order in which they are shown; frames may be left out before next_time().
  guint64 choose(StreamTime begin, StreamTime end, bool is_keyframe);
  /// Whether no frame that is shown from `begin` on is wanted, if it follows those before.
  bool is_done(StreamTime begin) const;
  /// No frame that has ended at this time is wanted.
  StreamTime next_time() const;

  const FrameSelection &selection() const { return selection_; }

 private:
  guint64 choose_times(StreamTime begin, StreamTime end);
  guint64 choose_position();
  StreamTime time_of(guint64 i) const;
  bool has_time(guint64 i) const;

  FrameSelection selection_;
  std::optional<StreamTime> origin_;  // of the period
  guint64 next_ = 0;                  // in the times or positions
  guint64 position_ = 0;              // of the next frame
};

}  // namespace cudatensor
