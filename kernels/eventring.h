// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <utility>
#include <vector>

#include "kernels/device.h"

namespace cudatensor {

/// A queue of values, each of which queued work uses until an event is complete. The work is queued
/// in order: if one event is not complete, no later one is.
template <class T>
class EventRing {
 public:
  explicit EventRing(Device &device) : device_(device) {}

  /// Calls `release` with the values whose work is complete.
  template <class Release>
  void release_done(const Release &release) {
    while (used_ > 0 && places_[first_].done->passed()) {
      release(places_[first_].value);
      drop_oldest();
    }
  }

  /// Waits for all work, and calls `release` with the values that it used.
  template <class Release>
  void release_all(const Release &release) {
    for (; used_ > 0; drop_oldest()) {
      if (!places_[first_].done->passed()) places_[first_].done->wait();
      release(places_[first_].value);
    }
  }

  /// Returns an existing or new value that no work uses until in_use_until() is called. Waits only
  /// if the device is kMaxPlaces values behind. Values become free only in release_done().
  T &next() {
    if (used_ == places_.size()) make_room();
    return places_[newest()].value;
  }
  /// Declares that the work queued so far on the stream uses the value that next() returned last.
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
  std::vector<Place> places_;  // a ring buffer
  size_t first_ = 0, used_ = 0;
};

}  // namespace cudatensor
