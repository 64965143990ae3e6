// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/transformersclass.h"

#include <algorithm>
#include <cstring>

namespace cudatensor::modelconfig {
namespace {

using P = ImageProcessor;
constexpr auto kStandard = P::Means::standard, kImageNet = P::Means::imagenet,
               kClip = P::Means::clip;

constexpr P image(const char *stem) { return {stem}; }
constexpr P video(const char *stem) { return {stem, P::Kind::video}; }

/// Makes a class that resizes the shorter side to 800 and limits the longer one to 1333.
constexpr P detr(const char *stem) {
  return image(stem)
      .filter(P::bilinear)
      .mean(kImageNet)
      .numbers_are_limited(1333)
      .no_shortest_edge()
      .never_crops()
      .padded();
}

/// Makes a class that resizes likewise, and then up to a multiple of a size.
constexpr P rounded(const char *stem) {
  return image(stem)
      .in(P::Pipeline::rounded)
      .filter(P::bilinear)
      .mean(kImageNet)
      .numbers_are_edges()
      .no_shortest_edge()
      .never_crops();
}

constexpr P dpt(const char *stem) {
  return image(stem).square(384).mean(kStandard).never_crops().no_edges().refusing("do_pad");
}

constexpr P clip(const char *stem) {
  return image(stem).shortest_edge(224).with_crop(224).mean(kClip);
}

/// Makes a class that scales samples to -1..1 before it normalizes them.
constexpr P vivit(P c, P::Offset offset) {
  return c.shortest_edge(256)
      .with_crop(224)
      .filter(P::bilinear)
      .mean(kStandard)
      .rescale(1.0 / 127.5)
      .subtracting_one(offset);
}

constexpr P tiles(const char *stem) {
  return image(stem).square(384).mean(kClip).never_crops().refusing("crop_to_patches");
}

// Comments after a class are the defaults of releases before 5, if they differ.
constexpr P kProcessors[] = {
    image("Beit").square(224).with_crop(224, false).mean(kStandard),  // 256, cropped
    clip("Bit"),
    image("Blip").square(384).mean(kClip),
    image("Chameleon")
        .shortest_edge(512)
        .with_crop(512)
        .filter(P::lanczos)
        .mean(P::Means::one)
        .rescale(0.0078),
    clip("CLIP").refusing("use_square_size"),
    clip("ChineseCLIP"),
    detr("ConditionalDetr"),
    image("ConvNext")
        .in(P::Pipeline::convnext)
        .shortest_edge(384)
        .mean(kStandard)
        .never_crops(),  // bilinear
    detr("DeformableDetr"),
    image("DeiT").square(256).with_crop(224).mean(kStandard),
    detr("Detr"),
    dpt("DPT"),
    image("Flava").square(224).with_crop(224).mean(kClip),
    image("Gemma3")
        .square(224)
        .filter(P::bilinear)
        .mean(kStandard)
        .never_crops()
        .refusing("do_pan_and_scan"),
    tiles("GotOcr2"),
    detr("GroundingDino"),
    image("LayoutLMv3").square(224).filter(P::bilinear).mean(kStandard).never_crops(),
    image("Levit")
        .in(P::Pipeline::levit)
        .shortest_edge(224)
        .with_crop(224)
        .mean(kImageNet)
        .no_bounds(),
    clip("Llava").refusing("do_pad"),
    rounded("Mask2Former"),
    rounded("MaskFormer"),
    image("MobileNetV1").shortest_edge(256).with_crop(224).filter(P::bilinear).mean(kStandard),
    image("MobileNetV2").shortest_edge(256).with_crop(224).filter(P::bilinear).mean(kStandard),
    image("MobileViT").shortest_edge(224).with_crop(256).never_normalizes().flipped(),  // bilinear
    rounded("OneFormer"),
    tiles("Ovis2"),
    image("OwlViT").square(768).with_crop(768, false).mean(kClip),
    image("PPChart2Table").square(1024).mean(kClip),
    image("PoolFormer")
        .in(P::Pipeline::poolformer)
        .shortest_edge(224)
        .with_crop(224)
        .mean(kImageNet),
    dpt("PromptDepthAnything"),
    image("Pvt").square(224).mean(kImageNet),  // bilinear
    image("RTDetr")
        .square(640)
        .filter(P::bilinear)
        .mean(kImageNet)
        .unnormalized()
        .numbers_are_edges()
        .no_shortest_edge()
        .never_crops(),
    image("Sam").in(P::Pipeline::sam).filter(P::bilinear).mean(kImageNet).never_crops().padded(),
    image("Sam2").square(1024).filter(P::bilinear).mean(kImageNet).never_crops(),
    image("Sam3").square(1008).filter(P::bilinear).mean(kStandard).never_crops(),
    image("Sapiens2")
        .size(1024, 768)
        .with_crop(224, false)
        .filter(P::bilinear)
        .mean(kImageNet)
        .refusing("do_pad"),
    image("SegGpt").square(448).mean(kImageNet).never_crops(),
    image("Segformer").square(512).filter(P::bilinear).mean(kImageNet).never_crops(),
    image("Siglip").square(224).mean(kStandard).numbers_are_edges(),
    image("SuperPoint")
        .size(480, 640)
        .filter(P::bilinear)
        .numbers_are_edges()
        .never_crops()
        .never_normalizes(),
    image("Tipsv2").square(448).filter(P::bilinear).unnormalized(),
    image("Tipsv2Dpt").square(448).filter(P::bilinear).unnormalized(),
    image("ViT").square(224).filter(P::bilinear).mean(kStandard),
    image("VideoMAE").shortest_edge(224).with_crop(224).filter(P::bilinear).mean(kStandard),
    vivit(image("Vivit").no_bounds(), P::Offset::by_key),
    detr("Yolos").in(P::Pipeline::rounded),

    video("InstructBlipVideo").square(384).mean(kClip),
    video("InternVL").square(384).mean(kClip),
    video("LlavaNextVideo").shortest_edge(224).with_crop(224).mean(kClip),
    video("LlavaOnevision").square(384).mean(kClip).numbers_are_edges(),
    video("PerceptionLM").square(448).mean(kStandard),
    video("Sam2Video").square(1024).filter(P::bilinear).mean(kImageNet),
    video("Timesformer").shortest_edge(224).with_crop(224).filter(P::bilinear).mean(kImageNet),
    video("VideoLlava").shortest_edge(224).with_crop(224).mean(kClip),
    video("VideoMAE").shortest_edge(224).with_crop(224).filter(P::bilinear).mean(kStandard),
    video("Videomt").square(640).filter(P::bilinear).mean(kImageNet),
    vivit(video("Vivit"), P::Offset::always),
    video("VJEPA2").in(P::Pipeline::vjepa2).with_crop(256).filter(P::bilinear).mean(kImageNet),
};

struct Refused {
  const char *stem, *reason;
};

constexpr const char *kPatches = "it cuts the picture into patches";
constexpr const char *kTiles = "it cuts the picture into tiles";
constexpr const char *kFloats = "it resizes after rescaling, without rounding to whole samples";
constexpr const char *kSquares = "it keeps the aspect ratio and pads to a square";
// The reasons for refusing some classes that are used often. Others are refused without a reason.
constexpr Refused kRefused[] = {
    {"DINOv3ViT", kFloats},
    {"DepthPro", kFloats},
    {"Owlv2", "it pads the picture to a square and then resizes it with scipy's filters"},
    {"Perceiver", "it crops before it resizes"},
    {"LlavaNext", kPatches},
    {"LlavaOnevision", kPatches},
    {"Siglip2", kPatches},
    {"Qwen2VL", kPatches},
    {"Qwen3VL", kPatches},
    {"Pix2Struct", kPatches},
    {"Molmo2", kPatches},
    {"Gemma4", kPatches},
    {"Mllama", kTiles},
    {"Llama4", kTiles},
    {"Phi4Multimodal", kTiles},
    {"PerceptionLM", kTiles},
    {"Idefics3", kTiles},
    {"SmolVLM", kTiles},
    {"Janus", kSquares},
    {"DeepseekVL", kSquares},
    {"Donut", "it resizes twice and pads"},
    {"LayoutLMv2", "it also reads text"},
    {"VitPose", "it maps boxes with an affine transform"},
    {"VitMatte", "it appends a map to the picture"},
    {"Swin2SR", "it pads to a multiple of a size"},
    {"GLPN", "it rounds the picture's own size down to a multiple of a size"},
};

bool ends_with(const std::string &name, const char *end) {
  const size_t length = std::strlen(end);
  return name.size() > length && name.compare(name.size() - length, length, end) == 0;
}

struct Name {
  std::string stem;
  P::Kind kind = P::Kind::image;
};

Name parse(const std::string &name) {
  for (const char *end : {"ImageProcessorFast", "ImageProcessor", "FeatureExtractor"})
    if (ends_with(name, end)) return {name.substr(0, name.size() - std::strlen(end))};
  if (ends_with(name, "VideoProcessor"))
    return {name.substr(0, name.size() - std::strlen("VideoProcessor")), P::Kind::video};
  return {};
}

}  // namespace

const ImageProcessor *find_image_processor(const std::string &name) {
  const Name wanted = parse(name);
  const auto *found = std::find_if(std::begin(kProcessors), std::end(kProcessors), [&](const P &p) {
    return p.kind == wanted.kind && wanted.stem == p.stem;
  });
  return found != std::end(kProcessors) ? found : nullptr;
}

std::string refusal_of_class(const std::string &name) {
  const std::string stem = parse(name).stem;
  for (const Refused &r : kRefused)
    if (stem == r.stem) return r.reason;
  return "";
}

}  // namespace cudatensor::modelconfig
