// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/framechooser.h"

#include <cmath>

namespace cudatensor {

std::vector<guint64> spread_evenly(guint64 n, guint64 count) {
  std::vector<guint64> numbers;
  if (n == 0) return numbers;
  const bool all = count >= n;
  if (all) count = n;
  // The same arithmetic as NumPy's, so that it rounds alike.
  const double step = count > 1 ? static_cast<double>(n - 1) / static_cast<double>(count - 1) : 0.0;
  for (guint64 i = 0; i < count; ++i)
    numbers.push_back(all ? i : static_cast<guint64>(std::floor(static_cast<double>(i) * step)));
  if (count > 1) numbers.back() = n - 1;
  return numbers;
}

FrameChooser::FrameChooser(FrameSelection selection)
    : selection_(std::move(selection)), origin_(selection_.start) {}

bool FrameChooser::has_time(guint64 i) const {
  if (selection_.kind == FrameSelection::Kind::times && i >= selection_.times.size()) return false;
  return time_of(i) < selection_.stop;
}

StreamTime FrameChooser::time_of(guint64 i) const {
  if (selection_.kind == FrameSelection::Kind::times) return selection_.times[i];
  // Multiplied, because the error of a sum would grow.
  return *origin_ + std::llround(static_cast<double>(i) * selection_.period);
}

/// Skips wanted times before `begin`: no frame is shown at them.
guint64 FrameChooser::choose_times(StreamTime begin, StreamTime end) {
  if (!origin_) origin_ = begin;
  if (selection_.kind == FrameSelection::Kind::period && time_of(next_) < begin)
    next_ = static_cast<guint64>(static_cast<double>(begin - *origin_) / selection_.period);
  while (has_time(next_) && time_of(next_) < begin) ++next_;
  guint64 wanted = 0;
  for (; has_time(next_) && time_of(next_) < end; ++next_) ++wanted;
  return wanted;
}

guint64 FrameChooser::choose_position() {
  const guint64 position = position_++;
  if (selection_.kind == FrameSelection::Kind::step) return position % selection_.step == 0 ? 1 : 0;
  const auto &positions = selection_.positions;
  if (next_ >= positions.size() || positions[next_] != position) return 0;
  ++next_;
  return 1;
}

guint64 FrameChooser::choose(StreamTime begin, StreamTime end, bool is_keyframe) {
  if (begin >= selection_.stop || (selection_.start && end <= *selection_.start)) return 0;
  switch (selection_.kind) {
    case FrameSelection::Kind::all: return 1;
    case FrameSelection::Kind::keyframes: return is_keyframe ? 1 : 0;
    case FrameSelection::Kind::step:
    case FrameSelection::Kind::positions: return choose_position();
    case FrameSelection::Kind::period:
    case FrameSelection::Kind::times: return choose_times(begin, end);
  }
  return 0;
}

bool FrameChooser::is_done(StreamTime begin) const {
  if (begin >= selection_.stop) return true;
  switch (selection_.kind) {
    case FrameSelection::Kind::times: return !has_time(next_);
    case FrameSelection::Kind::period: return origin_ && !has_time(next_);
    case FrameSelection::Kind::positions: return next_ >= selection_.positions.size();
    default: return false;
  }
}

StreamTime FrameChooser::next_time() const {
  const bool has_times = selection_.kind == FrameSelection::Kind::times ||
                         (selection_.kind == FrameSelection::Kind::period && origin_);
  if (has_times) return has_time(next_) ? time_of(next_) : kNever;
  return selection_.start.value_or(0);
}

}  // namespace cudatensor
