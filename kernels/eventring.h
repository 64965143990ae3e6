// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <utility>
#include <vector>

#include "kernels/device.h"

namespace cudatensor {

/// Values that queued work uses, each until an event passes. The work is queued in order: where one
/// event has not passed, no later one has.
template <class T>
class EventRing {
 public:
  explicit EventRing(Device &device) : device_(device) {}

  /// Calls `release` with the values whose work is done.
  template <class Release>
  void release_done(const Release &release) {
    while (used_ > 0 && places_[first_].done->passed()) {
      release(places_[first_].value);
      drop_oldest();
    }
  }

  /// A value that no work uses, perhaps a new one, until in_use_until() is called. Waits only where
  /// the device is kMaxPlaces values behind. Values become free in release_done() alone.
  T &next() {
    if (used_ == places_.size()) make_room();
    return places_[newest()].value;
  }
  /// Work uses the value that next() returned last until the stream comes here.
  void in_use_until(Stream stream) {
    places_[newest()].done->record(stream);
    ++used_;
  }

 private:
  static constexpr size_t kMaxPlaces = 32;

  struct Place {
    T value;
    std::unique_ptr<Event> done;
  };

  size_t newest() const { return (first_ + used_) % places_.size(); }

  void make_room() {
    if (used_ == kMaxPlaces) {
      places_[first_].done->wait();
      return drop_oldest();
    }
    places_.insert(places_.begin() + first_, Place{T(), device_.make_event()});
    first_ = (first_ + 1) % places_.size();
  }
  void drop_oldest() {
    first_ = (first_ + 1) % places_.size();
    --used_;
  }

  Device &device_;
  std::vector<Place> places_;  // a circle
  size_t first_ = 0, used_ = 0;
};

}  // namespace cudatensor
