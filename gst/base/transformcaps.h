// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the two pads of a GstBaseTransform.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <string>

namespace cudatensor {

/// Intersects caps that were made from those of the pad `direction` with the template of the other
/// pad and with `filter`, if it is not null. Takes ownership of `caps`.
GstCaps *restrict_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                       GstCaps *filter);

/// Explains why the element's output for these input caps and downstream's caps do not intersect;
/// empty if they do. `settings` are the properties that affect the output, with their values.
std::string mismatch_of(GstBaseTransform *trans, GstCaps *in, const std::string &settings);

}  // namespace cudatensor
