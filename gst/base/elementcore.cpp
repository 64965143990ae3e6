// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/elementcore.h"

#include <utility>

#include "gst/base/allocation.h"
#include "gst/caps/videocaps.h"
#include "gst/util/ref.h"

namespace cudatensor {

void ElementCore::set_property(guint id, const GValue *value) {
  if (id < kFirstProperty) {
    const ObjectLock lock(element_);
    return set_backend_property(session_manager_, id, value);
  }
  const guint index = id - kFirstProperty;
  const Configurable::Change prepared = own_.prepare_change(index, value);
  change([&] { return prepared ? prepared() : own_.set_property(index, value); });
}

void ElementCore::get_property(guint id, GValue *value) {
  const ObjectLock lock(element_);
  if (id < kFirstProperty) return get_backend_property(session_manager_, id, value);
  own_.get_property(id - kFirstProperty, value);
}

ElementCore::Changes ElementCore::latch() {
  const ObjectLock lock(element_);
  if (changed_) own_.latch();
  return {std::exchange(changed_, false), std::exchange(renegotiate_, false)};
}

bool ElementCore::start() {
  locked(element_, [&] { changed_ = true; });
  errors_.forget();
  return errors_.guard([&] { session_manager_.start(); });
}

void ElementCore::drain() {
  if (!session_manager_.has_session()) return;
  with_session([](Session &session) { session.drain(); });
}

bool ElementCore::propose_allocation(GstQuery *query, gsize size) {
  // Upstream can work without a proposed pool, so a failure here is not an element error.
  if (!session_manager_.has_session()) return false;
  return !negotiation_error_of(element_, category_, [&] {
    Session &session = session_manager_.session();
    const SessionScope scope(session);
    propose_pool(query, size, session);
  });
}

bool ElementCore::decide_allocation(GstQuery *query, gsize size, guint held) {
  return with_session([&](Session &session) { decide_pool(query, size, session, held); });
}

void ElementCore::post_allocation_error(gsize size, GstAllocator *allocator) {
  with_session([&](Session &session) { throw_allocation_error(size, session, allocator); });
  gst_clear_object(&allocator);
}

bool match_template(GstPad *pad, GstCaps *caps, GstDebugCategory *category) {
  const Ref<GstCaps> possible(gst_pad_get_pad_template_caps(pad));
  if (gst_caps_is_subset(caps, possible.get())) return true;
  const std::string format = unknown_format(caps, possible.get());
  if (format.empty())
    GST_CAT_WARNING_OBJECT(category, pad, "not negotiated: %" GST_PTR_FORMAT " is not supported",
                           caps);
  else
    GST_CAT_WARNING_OBJECT(category, pad, "not negotiated: video format %s is not supported",
                           format.c_str());
  return false;
}

}  // namespace cudatensor
