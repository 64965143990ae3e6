// SPDX-License-Identifier: LGPL-2.1-or-later
// What the image processors of Transformers do with keys that a file leaves out, and with a single
// number as `size`.
#pragma once

#include <optional>
#include <string>

namespace cudatensor::modelconfig {

struct ImageProcessor {
  enum class Number { square, shortest_edge, longest_edge };
  enum class Pipeline { plain, convnext, levit, poolformer };
  enum class Means { standard, imagenet, clip };
  enum Resample { lanczos = 1, bilinear = 2, bicubic = 3 };

  const char *stem;  ///< of the class, without ImageProcessor…
  Number number;     ///< what a single number is
  int size;          ///< 0: no default
  int crop = 0;      ///< 0: no crop by default
  Resample resample = bicubic;
  Means means = Means::standard;
  Pipeline pipeline = Pipeline::plain;
  bool normalizes = true;
  bool pads = false;
  bool flips = false;
  bool has_aspect_limit = false;  ///< a single number comes with a limit of the longer edge
};

/// Null if the class is unknown. The name may end in ImageProcessor, ImageProcessorFast or
/// FeatureExtractor.
const ImageProcessor *find_image_processor(const std::string &name);

/// Why the class computes something that no properties give; no value if it does not.
std::optional<std::string> refusal_of_class(const std::string &name);

}  // namespace cudatensor::modelconfig
