// SPDX-License-Identifier: LGPL-2.1-or-later
// Coded video in whole pictures.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// New caps: of the codecs that may come in parts only as whole pictures, others as they are.
GstCaps *in_whole_pictures(GstCaps *caps);

}  // namespace cudatensor
