// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the files of Transformers' image processors: Pillow's filters, crop or pad, normalization.
#include <algorithm>

#include "gst/modelconfig/readers.h"
#include "gst/modelconfig/transformersfile.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

using Numbers = std::vector<double>;

constexpr int kMaxFrames = 1024;  // of a tensor
constexpr int kSamEdge = 1024, kDetrEdge = 800, kDetrLongest = 1333;

struct Statistics {
  Numbers mean, std;
};

/// Returns the constants of Transformers' image_utils.py.
Statistics statistics_of(ImageProcessor::Means means) {
  switch (means) {
    case ImageProcessor::Means::none: return {};
    case ImageProcessor::Means::standard: return {{0.5}, {0.5}};
    case ImageProcessor::Means::imagenet: return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
    case ImageProcessor::Means::one: return {{1.0}, {1.0}};
    default: return {{0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}};
  }
}

/// The value of `size`, in one of its forms; 0 = not given.
struct Size {
  Node node;
  int width = 0, height = 0, shortest = 0, longest = 0;
  bool bounded = false;  ///< whether max_height and max_width are given

  bool is_fixed() const { return width > 0; }
};

class Processor : private ProcessorFile {
 public:
  explicit Processor(const Node &file) : ProcessorFile(file) {}

  ModelConfig read() {
    check_keys();
    config_.color = Color::rgb;
    read_geometry();
    read_normalization();
    read_frames();
    if (does("do_flip_channel_order", known_ != nullptr && known_->flips,
             known_ == nullptr || known_->can_flip))
      flip();
    return config_;
  }

 private:
  using Pipeline = ImageProcessor::Pipeline;

  Pipeline pipeline() const { return known_ != nullptr ? known_->pipeline : Pipeline::plain; }
  void read_geometry();
  Size read_size() const;
  void set_number(Size &size, int number) const;
  void set_default(Size &size) const;
  void set_edges(Size &size) const;
  Method read_resample() const;
  void stretch(int width, int height);
  void crop_after(const Size &size);
  void crop(int shortest, int width, int height);
  void convnext(const Size &size);
  void vjepa2();
  void pad(const Size &size);
  void sized(const Size &size, bool padded);
  void follow_edges(const Size &size);
  void follow(const Node &node, const std::string &reason);
  bool crops() const;
  std::pair<int, int> crop_size() const;
  double crop_fraction(double fallback) const;
  void read_normalization();
  bool normalizes() const;
  void subtract_one();
  void read_frames();
  Numbers list(const char *key, bool is_mean) const;
  void flip();

  ModelConfig config_;
};

/// Sets the size that a single number stands for.
void Processor::set_number(Size &size, int number) const {
  if (known_ == nullptr)
    size.node.refuse(
        "a single number is ambiguous, because the file names no image_processor_type: write "
        "shortest_edge, or height and width");
  if (pipeline() == Pipeline::sam)
    size.longest = number;
  else if (known_->to_square)
    size.width = size.height = number;
  else
    size.shortest = number;
  const Node to_square = file_.at("default_to_square");
  if (to_square.boolean(known_->to_square) != known_->to_square)
    to_square.refuse("must be the default of " + name_);
}

Size Processor::read_size() const {
  Size size = {file_.at("size")};
  const Node &node = size.node;
  if (!node.is_present()) {
    set_default(size);
  } else if (node.is_number()) {
    set_number(size, node.integer(1, kMaxImageSize));
  } else if (node.is_list() && node.list()->size() == 2) {
    size.height = Node(&(*node.list())[0], node.key()).integer(1, kMaxImageSize);
    size.width = Node(&(*node.list())[1], node.key()).integer(1, kMaxImageSize);
  } else if (node.is_map()) {
    set_edges(size);
  } else {
    node.refuse("must be a number, height and width, or shortest_edge");
  }
  return size;
}

/// Sets the default size of the class.
void Processor::set_default(Size &size) const {
  const ImageProcessor &own = defaults(size.node);
  if (is_null("size")) size.node.refuse("must not be null");
  size.height = own.height;
  size.width = own.width;
  size.shortest = own.shortest;
  if (pipeline() == Pipeline::sam) size.longest = kSamEdge;
  if (size.is_fixed() || size.shortest > 0 || size.longest > 0) return;
  size.shortest = kDetrEdge;
  size.longest = kDetrLongest;
}

/// Reads the size from an object. Transformers accepts no other sets of keys.
void Processor::set_edges(Size &size) const {
  const Node &node = size.node;
  const auto edge = [&](const char *key) {
    const Node side = node.at(key);
    return side.is_present() ? side.integer(1, kMaxImageSize) : 0;
  };
  size.height = edge("height");
  size.width = edge("width");
  size.shortest = edge("shortest_edge");
  size.longest = edge("longest_edge");
  const bool tall = edge("max_height") > 0, wide = edge("max_width") > 0;
  if ((size.height > 0) != (size.width > 0)) node.refuse("height and width must come together");
  size.bounded = tall && wide;
  const bool edges = size.shortest > 0 || size.longest > 0;
  if (tall != wide || size.is_fixed() + edges + size.bounded != 1)
    node.refuse(
        "must be height and width, shortest_edge, longest_edge, both edges, or max_height and "
        "max_width");
}

Method Processor::read_resample() const {
  const Node node = file_.at("resample");
  if (is_null("resample")) node.refuse("must not be null");
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
  if (known_ != nullptr) return does("do_center_crop", known_->crops, known_->can_crop);
  if (node.is_present() || is_null("do_center_crop")) return flag("do_center_crop", false);
  if (file_.at("crop_size").is_present()) node.refuse("must be set, because crop_size is");
  return false;
}

/// Returns width and height of the crop.
std::pair<int, int> Processor::crop_size() const {
  const Node node = file_.at("crop_size");
  if (!node.is_present()) {
    const int side = is_null("crop_size") ? 0 : defaults(node).crop;
    if (side == 0) node.refuse("the crop requires it, and the class has no default");
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
  if (is_null("crop_pct")) node.refuse("must not be null");
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
    file_.at("size").refuse("the shorter edge must become 1 to " + std::to_string(kMaxImageSize) +
                            " pixels, but becomes " + std::to_string(shortest));
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
  if (size.shortest == 0 || size.longest > 0) size.node.refuse(name_ + " requires shortest_edge");
  const int side = size.shortest;
  if (side >= 384) return stretch(side, side);
  crop(static_cast<int>(side / crop_fraction(224.0 / 256.0)), side, side);
}

/// Computes the size of the resize from that of the crop, as V-JEPA 2 does.
void Processor::vjepa2() {
  if (file_.at("crop_size").is_list())
    file_.at("crop_size").refuse("must be a number or an object");
  const auto [width, height] = crop_size();
  const int shortest = static_cast<int>(height * 256 / 224.0);
  if (!crops()) return follow(file_.at("do_center_crop"), "no crop: the aspect ratio is kept");
  crop(shortest, width, height);
}

/// Stretches to a size that is not in the file, because it depends on that of the picture. `reason`
/// explains this in an error.
void Processor::follow(const Node &node, const std::string &reason) {
  config_.resize_mode = ResizeMode::stretch;
  config_.open_size = node.described() + ": " + reason;
}

/// Resizes the longer edge and pads to a square.
void Processor::pad(const Size &size) {
  const Node node = file_.at("pad_size");
  int width = size.longest, height = size.longest;
  if (node.is_map()) {
    width = node.at("width").integer(1, kMaxImageSize);
    height = node.at("height").integer(1, kMaxImageSize);
  } else if (node.is_present()) {
    width = height = node.integer(1, kMaxImageSize);
  } else if (pipeline() == Pipeline::sam) {
    width = height = is_null("pad_size") ? 0 : kSamEdge;
  } else {
    size.node.refuse("longest_edge requires pad_size");
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
  if (size.longest > 0 || size.bounded)
    node.refuse("a crop after longest_edge or max_height and max_width is not supported");
  if (size.shortest == 0) {
    if (width != size.width || height != size.height)
      file_.at("crop_size")
          .refuse("a crop of a picture that is stretched to " + std::to_string(size.width) + "x" +
                  std::to_string(size.height) + " is not supported");
    if (pipeline() == Pipeline::poolformer) size.node.refuse(name_ + " requires shortest_edge");
    return stretch(width, height);
  }
  int shortest = size.shortest;
  if (pipeline() == Pipeline::levit) shortest = static_cast<int>((256.0 / 224.0) * shortest);
  if (pipeline() == Pipeline::poolformer && !is_null("crop_pct"))
    shortest = static_cast<int>(shortest / crop_fraction(0.9));
  crop(shortest, width, height);
}

/// Sets the geometry of a processor without a crop.
void Processor::sized(const Size &size, bool padded) {
  if (pipeline() == Pipeline::poolformer && size.shortest == 0)
    size.node.refuse(name_ + " requires shortest_edge");
  if (size.bounded && known_ != nullptr && !known_->takes_bounds)
    size.node.refuse(name_ + " takes no max_height and max_width");
  const Node pad_size = file_.at("pad_size"), aspect = file_.at("keep_aspect_ratio");
  if (pipeline() == Pipeline::sam || (size.longest > 0 && size.shortest == 0 && padded)) {
    if (size.longest == 0) size.node.refuse(name_ + " requires longest_edge");
    if (padded) return pad(size);
    return follow(size.node, "without do_pad, the aspect ratio is kept");
  }
  if (padded && pad_size.is_present() &&
      !(size.is_fixed() && pad_size.is_map() &&
        pad_size.at("width").integer(1, kMaxImageSize) == size.width &&
        pad_size.at("height").integer(1, kMaxImageSize) == size.height))
    pad_size.refuse("padding after the resize is not supported");
  if (pipeline() == Pipeline::rounded && is_null("size_divisor"))
    file_.at("size_divisor").refuse("must not be null");
  if (!size.is_fixed()) return follow_edges(size);
  if (pipeline() == Pipeline::rounded) return follow(size.node, "sides are rounded");
  if (flag("keep_aspect_ratio", false)) return follow(aspect, "the aspect ratio is kept");
  const Node multiple = file_.at("ensure_multiple_of");
  if (is_null("ensure_multiple_of")) multiple.refuse("must not be null");
  const int unit = multiple.is_present() ? multiple.integer(1, kMaxImageSize) : 1;
  if (size.width % unit != 0 || size.height % unit != 0)
    return follow(multiple, "does not divide the size");
  stretch(size.width, size.height);
}

/// Handles edges whose output size depends on the aspect ratio of the picture.
void Processor::follow_edges(const Size &size) {
  const bool has_limit = known_ != nullptr && known_->longest_of_number > 0;
  const bool limited = size.longest > 0 || !size.node.is_present() ||
                       (size.node.is_number() && (has_limit || file_.at("max_size").is_present()));
  if (size.shortest > 0 && !limited && known_ != nullptr && !known_->takes_shortest)
    size.node.refuse(name_ + " takes no shortest_edge alone");
  if (known_ != nullptr && !known_->takes_edges)
    size.node.refuse(name_ + " requires height and width");
  if (size.longest > 0 && size.shortest == 0)
    size.node.refuse("longest_edge without shortest_edge is not supported");
  follow(size.node, "the aspect ratio is kept");
}

void Processor::read_geometry() {
  const bool cropped = crops();
  const bool padded = flag("do_pad", known_ != nullptr && known_->pads);
  if (!flag("do_resize", true)) {
    const Node resize = file_.at("do_resize");
    if (cropped) resize.refuse("a crop without a resize is not supported");
    if (padded && file_.at("pad_size").is_present())
      resize.refuse("padding without a resize is not supported");
    config_.open_size = resize.described() + ": the size is the picture's";
    return;
  }
  config_.method = read_resample();
  config_.antialias = true;
  const Node fraction = file_.at("crop_pct");
  if (pipeline() != Pipeline::convnext && pipeline() != Pipeline::poolformer &&
      fraction.is_present())
    fraction.refuse("is supported for ConvNext and PoolFormer only");
  if (pipeline() == Pipeline::vjepa2) return vjepa2();
  const Size size = read_size();
  if (pipeline() == Pipeline::convnext) return convnext(size);
  if (!cropped) return sized(size, padded);
  if (padded && file_.at("pad_size").is_present())
    file_.at("pad_size").refuse("padding after a crop is not supported");
  crop_after(size);
}

bool Processor::normalizes() const {
  const Node node = file_.at("do_normalize");
  if (known_ != nullptr) return does("do_normalize", known_->normalizes, known_->can_normalize);
  if (node.is_present() || is_null("do_normalize")) return flag("do_normalize", false);
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
  if (is_null(key)) node.refuse("must not be null");
  if (own.mean.empty()) node.refuse(name_ + " has no default for it");
  return is_mean ? own.mean : own.std;
}

void Processor::read_normalization() {
  config_.normalization = Normalization::mean_std;
  config_.scale = 1.0;
  if (flag("do_rescale", true)) {
    const Node node = file_.at("rescale_factor");
    if (is_null("rescale_factor")) node.refuse("must not be null");
    const double own = known_ != nullptr ? known_->factor : 1.0 / 255.0;
    config_.scale = node.is_present() ? node.number() : own;
    if (*config_.scale == 0.0) node.refuse("must not be 0");
  }
  const bool normalized = normalizes();
  config_.mean = normalized ? list("image_mean", true) : Numbers{0.0};
  config_.std = normalized ? list("image_std", false) : Numbers{1.0};
  subtract_one();
}

/// Adds 1 to the means if the class subtracts 1 before it normalizes.
void Processor::subtract_one() {
  using Offset = ImageProcessor::Offset;
  const Offset offset = known_ != nullptr ? known_->offset : Offset::never;
  const bool rescales = flag("do_rescale", true);
  if (offset == Offset::never || (offset == Offset::always && !rescales)) return;
  if (offset == Offset::by_key && !flag("offset", true)) return;
  if (!rescales) file_.at("offset").refuse("requires do_rescale");
  for (double &mean : *config_.mean) mean += 1.0;
}

/// Reads the number of frames that a class samples from each video.
void Processor::read_frames() {
  const bool is_video = known_ != nullptr && known_->kind == ImageProcessor::Kind::video;
  const Node frames = file_.at("num_frames");
  if (!is_video || !frames.is_present() || !flag("do_sample_frames", false)) return;
  if (file_.at("fps").is_present()) frames.refuse("excludes fps");
  config_.frames = frames.integer(1, kMaxFrames);
}

/// Swaps the channels. Transformers does this after it has normalized them.
void Processor::flip() {
  config_.color = Color::bgr;
  std::reverse(config_.mean->begin(), config_.mean->end());
  std::reverse(config_.std->begin(), config_.std->end());
}

}  // namespace

bool is_transformers(const Node &root) {
  for (const char *key : {"image_processor", "video_processor", "image_processor_type",
                          "feature_extractor_type", "video_processor_type", "do_resize",
                          "do_rescale", "do_normalize", "image_mean", "crop_size"})
    if (root.at(key).is_present()) return true;
  return false;
}

ModelConfig read_transformers(const Node &root) {
  for (const char *key : {"image_processor", "video_processor"}) {
    const Node nested = root.at(key);
    if (!nested.is_present()) continue;
    if (!nested.is_map()) nested.refuse("must be an object");
    return Processor(nested).read();
  }
  return Processor(root).read();
}

}  // namespace cudatensor::modelconfig
