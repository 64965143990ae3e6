// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/clipschedule.h"

#include <algorithm>
#include <numeric>

namespace cudatensor {

void ClipSchedule::begin(const ClipShape &shape) {
  shape_ = shape;
  const int64_t tracks = shape.step / std::gcd(shape.step, shape.hop);
  tracks_ = static_cast<size_t>(tracks);
  period_ = tracks * shape.hop;
  count_ = 0;
  track_of_.assign(static_cast<size_t>(shape.step), tracks_);
  begin_.clear();
  for (int64_t clip = 0; clip < tracks; ++clip) {
    track_of_[static_cast<size_t>(clip * shape.hop % shape.step)] = static_cast<size_t>(clip);
    begin_.push_back(clip * shape.hop);
  }
}

std::optional<ClipSchedule::Place> ClipSchedule::next() {
  const int64_t number = count_++;
  const size_t track = track_of_[static_cast<size_t>(number % shape_.step)];
  if (track == tracks_ || number < begin_[track]) return std::nullopt;
  const int64_t frame = (number - begin_[track]) / shape_.step;
  const bool is_last = frame == shape_.frames - 1;
  if (is_last) begin_[track] += period_;
  return Place{track, frame, is_last};
}

size_t ClipSchedule::oldest() const {
  return static_cast<size_t>(std::min_element(begin_.begin(), begin_.end()) - begin_.begin());
}

}  // namespace cudatensor
