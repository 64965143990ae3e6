// SPDX-License-Identifier: LGPL-2.1-or-later
// The image processors of Transformers: resize by Pillow's filters, crop or pad, rescale, normalize.
#include <algorithm>

#include "gst/modelconfig/readers.h"
#include "gst/modelconfig/transformersclass.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

using Numbers = std::vector<double>;

struct Statistics {
  Numbers mean, std;
};

/// Of Transformers' image_utils.py.
Statistics statistics_of(ImageProcessor::Means means) {
  switch (means) {
    case ImageProcessor::Means::standard: return {{0.5}, {0.5}};
    case ImageProcessor::Means::imagenet: return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
    default: return {{0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}};
  }
}

/// `size`, in one of its forms; 0 = not given.
struct Size {
  Node node;
  int width = 0, height = 0, shortest = 0, longest = 0;
};

class Processor {
 public:
  explicit Processor(const Node &file) : file_(file) {
    const Node type = file.at("image_processor_type").is_present()
                          ? file.at("image_processor_type")
                          : file.at("feature_extractor_type");
    if (!type.is_present()) return;
    name_ = type.text();
    if (const auto reason = refusal_of_class(name_)) type.refuse(*reason);
    known_ = find_image_processor(name_);
  }

  ModelConfig read() {
    check_keys();
    config_.color = Color::rgb;
    read_geometry();
    read_normalization();
    if (flag("do_flip_channel_order", known_ != nullptr && known_->flips)) flip();
    return config_;
  }

 private:
  using Pipeline = ImageProcessor::Pipeline;

  Pipeline pipeline() const { return known_ != nullptr ? known_->pipeline : Pipeline::plain; }
  bool flag(const char *key, bool fallback) const { return file_.at(key).boolean(fallback); }

  /// Where the file leaves out what classes do differently.
  const ImageProcessor &defaults(const Node &absent) const {
    if (known_ != nullptr) return *known_;
    absent.refuse(name_.empty() ? "and the file names no image_processor_type"
                                : "and the defaults of " + name_ + " are not known");
  }

  void check_keys() const;
  void read_geometry();
  Size read_size() const;
  void set_number(Size &size, int number) const;
  Method read_resample() const;
  void stretch(int width, int height);
  void crop_after(const Size &size);
  void crop(int shortest, int width, int height);
  void convnext(const Size &size);
  void pad(const Size &size);
  bool crops() const;
  std::pair<int, int> crop_size() const;
  double crop_fraction(double fallback) const;
  void read_normalization();
  bool normalizes() const;
  Numbers list(const char *key, bool is_mean) const;
  void flip();

  Node file_;
  std::string name_;  // of the class
  const ImageProcessor *known_ = nullptr;
  ModelConfig config_;
};

/// Keys of single classes that change the picture.
void Processor::check_keys() const {
  if (flag("keep_aspect_ratio", false))
    file_.at("keep_aspect_ratio").refuse("no resize-mode has such sizes");
  for (const char *key :
       {"do_thumbnail", "do_align_long_axis", "do_color_quantize", "do_grayscale",
        "do_image_splitting", "do_split_image", "do_pan_and_scan", "do_affine_transform",
        "crop_to_patches", "rescale_offset", "include_top", "offset"})
    if (flag(key, false)) file_.at(key).refuse("no property does this");
  for (const char *key : {"size_divisor", "size_divisibility", "min_pixels", "max_pixels",
                          "max_size", "image_grid_pinpoints"}) {
    const Node node = file_.at(key);
    const bool none = node.is_number() && node.number() == 1.0;
    if (node.is_present() && !none) node.refuse("no property does this");
  }
}

/// A single number.
void Processor::set_number(Size &size, int number) const {
  if (known_ == nullptr)
    size.node.refuse(
        "a single number, and " +
        (name_.empty() ? "the file names no image_processor_type" : name_ + " is unknown") +
        ": write shortest_edge, or height and width");
  switch (known_->number) {
    case ImageProcessor::Number::square: size.width = size.height = number; break;
    case ImageProcessor::Number::shortest_edge:
      if (known_->has_aspect_limit)
        size.node.refuse("a shortest edge in " + name_ +
                         ", whose tensors have other sizes for other pictures");
      size.shortest = number;
      break;
    case ImageProcessor::Number::longest_edge: size.longest = number; break;
  }
}

Size Processor::read_size() const {
  Size size = {file_.at("size")};
  const Node &node = size.node;
  if (!node.is_present()) {
    const int number = defaults(node).size;
    if (number == 0) node.refuse("and " + name_ + " has no size of its own");
    set_number(size, number);
  } else if (node.is_number()) {
    set_number(size, node.integer(1, kMaxImageSize));
  } else if (node.is_list() && node.list()->size() == 2) {
    size.height = Node(&(*node.list())[0], node.key()).integer(1, kMaxImageSize);
    size.width = Node(&(*node.list())[1], node.key()).integer(1, kMaxImageSize);
  } else if (node.is_map()) {
    const auto edge = [&](const char *key) {
      const Node side = node.at(key);
      return side.is_present() ? side.integer(1, kMaxImageSize) : 0;
    };
    size.height = edge("height");
    size.width = edge("width");
    size.shortest = edge("shortest_edge");
    size.longest = edge("longest_edge");
    const bool sized = size.height > 0 && size.width > 0;
    if (!sized && (size.height > 0 || size.width > 0))
      node.refuse("height and width must come together");
    if (sized + (size.shortest > 0) + (size.longest > 0) != 1)
      node.refuse("must be height and width, shortest_edge, or longest_edge with a pad");
  } else {
    node.refuse("must be a number, height and width, or shortest_edge");
  }
  return size;
}

Method Processor::read_resample() const {
  const Node node = file_.at("resample");
  const int code = node.is_present() ? node.integer(0, 5) : defaults(node).resample;
  switch (code) {
    case 0: node.refuse("Pillow's nearest takes other samples than method=nearest");
    case 1: return Method::lanczos;
    case 2: return Method::bilinear;
    case 3: return Method::bicubic;
    case 4: return Method::box;
    default: node.refuse("method has no Hamming filter");
  }
}

bool Processor::crops() const {
  const Node node = file_.at("do_center_crop");
  if (node.is_present()) return node.boolean();
  if (known_ != nullptr) return known_->crop > 0;
  if (file_.at("crop_size").is_present()) node.refuse("and crop_size is there");
  return false;
}

/// Width and height.
std::pair<int, int> Processor::crop_size() const {
  const Node node = file_.at("crop_size");
  if (!node.is_present()) {
    const int side = defaults(node).crop;
    if (side == 0) node.refuse("and " + name_ + " has no crop_size of its own");
    return {side, side};
  }
  if (node.is_number()) {
    const int side = node.integer(1, kMaxImageSize);
    return {side, side};
  }
  if (node.is_list() && node.list()->size() == 2)
    return {Node(&(*node.list())[1], node.key()).integer(1, kMaxImageSize),
            Node(&(*node.list())[0], node.key()).integer(1, kMaxImageSize)};
  if (!node.is_map()) node.refuse("must be a number, or height and width");
  return {node.at("width").integer(1, kMaxImageSize), node.at("height").integer(1, kMaxImageSize)};
}

double Processor::crop_fraction(double fallback) const {
  const Node node = file_.at("crop_pct");
  const double fraction = node.is_present() ? node.number() : fallback;
  if (!(fraction > 0.0 && fraction <= 1.0)) node.refuse("must be above 0, and at most 1");
  return fraction;
}

void Processor::stretch(int width, int height) {
  config_.resize_mode = ResizeMode::stretch;
  config_.width = width;
  config_.height = height;
}

void Processor::crop(int shortest, int width, int height) {
  if (shortest < 1 || shortest > kMaxImageSize)
    file_.at("size").refuse("the shorter edge becomes " + std::to_string(shortest) + " pixels");
  if (std::min(width, height) > shortest)
    file_.at("crop_size")
        .refuse("is larger than the shorter edge of " + std::to_string(shortest) +
                " pixels, and would be padded");
  config_.resize_mode = ResizeMode::transformers;
  config_.shortest_edge = shortest;
  config_.width = width;
  config_.height = height;
}

void Processor::convnext(const Size &size) {
  if (size.shortest == 0) size.node.refuse(name_ + " requires shortest_edge");
  const int side = size.shortest;
  if (side >= 384) return stretch(side, side);
  crop(static_cast<int>(side / crop_fraction(224.0 / 256.0)), side, side);
}

/// The longer edge, and a pad to a square.
void Processor::pad(const Size &size) {
  const Node node = file_.at("pad_size");
  int width = size.longest, height = size.longest;
  if (node.is_map()) {
    width = node.at("width").integer(1, kMaxImageSize);
    height = node.at("height").integer(1, kMaxImageSize);
  } else if (node.is_present()) {
    width = height = node.integer(1, kMaxImageSize);
  } else if (!(known_ != nullptr && known_->number == ImageProcessor::Number::longest_edge &&
               known_->size == size.longest)) {
    size.node.refuse("longest_edge without pad_size");
  }
  if (width != size.longest || height != size.longest)
    node.refuse("must be a square of longest_edge, " + std::to_string(size.longest));
  config_.resize_mode = ResizeMode::top_left;
  config_.width = width;
  config_.height = height;
  config_.pad_normalized = true;
  config_.rule = {SourceRule::Kind::half_up, width, height, 1, size.node.described()};
}

void Processor::crop_after(const Size &size) {
  const auto [width, height] = crop_size();
  const Node node = file_.at("do_center_crop");
  if (size.longest > 0) node.refuse("a crop after longest_edge");
  if (size.shortest == 0) {
    if (width != size.width || height != size.height)
      file_.at("crop_size")
          .refuse("a picture that is stretched to " + std::to_string(size.width) + "x" +
                  std::to_string(size.height) + " and then cropped");
    return stretch(width, height);
  }
  int shortest = size.shortest;
  if (pipeline() == Pipeline::levit) shortest = static_cast<int>((256.0 / 224.0) * shortest);
  if (pipeline() == Pipeline::poolformer)
    shortest = static_cast<int>(shortest / crop_fraction(0.9));
  crop(shortest, width, height);
}

void Processor::read_geometry() {
  const bool cropped = pipeline() != Pipeline::convnext && crops();
  const Node resize = file_.at("do_resize");
  const bool padded = flag("do_pad", known_ != nullptr && known_->pads);
  if (!resize.boolean(true)) {
    if (cropped) resize.refuse("a crop without a resize");
    if (padded && file_.at("pad_size").is_present()) resize.refuse("a pad without a resize");
    return;
  }
  const Size size = read_size();
  config_.method = read_resample();
  config_.antialias = true;
  const Node fraction = file_.at("crop_pct");
  if (pipeline() == Pipeline::convnext) return convnext(size);
  if (fraction.is_present() && (pipeline() != Pipeline::poolformer || !cropped))
    fraction.refuse("is read for ConvNext and PoolFormer with a crop only");
  if (cropped) {
    if (padded && file_.at("pad_size").is_present())
      file_.at("pad_size").refuse("a pad after a crop");
    return crop_after(size);
  }
  if (size.longest > 0) {
    if (!padded) size.node.refuse("longest_edge without do_pad: the tensor's size would change");
    return pad(size);
  }
  if (size.shortest > 0)
    size.node.refuse("shortest_edge without do_center_crop: the tensor's size would change");
  const Node multiple = file_.at("ensure_multiple_of");
  const int unit = multiple.is_present() ? multiple.integer(1, kMaxImageSize) : 1;
  if (size.width % unit != 0 || size.height % unit != 0)
    multiple.refuse("does not divide the size");
  const Node pad_size = file_.at("pad_size");
  if (padded && pad_size.is_present() &&
      !(pad_size.is_map() && pad_size.at("width").integer(1, kMaxImageSize) == size.width &&
        pad_size.at("height").integer(1, kMaxImageSize) == size.height))
    pad_size.refuse("a pad after height and width");
  stretch(size.width, size.height);
}

bool Processor::normalizes() const {
  const Node node = file_.at("do_normalize");
  if (node.is_present()) return node.boolean();
  if (known_ != nullptr) return known_->normalizes;
  if (file_.at("image_mean").is_present() || file_.at("image_std").is_present()) return true;
  defaults(node);
  return false;
}

Numbers Processor::list(const char *key, bool is_mean) const {
  const Node node = file_.at(key);
  if (node.is_present()) {
    const Numbers numbers = node.numbers();
    if (numbers.size() != 1 && numbers.size() != 3)
      node.refuse("must be one number, or one for each of 3 channels");
    if (!is_mean && std::find(numbers.begin(), numbers.end(), 0.0) != numbers.end())
      node.refuse("must not be 0");
    return numbers;
  }
  const Statistics own = statistics_of(defaults(node).means);
  return is_mean ? own.mean : own.std;
}

void Processor::read_normalization() {
  config_.normalization = Normalization::mean_std;
  config_.scale = 1.0;
  if (flag("do_rescale", true)) {
    const Node node = file_.at("rescale_factor");
    config_.scale = node.is_present() ? node.number() : 1.0 / 255.0;
    if (*config_.scale == 0.0) node.refuse("must not be 0");
  }
  const bool normalized = normalizes();
  config_.mean = normalized ? list("image_mean", true) : Numbers{0.0};
  config_.std = normalized ? list("image_std", false) : Numbers{1.0};
}

/// The channels are swapped after they have been normalized.
void Processor::flip() {
  config_.color = Color::bgr;
  std::reverse(config_.mean->begin(), config_.mean->end());
  std::reverse(config_.std->begin(), config_.std->end());
}

}  // namespace

bool is_transformers(const Node &root) {
  for (const char *key : {"image_processor", "image_processor_type", "feature_extractor_type",
                          "do_resize", "do_rescale", "do_normalize", "image_mean", "crop_size"})
    if (root.at(key).is_present()) return true;
  return false;
}

ModelConfig read_transformers(const Node &root) {
  const Node nested = root.at("image_processor");
  if (nested.is_present() && !nested.is_map()) nested.refuse("must be an object");
  return Processor(nested.is_present() ? nested : root).read();
}

}  // namespace cudatensor::modelconfig
