// SPDX-License-Identifier: LGPL-2.1-or-later
// Base class of the elements that turn their one stream's pictures.
#pragma once

#include "gst/base/direction.h"
#include "gst/base/transformelement.h"

namespace cudatensor {

/// An element with the property video-direction. `Base` is an ElementWithSettings whose settings
/// have a member `direction`.
template <class Base>
class DirectedElement : public Base {
 public:
  using Base::Base;

  std::optional<Effect> set_property(guint index, const GValue *value) override {
    return with_direction([&] { return Base::set_property(index, value); });
  }

  /// Forgets the tags of the stream that has ended.
  void stop() override {
    core_of(this->element()).change([&]() -> std::optional<Effect> {
      forget_tags(this->pending().direction);
      return Effect::next_frame;
    });
  }

 protected:
  /// Whether the caps of the output depend on the size of the picture, by the pending settings.
  virtual bool size_is_open() const { return true; }

  /// Calls `change`, which may change the direction, and returns its effect. If width and height
  /// are exchanged and caps depend on them, that is a new negotiation. The caller holds the object
  /// lock.
  template <class Change>
  std::optional<Effect> with_direction(const Change &change) {
    const bool transposed = this->pending().direction.is_transposed();
    const std::optional<Effect> effect = change();
    const bool exchanged = this->pending().direction.is_transposed() != transposed;
    return exchanged && size_is_open() ? Effect::renegotiates : effect;
  }

  /// Follows the orientation in an event's tags.
  void follow(GstEvent *event) {
    core_of(this->element()).change([&] {
      return with_direction([&] { return follow_event(this->pending().direction, event); });
    });
  }
};

}  // namespace cudatensor
