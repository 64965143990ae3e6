// SPDX-License-Identifier: LGPL-2.1-or-later
// Code shared by all elements, independent of their GStreamer base class: properties that take
// effect only between frames, the session, error reporting, and context and allocation queries.
#pragma once

#include "gst/base/backendproperties.h"
#include "gst/util/errors.h"
#include "gst/util/properties.h"
#include "gst/util/ref.h"

namespace cudatensor {

/// Access to an element's own properties by index. The caller holds the object lock, except for
/// prepare_change().
class Configurable {
 public:
  virtual ~Configurable() = default;
  using Change = std::function<std::optional<Effect>()>;
  /// Does the slow part of a change, without the object lock. Returns the function that is called
  /// with the lock in place of set_property(), or null if no part is slow. `value` outlives that
  /// function.
  virtual Change prepare_change(guint, const GValue *) { return nullptr; }
  /// Returns no effect if the property already has that value.
  virtual std::optional<Effect> set_property(guint index, const GValue *value) = 0;
  virtual void get_property(guint index, GValue *value) = 0;
  /// Copies all pending settings at once; the next frame uses them.
  virtual void latch() = 0;
};

/// Two copies of the settings of a property table: the pending values, and the values latched for
/// the current frame.
template <class S>
class LatchedSettings {
 public:
  explicit LatchedSettings(const Properties<S> &table) : table_(table) {}

  // The caller holds the object lock.
  std::optional<Effect> set(guint index, const GValue *value) {
    return table_.set(pending_, index, value);
  }
  void get(guint index, GValue *value) { table_[index].get(pending_, value); }
  void latch() { latched_ = pending_; }
  const S &pending() const { return pending_; }
  S &pending() { return pending_; }

  /// The settings of the current frame. Streaming thread only.
  const S &latched() const { return latched_; }
  /// Returns a copy of the pending settings. Any thread.
  S copy_of_pending(GstElement *element) const {
    return locked(element, [&] { return pending_; });
  }
  /// Lists the properties that have this effect with their values in `settings`, for example
  /// "width=640".
  std::string text(const S &settings, Effect effect) const { return table_.text(settings, effect); }

 private:
  const Properties<S> &table_;
  S pending_;  // guarded by the object lock
  S latched_;  // used only by the streaming thread
};

class ElementCore {
 public:
  /// `release` frees all objects that belong to the session, just before the session is closed.
  /// `own` must outlive this object.
  ElementCore(GstElement *element, GstDebugCategory *category, Configurable &own,
              std::function<void()> release)
      : element_(element),
        category_(category),
        own_(own),
        errors_(element),
        session_manager_(element, category, std::move(release)) {}

  ErrorReporter &errors() { return errors_; }
  SessionManager &session_manager() { return session_manager_; }

  /// `id` is an id of install_backend_properties(), or kFirstProperty plus the index of one of the
  /// element's own properties.
  void set_property(guint id, const GValue *value);
  void get_property(guint id, GValue *value);

  /// Calls `change` with the object lock. It returns the effect of what it has changed, if any, on
  /// the next frame.
  template <class Change>
  void change(const Change &change) {
    const ObjectLock lock(element_);
    const std::optional<Effect> effect = change();
    changed_ |= effect.has_value();
    renegotiate_ |= effect == Effect::renegotiates;
  }

  struct Changes {
    bool any, renegotiate;
  };
  /// Latches the properties that have changed since the last frame. Only the streaming thread calls
  /// this, so that a change cannot separate the settings of a frame from its caps.
  Changes latch();

  /// Opens the session. Posts the error and returns false if that fails. The next latch() latches
  /// all properties.
  bool start();

  /// Calls `body` with the session, inside its scope. If `body` throws, posts the error and returns
  /// false.
  template <class Body>
  bool with_session(const Body &body) {
    return errors_.guard([&] {
      Session &session = session_manager_.session();
      const SessionScope scope(session);
      body(session);
    });
  }

  /// Called for a DRAIN query, with which upstream asks for the buffers of its pool before it frees
  /// them: waits until no queued work reads earlier inputs, and releases them.
  void drain();

  /// Answers allocation queries for buffers of `size` bytes, with propose_pool() and decide_pool().
  /// `held`: outputs that the element keeps.
  bool propose_allocation(GstQuery *query, gsize size);
  bool decide_allocation(GstQuery *query, gsize size, guint held = 0);
  /// Posts the reason why a buffer of `size` bytes could not be allocated; pools report only the
  /// failure. Takes ownership of the allocator, which may be null.
  void post_allocation_error(gsize size, GstAllocator *allocator);

 private:
  GstElement *element_;
  GstDebugCategory *category_;
  Configurable &own_;
  ErrorReporter errors_;
  SessionManager session_manager_;

  // Guarded by the object lock.
  bool changed_ = true, renegotiate_ = false;
};

/// Returns whether the caps match the pad template. If not, logs the caps, or the format if that is
/// the cause. Accepts caps that only the settings rule out; set_caps() rejects those with an error
/// that names the cause.
bool match_template(GstPad *pad, GstCaps *caps, GstDebugCategory *category);

}  // namespace cudatensor
