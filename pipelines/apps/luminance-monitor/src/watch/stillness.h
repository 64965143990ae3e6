// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells a picture that stands from a camera that looks at something still. An encoder that is given
// the same frame over and over comes back to the same pictures: to all of them where its quantizer
// is constant, to some key frames where it is not, or ever closer to what it was given. The noise
// of a sensor never comes back: a frame is as far from those of ten seconds ago as from any other.
#pragma once

#include <bitset>
#include <deque>
#include <memory>
#include <optional>

#include "watch/blocks.h"
#include "watch/time.h"

namespace luminance {

class Stillness {
 public:
  using Picture = std::shared_ptr<const Blocks>;
  static constexpr uint64_t kNowhere = ~uint64_t{0};

  /// Pictures that are less than `apart` from each other may be the same: encoders skip what does
  /// not move until the next key frame.
  explicit Stillness(Time apart) : apart_(apart) {}

  /// The picture of the next frame, and where in its video that is, in nanoseconds; -1: unknown.
  /// Of a video that begins again, the same place is no picture that comes back.
  void add(Time time, const Picture &picture, uint64_t position = kNowhere);
  void clear();

  /// How long pictures have come back, up to the latest that did. 0: they do not.
  Time length() const { return run_ && run_->is_certain ? run_->latest - run_->since : 0; }
  /// How far pictures that are the same may be from each other, in luma. Less than the default
  /// where the camera was seen to have little noise.
  double closeness() const { return closeness_; }

 private:
  using Where = std::bitset<Blocks::kCount>;
  struct Entry {
    Time time;
    Picture picture;
    uint64_t position;
    unsigned pass;  // of its video
  };
  /// Pictures that are the same.
  struct Run {
    Time since;                          // the first of them
    Time begin;                          // the first that came back
    Time latest;                         // that came back
    Picture reference;                   // one of them
    Where clock = {};                    // blocks that differ all the same
    std::optional<Time> elsewhere = {};  // since when pictures are quite others
    bool is_certain = false;
  };

  static bool is_same_place(const Entry &now, const Entry &before);
  static bool stays(Run &run, const Entry &entry);
  void forget(Time now);
  bool comes_back(const Entry &now);
  bool is_same(const Blocks &now, const Blocks &before);
  bool begin_run(const Entry &now, const Entry &before);
  void learn(Time now);

  static constexpr double kClosest = 0.022, kFar = 3 * kClosest;  // luma

  const Time apart_;
  std::deque<Entry> before_;
  unsigned frames_ = 0, pass_ = 0;
  std::optional<Run> run_;
  // What is learned of the camera's noise.
  double closeness_ = kClosest;
  std::optional<Time> minute_;  // that began then
  bool stood_ = false;          // in that minute
  double nearest_ = kFar;       // in that minute: the least distance of two pictures
  std::deque<double> minutes_;  // the same of those before
};

}  // namespace luminance
