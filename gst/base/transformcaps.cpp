// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/transformcaps.h"

#include "gst/caps/memorycaps.h"
#include "gst/util/ref.h"
#include "gst/util/values.h"

namespace cudatensor {

GstCaps *restrict_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                       GstCaps *filter) {
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;
  const Ref<GstCaps> own(caps), wanted(gst_pad_get_pad_template_caps(other));
  Ref<GstCaps> result(gst_caps_intersect_full(own.get(), wanted.get(), GST_CAPS_INTERSECT_FIRST));
  if (filter != nullptr)
    result.reset(gst_caps_intersect_full(filter, result.get(), GST_CAPS_INTERSECT_FIRST));
  return result.release();
}

std::string mismatch_of(GstBaseTransform *trans, GstCaps *in, const std::string &settings) {
  const Ref<GstCaps> given(
      GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, GST_PAD_SINK, in, nullptr));
  const Ref<GstCaps> taken(gst_pad_peer_query_caps(trans->srcpad, nullptr));
  if (gst_caps_can_intersect(given.get(), taken.get())) return "";
  const Ref<GstCaps> named(without_features(given.get()));
  return "downstream accepts " + text_of(taken.get()) + ", but " +
         (settings.empty() ? "" : "with " + settings + " ") + "the element produces " +
         text_of(named.get());
}

}  // namespace cudatensor
