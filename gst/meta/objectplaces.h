// SPDX-License-Identifier: LGPL-2.1-or-later
// Places in a frame of the objects that were found in a tensor of it. The metas of the objects are
// rounded to pixels of the tensor, which may be many of the frame; the detections meta is not.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <vector>

#include "gst/meta/objectmetas.h"
#include "gst/util/boxmap.h"

namespace cudatensor {

class ObjectPlaces {
 public:
  /// `map` maps the picture to the frame. There are none if the picture has no detections meta.
  ObjectPlaces(GstBuffer *picture, const BoxMap &map);

  /// Returns the place of the first object that has this type and is here in the picture, and was
  /// not taken before.
  std::optional<Box> take(GQuark type, const Box &box);

  /// Returns the objects that are too small to have a place in the picture.
  const std::vector<ObjectMeta> &small() const { return small_; }

 private:
  struct Place {
    GQuark type;
    Box here, there;
    bool is_taken;
  };
  std::vector<Place> places_;
  std::vector<ObjectMeta> small_;
};

}  // namespace cudatensor
