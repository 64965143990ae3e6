// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/transformersclass.h"

namespace cudatensor::modelconfig {
namespace {

using P = ImageProcessor;
constexpr auto kSquare = P::Number::square, kShortest = P::Number::shortest_edge,
               kLongest = P::Number::longest_edge;
constexpr auto kStandard = P::Means::standard, kImageNet = P::Means::imagenet,
               kClip = P::Means::clip;

constexpr P detr(const char *stem) {
  P p = {stem, kShortest, 0, 0, P::bilinear, kImageNet};
  p.pads = p.has_aspect_limit = true;
  return p;
}

constexpr P with_pipeline(P p, P::Pipeline pipeline) {
  p.pipeline = pipeline;
  return p;
}

constexpr P rt_detr(const char *stem) {
  P p = {stem, kSquare, 640, 0, P::bilinear, kImageNet};
  p.normalizes = false;
  return p;
}

constexpr P mobile_vit(const char *stem) {
  P p = {stem, kShortest, 224, 256, P::bilinear};
  p.normalizes = false;
  p.flips = true;
  return p;
}

constexpr P sam(const char *stem) {
  P p = {stem, kLongest, 1024, 0, P::bilinear, kImageNet};
  p.pads = true;
  return p;
}

// The defaults of Transformers 4.
constexpr P kProcessors[] = {
    {"ViT", kSquare, 224, 0, P::bilinear, kStandard},
    {"DeiT", kSquare, 256, 224, P::bicubic, kStandard},
    {"Beit", kSquare, 256, 224, P::bicubic, kStandard},
    {"BEiT", kSquare, 256, 224, P::bicubic, kStandard},
    {"Segformer", kSquare, 512, 0, P::bilinear, kImageNet},
    {"SegFormer", kSquare, 512, 0, P::bilinear, kImageNet},
    {"Siglip", kSquare, 224, 0, P::bicubic, kStandard},
    {"SigLIP", kSquare, 224, 0, P::bicubic, kStandard},
    {"Blip", kSquare, 384, 0, P::bicubic, kClip},
    {"OwlViT", kSquare, 768, 0, P::bicubic, kClip},
    {"DPT", kSquare, 384, 0, P::bicubic, kStandard},
    {"Pvt", kSquare, 224, 0, P::bilinear, kImageNet},
    {"Sam2", kSquare, 1024, 0, P::bilinear, kImageNet},
    rt_detr("RTDetr"),
    rt_detr("RTDetrV2"),
    {"CLIP", kShortest, 224, 224, P::bicubic, kClip},
    {"ChineseCLIP", kShortest, 224, 224, P::bicubic, kClip},
    {"Bit", kShortest, 224, 224, P::bicubic, kClip},
    {"BiT", kShortest, 224, 224, P::bicubic, kClip},
    {"Dinov2", kShortest, 224, 224, P::bicubic, kClip},
    {"DINOv2", kShortest, 224, 224, P::bicubic, kClip},
    {"VideoMAE", kShortest, 224, 224, P::bilinear, kStandard},
    {"MobileNetV1", kShortest, 256, 224, P::bilinear, kStandard},
    {"MobileNetV2", kShortest, 256, 224, P::bilinear, kStandard},
    mobile_vit("MobileViT"),
    with_pipeline({"ConvNext", kShortest, 384, 0, P::bilinear, kStandard}, P::Pipeline::convnext),
    with_pipeline({"ConvNeXT", kShortest, 384, 0, P::bilinear, kStandard}, P::Pipeline::convnext),
    with_pipeline({"Levit", kShortest, 224, 224, P::bicubic, kImageNet}, P::Pipeline::levit),
    with_pipeline({"PoolFormer", kShortest, 224, 224, P::bicubic, kImageNet},
                  P::Pipeline::poolformer),
    detr("Detr"),
    detr("ConditionalDetr"),
    detr("DeformableDetr"),
    detr("GroundingDino"),
    detr("Yolos"),
    sam("Sam"),
};

struct Refused {
  const char *stem, *reason;
};

constexpr const char *kPatches = "it cuts the picture into patches";
constexpr const char *kFloats = "it resizes after rescaling, without rounding to whole samples";
constexpr Refused kRefused[] = {
    {"DINOv3ViT", kFloats},
    {"DepthPro", kFloats},
    {"Owlv2", "it pads the picture to a square and then resizes it with scipy's filters"},
    {"Perceiver", "it crops before it resizes"},
    {"LlavaNext", kPatches},
    {"LlavaOnevision", kPatches},
    {"Siglip2", kPatches},
    {"Qwen2VL", kPatches},
    {"Pix2Struct", kPatches},
    {"LayoutLMv2", "it also reads text"},
    {"VitPose", "it maps boxes with an affine transform"},
    {"VitMatte", "it appends a map to the picture"},
    {"Swin2SR", "it pads to a multiple of a size"},
    {"GLPN", "it rounds the picture's own size down to a multiple of a size"},
};

std::string stem_of(std::string name) {
  for (const char *end : {"ImageProcessorFast", "ImageProcessor", "FeatureExtractor"}) {
    const std::string suffix = end;
    if (name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace

const ImageProcessor *find_image_processor(const std::string &name) {
  const std::string stem = stem_of(name);
  for (const ImageProcessor &p : kProcessors)
    if (stem == p.stem) return &p;
  return nullptr;
}

std::optional<std::string> refusal_of_class(const std::string &name) {
  const std::string stem = stem_of(name);
  for (const Refused &r : kRefused)
    if (stem == r.stem) return r.reason;
  return std::nullopt;
}

}  // namespace cudatensor::modelconfig
