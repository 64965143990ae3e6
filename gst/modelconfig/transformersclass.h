// SPDX-License-Identifier: LGPL-2.1-or-later
// The image and video processors of Transformers that the properties can reproduce: their defaults,
// and the keys that they read in addition to those that all classes read.
#pragma once

#include <string>

namespace cudatensor::modelconfig {

/// A class of Transformers. Its members are the defaults of Transformers 5, which keys that a file
/// leaves out have. A test compares each class with Transformers itself.
struct ImageProcessor {
  enum class Kind { image, video };
  enum class Means { none, standard, imagenet, clip, one };
  /// How the size of the resized picture follows from `size` and `crop_size`.
  enum class Pipeline { plain, convnext, levit, poolformer, sam, vjepa2, rounded };
  /// Whether 1 is subtracted after rescaling: if the file's key `offset` is not false, or always.
  enum class Offset { never, by_key, always };
  enum Resample { lanczos = 1, bilinear = 2, bicubic = 3 };

  const char *stem;  ///< its name without ImageProcessor or VideoProcessor
  Kind kind = Kind::image;
  Pipeline pipeline = Pipeline::plain;

  int height = 0, width = 0, shortest = 0;  ///< `size`; all 0: depends on the picture, or absent
  bool to_square = true;                    ///< default_to_square: a single number is a square
  int longest_of_number = 0;                ///< limit of the longer edge for a number; 0 = none
  bool takes_shortest = true;               ///< whether `size` may be a shortest edge alone
  bool takes_edges = true;                  ///< whether `size` may be anything but height and width
  bool takes_bounds = true;                 ///< whether `size` may be max_height and max_width
  int crop = 0;                             ///< default of crop_size; 0 = none
  Resample resample = bicubic;
  Means means = Means::none;
  double factor = 1.0 / 255.0;

  bool crops = false, normalizes = true, pads = false, flips = false;  ///< do_…
  // Whether the class can do these steps at all.
  bool can_crop = true, can_normalize = true, can_flip = false;
  Offset offset = Offset::never;

  /// Keys, separated by spaces, that require another tensor unless they are null or false.
  const char *others = "";

  constexpr ImageProcessor in(Pipeline p) const {
    ImageProcessor c = *this;
    c.pipeline = p;
    return c;
  }
  constexpr ImageProcessor size(int h, int w) const {
    ImageProcessor c = *this;
    c.height = h;
    c.width = w;
    return c;
  }
  constexpr ImageProcessor square(int side) const { return size(side, side); }
  constexpr ImageProcessor shortest_edge(int edge) const {
    ImageProcessor c = *this;
    c.shortest = edge;
    c.to_square = false;
    return c;
  }
  /// Makes a single number a shortest edge, although the default of `size` is none.
  constexpr ImageProcessor numbers_are_edges() const {
    ImageProcessor c = *this;
    c.to_square = false;
    return c;
  }
  constexpr ImageProcessor with_crop(int side, bool by_default = true) const {
    ImageProcessor c = *this;
    c.crop = side;
    c.crops = by_default;
    return c;
  }
  constexpr ImageProcessor filter(Resample r) const {
    ImageProcessor c = *this;
    c.resample = r;
    return c;
  }
  constexpr ImageProcessor mean(Means m) const {
    ImageProcessor c = *this;
    c.means = m;
    return c;
  }
  constexpr ImageProcessor rescale(double by) const {
    ImageProcessor c = *this;
    c.factor = by;
    return c;
  }
  constexpr ImageProcessor subtracting_one(Offset when) const {
    ImageProcessor c = *this;
    c.offset = when;
    return c;
  }
  constexpr ImageProcessor unnormalized() const {
    ImageProcessor c = *this;
    c.normalizes = false;
    return c;
  }
  constexpr ImageProcessor never_crops() const {
    ImageProcessor c = *this;
    c.can_crop = false;
    return c;
  }
  constexpr ImageProcessor never_normalizes() const {
    ImageProcessor c = *this;
    c.normalizes = c.can_normalize = false;
    return c;
  }
  constexpr ImageProcessor flipped() const {
    ImageProcessor c = *this;
    c.flips = c.can_flip = true;
    return c;
  }
  constexpr ImageProcessor padded() const {
    ImageProcessor c = *this;
    c.pads = true;
    return c;
  }
  /// Makes a single number a shortest edge, with a limit of the longer edge.
  constexpr ImageProcessor numbers_are_limited(int longest) const {
    ImageProcessor c = numbers_are_edges();
    c.longest_of_number = longest;
    return c;
  }
  constexpr ImageProcessor no_shortest_edge() const {
    ImageProcessor c = *this;
    c.takes_shortest = false;
    return c;
  }
  constexpr ImageProcessor no_bounds() const {
    ImageProcessor c = *this;
    c.takes_bounds = false;
    return c;
  }
  constexpr ImageProcessor no_edges() const {
    ImageProcessor c = *this;
    c.takes_edges = false;
    return c;
  }
  constexpr ImageProcessor refusing(const char *keys) const {
    ImageProcessor c = *this;
    c.others = keys;
    return c;
  }
};

/// Returns the class; null if it is not on the list. The name may end in ImageProcessor,
/// ImageProcessorFast, FeatureExtractor or VideoProcessor.
const ImageProcessor *find_image_processor(const std::string &name);

/// Returns why the properties cannot reproduce the class; empty if that is not known.
std::string refusal_of_class(const std::string &name);

}  // namespace cudatensor::modelconfig
