// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/elementcore.h"

#include "gst/base/allocation.h"

namespace cudatensor {

void ElementCore::set_property(guint id, const GValue *value) {
  GST_OBJECT_LOCK(element_);
  if (id < kFirstProperty) {
    set_backend_property(keeper_, id, value);
  } else {
    const auto effect = own_.set_property(id - kFirstProperty, value);
    changed_ |= effect.has_value();
    renegotiate_ |= effect == Effect::renegotiates;
  }
  GST_OBJECT_UNLOCK(element_);
}

void ElementCore::get_property(guint id, GValue *value) {
  GST_OBJECT_LOCK(element_);
  if (id < kFirstProperty)
    get_backend_property(keeper_, id, value);
  else
    own_.get_property(id - kFirstProperty, value);
  GST_OBJECT_UNLOCK(element_);
}

ElementCore::Changes ElementCore::latch() {
  GST_OBJECT_LOCK(element_);
  const Changes changes = {changed_, renegotiate_};
  if (changed_) own_.latch();
  changed_ = renegotiate_ = false;
  GST_OBJECT_UNLOCK(element_);
  return changes;
}

bool ElementCore::start() {
  GST_OBJECT_LOCK(element_);
  changed_ = true;
  GST_OBJECT_UNLOCK(element_);
  errors_.forget();
  return errors_.guard([&] { keeper_.start(); });
}

bool ElementCore::propose_allocation(GstQuery *query, gsize size) {
  // An answer that upstream can do without is no reason for an error.
  if (!keeper_.has_engine()) return false;
  return !refusal_of(element_, category_, [&] {
    Engine &engine = keeper_.engine();
    const EngineScope scope(engine);
    propose_pool(query, size, engine);
  });
}

bool ElementCore::decide_allocation(GstQuery *query, gsize size) {
  return with_engine([&](Engine &engine) { decide_pool(query, size, engine); });
}

void ElementCore::explain_missing_buffer(gsize size, GstAllocator *allocator) {
  with_engine([&](Engine &engine) { fail_to_allocate(size, engine, allocator); });
  gst_clear_object(&allocator);
}

bool are_possible(GstPad *pad, GstCaps *caps) {
  GstCaps *possible = gst_pad_get_pad_template_caps(pad);
  const bool result = gst_caps_is_subset(caps, possible);
  gst_caps_unref(possible);
  return result;
}

}  // namespace cudatensor
