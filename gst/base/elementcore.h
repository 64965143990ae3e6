// SPDX-License-Identifier: LGPL-2.1-or-later
// What every element has, whichever of GStreamer's base classes it is of: properties that count for
// whole frames, the session, errors, and the answers about contexts and pools.
#pragma once

#include "gst/base/backendproperties.h"
#include "gst/util/errors.h"
#include "gst/util/properties.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// What an element's own properties set, by index. Called with the object lock held.
class Configurable {
 public:
  virtual ~Configurable() = default;
  /// Nothing where the property has that value.
  virtual std::optional<Effect> set_property(guint index, const GValue *value) = 0;
  virtual void get_property(guint index, GValue *value) = 0;
  /// Makes the settings of the properties those of the next frame, whole.
  virtual void latch() = 0;
};

/// The settings of a table of properties, twice: as they are set, and as the frame under way sees them.
template <class S>
class LatchedSettings {
 public:
  explicit LatchedSettings(const Properties<S> &table) : table_(table) {}

  // With the object lock held.
  std::optional<Effect> set(guint index, const GValue *value) {
    return table_.set(pending_, index, value);
  }
  void get(guint index, GValue *value) { table_[index].get(pending_, value); }
  void latch() { latched_ = pending_; }
  const S &pending() const { return pending_; }

  /// Of the frame under way; for the streaming thread.
  const S &latched() const { return latched_; }
  /// A copy of the pending ones, for any thread.
  S copy_of_pending(GstElement *element) const {
    return locked(element, [&] { return pending_; });
  }
  /// Of the properties that have such an effect, with the values of `settings`, as "width=640".
  std::string text(const S &settings, Effect effect) const { return table_.text(settings, effect); }

 private:
  const Properties<S> &table_;
  S pending_;  // guarded by the object lock
  S latched_;  // the streaming thread's
};

class ElementCore {
 public:
  /// `release` drops what was made of the session, which is about to go. `own` outlives this.
  ElementCore(GstElement *element, GstDebugCategory *category, Configurable &own,
              std::function<void()> release)
      : element_(element),
        category_(category),
        own_(own),
        errors_(element),
        keeper_(element, category, std::move(release)) {}

  ErrorReporter &errors() { return errors_; }
  SessionKeeper &keeper() { return keeper_; }

  /// By the ids that install_backend_properties() and the element's own from kFirstProperty on have.
  void set_property(guint id, const GValue *value);
  void get_property(guint id, GValue *value);

  struct Changes {
    bool any, renegotiate;
  };
  /// Takes over what properties have changed since the last frame. Only the streaming thread does, so
  /// that a change can never fall between the settings and the caps of a frame.
  Changes latch();

  /// Opens the session; false where it cannot, with the error posted. All properties are latched anew.
  bool start();

  /// Calls `body` with the session, inside its scope; false where it threw, with the error posted.
  template <class Body>
  bool with_session(const Body &body) {
    return errors_.guard([&] {
      Session &session = keeper_.session();
      const SessionScope scope(session);
      body(session);
    });
  }

  /// Pools for buffers of `size` bytes, as propose_pool() and decide_pool() make them.
  bool propose_allocation(GstQuery *query, gsize size);
  bool decide_allocation(GstQuery *query, gsize size);
  /// Posts why there was no buffer of `size` bytes: pools only say that there was none. Takes the
  /// allocator, which may be null.
  void explain_missing_buffer(gsize size, GstAllocator *allocator);

 private:
  GstElement *element_;
  GstDebugCategory *category_;
  Configurable &own_;
  ErrorReporter errors_;
  SessionKeeper keeper_;

  // Guarded by the object lock.
  bool changed_ = true, renegotiate_ = false;
};

/// Caps that the settings do not allow are accepted, to be refused with a cause when they are set.
bool are_possible(GstPad *pad, GstCaps *caps);

}  // namespace cudatensor
