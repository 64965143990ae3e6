// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/orientation.h"

namespace cudatensor {
namespace {

/// Mirrors an interval of an axis. Both ends are rounded once; if the length would move the second
/// one, perhaps past the edge of the picture, the length is changed.
Extent mirrored(Extent part, int length) {
  const double begin = length - (part.begin + part.length), end = length - part.begin;
  return {begin, begin + part.length > end ? end - begin : part.length};
}

}  // namespace

Region seen(const Region &region, const ImageDesc &stored, Direction direction) {
  const Orientation o = orientation_of(direction);
  const ImageDesc picture = seen(stored, direction);
  Extent x = {region.x, region.width}, y = {region.y, region.height};
  if (o.transposed) std::swap(x, y);
  if (o.mirrored_x) x = mirrored(x, picture.width);
  if (o.mirrored_y) y = mirrored(y, picture.height);
  return {x.begin, y.begin, x.length, y.length};
}

}  // namespace cudatensor
