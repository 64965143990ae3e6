// SPDX-License-Identifier: LGPL-2.1-or-later
// Which frames of a stream belong to which clip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cudatensor {

/// Clip k holds the frames k·hop + j·step for j from 0 to frames − 1.
struct ClipShape {
  int64_t frames = 1, step = 1, hop = 1;

  /// Returns the number of frames from a clip's first one to its last one.
  int64_t wait() const { return (frames - 1) * step; }
};

/// Counts the frames of a stream. Clips share frames only if their first frames have the same
/// remainder by `step`: such clips follow each other on a track. A track fills one clip at a time,
/// because all frames that the next one shares with it are in it when it is full.
class ClipSchedule {
 public:
  /// A frame of a clip.
  struct Place {
    size_t track;
    int64_t frame;  ///< its index in the clip
    bool is_last;
  };

  /// Begins with frame 0.
  void begin(const ClipShape &shape);
  const ClipShape &shape() const { return shape_; }
  size_t tracks() const { return tracks_; }

  /// Counts a frame. Returns its place in the clip that its track fills; no value if it is in no
  /// clip. After a clip's last frame, its track goes on with the next clip.
  std::optional<Place> next();
  /// Returns how many frames of its track a clip begins after the one before.
  int64_t shift() const { return period_ / shape_.step; }
  /// Returns the track of the oldest clip that is not full.
  size_t oldest() const;

 private:
  ClipShape shape_;
  size_t tracks_ = 1;
  int64_t period_ = 1;               // frames from clip to clip of a track
  int64_t count_ = 0;                // frames so far
  std::vector<size_t> track_of_{0};  // by remainder; tracks_: none
  std::vector<int64_t> begin_{0};    // the first frame of each track's clip
};

}  // namespace cudatensor
