// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/sourcerule.h"

#include <algorithm>
#include <cmath>

#include "kernels/error.h"

namespace cudatensor {
namespace {

struct Size {
  double width, height;
};

bool operator!=(Size a, Size b) { return a.width != b.width || a.height != b.height; }

std::string text_of(Size s) {
  return std::to_string(std::lround(s.width)) + "x" + std::to_string(std::lround(s.height));
}

/// Rounds to nearest, ties to even, in the default rounding mode.
double half_even(double x) { return std::nearbyint(x); }

/// Returns the size of the picture within the output, as the element computes it.
Size own_size(Size src, Size dst) {
  const double r = std::min(dst.height / src.height, dst.width / src.width);
  return {std::max(1.0, half_even(src.width * r)), std::max(1.0, half_even(src.height * r))};
}

Size wanted_size(SourceRule::Kind kind, Size src, Size dst) {
  if (kind == SourceRule::Kind::half_up) {
    const double r = std::min(dst.height / src.height, dst.width / src.width);
    return {std::floor(src.width * r + 0.5), std::floor(src.height * r + 0.5)};
  }
  const double ratio = std::max(src.height / dst.height, src.width / dst.width);
  return {half_even(src.width / ratio), half_even(src.height / ratio)};
}

[[noreturn]] void refuse(const SourceRule &rule, const std::string &reason) {
  throw Error(Error::Code::settings, rule.origin + ": " + reason);
}

/// Returns the output size of Ultralytics for a picture: it pads only up to a multiple of the
/// stride.
Size least_padded(const SourceRule &rule, Size src) {
  const Size full = {static_cast<double>(rule.width), static_cast<double>(rule.height)};
  const Size content = own_size(src, full);
  return {content.width + std::fmod(full.width - content.width, rule.stride),
          content.height + std::fmod(full.height - content.height, rule.stride)};
}

}  // namespace

void check_source(const SourceRule &rule, double src_width, double src_height, int dst_width,
                  int dst_height) {
  if (rule.kind == SourceRule::Kind::none) return;
  const Size src = {src_width, src_height};
  const Size dst = {static_cast<double>(dst_width), static_cast<double>(dst_height)};
  if (rule.kind == SourceRule::Kind::least_pads) {
    const Size wanted = least_padded(rule, src);
    if (wanted != dst)
      refuse(rule, "a picture of " + text_of(src) + " requires a tensor of " + text_of(wanted) +
                       " pixels; set width and height to this size, or to another that the model "
                       "takes");
    return;
  }
  const Size own = own_size(src, dst), wanted = wanted_size(rule.kind, src, dst);
  if (wanted != own)
    refuse(rule, "a picture of " + text_of(src) + " becomes " + text_of(wanted) +
                     " pixels, which resize-mode rounds to " + text_of(own));
}

}  // namespace cudatensor
