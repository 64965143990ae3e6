// SPDX-License-Identifier: LGPL-2.1-or-later
// Distinguishes a frozen picture from a camera that looks at a still scene. The output of an
// encoder that gets the same frame again and again recurs: every picture with a constant quantizer,
// some key frames with a varying one, or it approaches the input more and more closely. The noise
// of a sensor never recurs: a frame differs from those of ten seconds ago as much as from any
// other.
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
  static constexpr uint64_t kUnknownPosition = ~uint64_t{0};

  /// Pictures less than `min_gap` from each other are not compared: until the next key frame,
  /// encoders skip everything that does not move.
  explicit Stillness(Time min_gap) : min_gap_(min_gap) {}
  void set_min_gap(Time min_gap) { min_gap_ = min_gap; }

  /// Adds the picture of the next frame. `position`: in the video, in nanoseconds, if it is known.
  /// In a video that loops, pictures of the same position do not count as recurring.
  void add(Time time, const Picture &picture, uint64_t position = kUnknownPosition);
  void clear();

  /// Returns how long pictures have been recurring, up to the latest that did; 0 if none did.
  Time length() const { return run_ && run_->is_certain ? run_->latest - run_->since : 0; }
  /// Returns the largest distance, in luma, of pictures that count as the same. It is lower than
  /// the default for a camera with little noise.
  double match_threshold() const { return match_threshold_; }

 private:
  using Where = std::bitset<Blocks::kCount>;
  struct Entry {
    Time time;
    Picture picture;
    uint64_t position;
    unsigned pass;  // number of the pass through the video
  };
  /// A series of pictures that are the same.
  struct Run {
    Time since;                              // time of the first picture
    Time begin;                              // time of the first that recurred
    Time latest;                             // time of the latest that recurred
    Picture reference;                       // one of the pictures
    Where clock = {};                        // blocks that differ nevertheless
    std::optional<Time> differs_since = {};  // since when pictures have been different
    bool is_certain = false;
  };

  static bool is_same_place(const Entry &now, const Entry &before);
  static bool is_in_run(Run &run, const Entry &entry);
  void drop_old(Time now);
  bool recurs(const Entry &now);
  bool is_same(const Blocks &now, const Blocks &before);
  bool begin_run(const Entry &now, const Entry &before);
  void learn(Time now);

  static constexpr double kDefaultThreshold = 0.022, kFar = 3 * kDefaultThreshold;  // luma

  Time min_gap_;
  std::deque<Entry> before_;
  unsigned frames_ = 0, pass_ = 0;
  std::optional<Run> run_;
  // The noise of the camera, as observed.
  double match_threshold_ = kDefaultThreshold;
  std::optional<Time> minute_;  // start of the current minute
  bool was_still_ = false;      // in this minute
  double nearest_ = kFar;       // in this minute: the smallest distance of two pictures
  std::deque<double> minutes_;  // the same for the minutes before
};

}  // namespace luminance
