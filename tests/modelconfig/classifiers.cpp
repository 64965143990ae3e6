// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of Transformers and of timm.
#include <gtest/gtest.h>

#include "tests/modelconfig/files.h"

#ifdef HAVE_JSON
namespace cudatensor {
namespace {

class Json : public testing::TestWithParam<Case> {};
TEST_P(Json, GivesTheProperties) { check(GetParam()); }

const char *const kPre = "preprocessor_config.json";

// ImageNet's mean and standard deviation, and the other keys of a normalization.
const std::string kNormalize =
    R"("do_rescale":true,"rescale_factor":0.00392156862745098,"do_normalize":true,)"
    R"("image_mean":[0.485,0.456,0.406],"image_std":[0.229,0.224,0.225])";
const std::string kNormalized =
    "normalization=mean-std scale=0.00392156862745098 mean=\"<0.485,0.456,0.406>\" "
    "std=\"<0.229,0.224,0.225>\"";
const std::string kHalf =
    "normalization=mean-std scale=0.00392156862745098 mean=\"<0.5>\" std=\"<0.5>\"";

/// Returns a file with these keys before the normalization.
std::string with(const std::string &keys) { return "{" + keys + "," + kNormalize + "}"; }

std::string stretched(const char *size, const char *method) {
  return std::string(size) + " resize-mode=stretch method=" + method +
         " antialias=true color=rgb " + kNormalized;
}
std::string cropped(const char *size, int shortest, const char *method) {
  return std::string(size) + " resize-mode=transformers shortest-edge=" + std::to_string(shortest) +
         " method=" + method + " antialias=true color=rgb " + kNormalized;
}

/// Returns properties for a resize to a size that the user sets.
std::string followed(const char *method) {
  return std::string("resize-mode=stretch method=") + method + " antialias=true color=rgb " +
         kNormalized;
}

const std::string kUnknown =
    "!image_processor_type=FooImageProcessor: is not among the classes that were compared with "
    "Transformers";
const std::string kVit = R"("image_processor_type":"ViTImageProcessor",)";
const std::string kClip = R"("image_processor_type":"CLIPImageProcessor",)";

INSTANTIATE_TEST_SUITE_P(
    Sizes, Json,
    testing::Values(
        Case{"height and width", kPre,
             with(R"("do_resize":true,"resample":2,"size":{"height":48,"width":64})"),
             stretched("width=64 height=48", "bilinear")},
        Case{"a list", kPre, with(R"("do_resize":true,"resample":2,"size":[48,64])"),
             stretched("width=64 height=48", "bilinear")},
        Case{"shortest edge", kPre,
             with(R"("do_resize":true,"resample":3,"size":{"shortest_edge":256},)"
                  R"("do_center_crop":true,"crop_size":{"height":224,"width":192})"),
             cropped("width=192 height=224", 256, "bicubic")},
        Case{"a crop as a list", kPre, with(kClip + R"("size":256,"crop_size":[224,192])"),
             cropped("width=192 height=224", 256, "bicubic")},
        Case{"both sides, and a bound of one", kPre,
             with(R"("resample":2,"size":{"height":9,"width":7,"max_height":5})"),
             "!size={height: 9, max_height: 5, width: 7}: must be height and width, "
             "shortest_edge, longest_edge, both edges, or max_height and max_width"},
        Case{"ViT, a number that is the shortest edge", kPre,
             with(kVit + R"("size":384,"default_to_square":false)"),
             "!default_to_square=false: must be the default of ViTImageProcessor"},
        Case{"ViT, a number", kPre, with(kVit + R"("size":384,"resample":2)"),
             stretched("width=384 height=384", "bilinear")},
        Case{"ViT, Fast", kPre,
             with(R"("image_processor_type":"ViTImageProcessorFast","size":384)"),
             stretched("width=384 height=384", "bilinear")},
        Case{"ViT, feature extractor", kPre,
             with(R"("feature_extractor_type":"ViTFeatureExtractor","size":384)"),
             stretched("width=384 height=384", "bilinear")},
        Case{"the image processor comes before the feature extractor", kPre,
             with(kVit + R"("feature_extractor_type":"CLIPFeatureExtractor","size":384)"),
             stretched("width=384 height=384", "bilinear")},
        Case{"CLIP, a number", kPre,
             with(kClip + R"("size":224,"crop_size":224,"do_center_crop":true,"resample":3)"),
             cropped("width=224 height=224", 224, "bicubic")},
        Case{"DINOv2", kPre,
             with(R"("image_processor_type":"BitImageProcessor","size":256,"crop_size":224)"),
             cropped("width=224 height=224", 256, "bicubic")},
        Case{"SigLIP, a number", kPre,
             with(R"("image_processor_type":"SiglipImageProcessor","size":384,"resample":3)"),
             followed("bicubic")},
        Case{"SegFormer, a number", kPre,
             with(R"("feature_extractor_type":"SegformerFeatureExtractor","size":512)"),
             stretched("width=512 height=512", "bilinear")},
        Case{"RT-DETR, a number", kPre,
             with(R"("image_processor_type":"RTDetrImageProcessor","size":640)"),
             "!size=640: RTDetrImageProcessor takes no shortest_edge alone"},
        Case{"DETR, height and width", kPre,
             with(R"("image_processor_type":"DetrImageProcessor","do_pad":true,)"
                  R"("size":{"height":640,"width":640})"),
             stretched("width=640 height=640", "bilinear")},
        Case{"DETR, a number", kPre,
             with(R"("feature_extractor_type":"DetrFeatureExtractor","size":800)"),
             followed("bilinear")},
        Case{"DETR, both edges", kPre,
             with(R"("image_processor_type":"DetrImageProcessor","do_pad":true,)"
                  R"("size":{"shortest_edge":800,"longest_edge":1333})"),
             followed("bilinear")},
        Case{"DETR, padded", kPre,
             with(R"("image_processor_type":"DetrImageProcessor",)"
                  R"("pad_size":{"height":1333,"width":1333})"),
             "!pad_size={height: 1333, width: 1333}: padding after the resize is not supported"},
        Case{"BLIP ignores size_divisor", kPre,
             with(R"("image_processor_type":"BlipImageProcessor","size_divisor":32)"),
             stretched("width=384 height=384", "bicubic")},
        Case{"LayoutLMv3, a number", kPre,
             with(R"("feature_extractor_type":"LayoutLMv3FeatureExtractor","size":224,)"
                  R"("apply_ocr":true)"),
             stretched("width=224 height=224", "bilinear")},
        Case{
            "a video's class", kPre,
            with(
                R"("video_processor_type":"LlavaOnevisionVideoProcessor","do_sample_frames":true)"),
            stretched("width=384 height=384", "bicubic")},
        Case{"the image processor comes before the video processor", "processor_config.json",
             R"({"video_processor":{"video_processor_type":"Qwen2VLVideoProcessor"},)"
             R"("image_processor":{"image_processor_type":"ViTImageProcessor",)" +
                 kNormalize + "}}",
             stretched("width=224 height=224", "bilinear")},
        Case{"unknown class, a number", kPre,
             with(R"("image_processor_type":"FooImageProcessor","size":224,"resample":2)"),
             kUnknown},
        Case{"no class, a number", kPre, with(R"("size":224,"resample":2)"),
             "!size=224: a single number is ambiguous, because the file names no "
             "image_processor_type: write shortest_edge, or height and width"},
        Case{"unknown class", kPre,
             with(R"("image_processor_type":"FooImageProcessor","resample":4,)"
                  R"("size":{"height":9,"width":7})"),
             kUnknown},
        Case{"a square that is cropped", kPre,
             with(R"("image_processor_type":"DeiTImageProcessor","size":256,"crop_size":224)"),
             "!crop_size=224: a crop of a picture that is stretched to 256x256 is not supported"},
        Case{"a crop that crops nothing", kPre,
             with(R"("image_processor_type":"BeitImageProcessor","size":224,"crop_size":224)"),
             stretched("width=224 height=224", "bicubic")},
        Case{"no crop", kPre, with(kClip + R"("size":224,"do_center_crop":false)"),
             followed("bicubic")},
        Case{"too large a crop", kPre, with(kClip + R"("size":224,"crop_size":256)"),
             "!crop_size=256: is larger than the shorter edge of 224 pixels, and would be padded"},
        Case{"two kinds of size", kPre,
             with(R"("resample":2,"size":{"shortest_edge":800,"longest_edge":1333})"),
             followed("bilinear")},
        Case{"no resize", kPre, with(R"("do_resize":false)"), "color=rgb " + kNormalized},
        Case{"no resize, but a crop", kPre, with(kClip + R"("do_resize":false)"),
             "!do_resize=false: a crop without a resize is not supported"}));

INSTANTIATE_TEST_SUITE_P(
    Classes, Json,
    testing::Values(
        Case{"ConvNeXt below 384", kPre,
             with(R"("image_processor_type":"ConvNextImageProcessor","size":224,"crop_pct":0.875,)"
                  R"("resample":3)"),
             cropped("width=224 height=224", 256, "bicubic")},
        Case{
            "ConvNeXt, truncated", kPre,
            with(
                R"("feature_extractor_type":"ConvNextFeatureExtractor","size":{"shortest_edge":288},)"
                R"("crop_pct":0.95,"resample":3)"),
            cropped("width=288 height=288", 303, "bicubic")},
        Case{"ConvNeXt without crop_pct", kPre,
             with(R"("image_processor_type":"ConvNextImageProcessorFast","size":224)"),
             cropped("width=224 height=224", 256, "bicubic")},
        Case{"ConvNeXt, all of the picture", kPre,
             with(R"("image_processor_type":"ConvNextImageProcessor","size":224,"crop_pct":1)"),
             cropped("width=224 height=224", 224, "bicubic")},
        Case{"V-JEPA 2, by the crop's height", kPre,
             with(R"("video_processor_type":"VJEPA2VideoProcessor",)"
                  R"("crop_size":{"height":224,"width":192})"),
             cropped("width=192 height=224", 256, "bilinear")},
        Case{"ViViT subtracts 1 before it normalizes", kPre,
             R"({"image_processor_type":"VivitImageProcessor","rescale_factor":0.0078125})",
             "width=224 height=224 resize-mode=transformers shortest-edge=256 method=bilinear "
             "antialias=true color=rgb normalization=mean-std scale=0.0078125 mean=\"<1.5>\" "
             "std=\"<0.5>\""},
        Case{"ViViT without the subtraction", kPre,
             with(R"("image_processor_type":"VivitImageProcessor","offset":false)"),
             cropped("width=224 height=224", 256, "bilinear")},
        Case{"ViViT without the factor", kPre,
             R"({"image_processor_type":"VivitImageProcessor","do_rescale":false})",
             "!offset is absent: requires do_rescale"},
        Case{"ViViT's videos always subtract 1", kPre,
             R"({"video_processor_type":"VivitVideoProcessor","offset":false,)"
             R"("do_normalize":false,"rescale_factor":0.0078125})",
             "width=224 height=224 resize-mode=transformers shortest-edge=256 method=bilinear "
             "antialias=true color=rgb normalization=mean-std scale=0.0078125 mean=\"<1>\" "
             "std=\"<1>\""},
        Case{"frames that are sampled", kPre,
             with(R"("video_processor_type":"TimesformerVideoProcessor","do_sample_frames":true,)"
                  R"("num_frames":8)"),
             cropped("width=224 height=224", 224, "bilinear") + " frames-per-tensor=8"},
        Case{"frames that are not sampled", kPre,
             with(R"("video_processor_type":"TimesformerVideoProcessor","num_frames":8)"),
             cropped("width=224 height=224", 224, "bilinear")},
        Case{"as many frames as the rate gives", kPre,
             with(R"("video_processor_type":"TimesformerVideoProcessor","do_sample_frames":true,)"
                  R"("fps":2)"),
             cropped("width=224 height=224", 224, "bilinear")},
        Case{"too many frames", kPre,
             with(R"("video_processor_type":"TimesformerVideoProcessor","do_sample_frames":true,)"
                  R"("num_frames":1025)"),
             "!num_frames=1025: must be a whole number from 1 to 1024"},
        Case{"frames and a rate", kPre,
             with(R"("video_processor_type":"TimesformerVideoProcessor","do_sample_frames":true,)"
                  R"("num_frames":8,"fps":2)"),
             "!num_frames=8: excludes fps"},
        Case{"frames of a class for pictures", kPre,
             with(kClip + R"("do_sample_frames":true,"num_frames":8)"),
             cropped("width=224 height=224", 224, "bicubic")},
        Case{"ConvNeXt, a crop after the crop", kPre,
             with(R"("image_processor_type":"ConvNextImageProcessor","do_center_crop":true)"),
             "!do_center_crop=true: ConvNextImageProcessor has no such step"},
        Case{"ConvNeXt from 384", kPre,
             with(R"("image_processor_type":"ConvNextImageProcessor","size":384,"crop_pct":0.875)"),
             stretched("width=384 height=384", "bicubic")},
        Case{"crop_pct elsewhere", kPre, with(kVit + R"("size":224,"crop_pct":0.9)"),
             "!crop_pct=0.9: is supported for ConvNext and PoolFormer only"},
        Case{"PoolFormer", kPre,
             with(R"("image_processor_type":"PoolFormerImageProcessor","size":224,"crop_pct":0.9)"),
             cropped("width=224 height=224", 248, "bicubic")},
        Case{"LeViT", kPre, with(R"("image_processor_type":"LevitImageProcessor","size":224)"),
             cropped("width=224 height=224", 256, "bicubic")},
        Case{"MobileViT", kPre,
             R"({"feature_extractor_type":"MobileViTFeatureExtractor","size":288,"crop_size":256})",
             "width=256 height=256 resize-mode=transformers shortest-edge=288 method=bicubic "
             "antialias=true color=bgr normalization=mean-std scale=0.00392156862745098 "
             "mean=\"<0>\" std=\"<1>\""},
        Case{"MobileViT does not normalize", kPre,
             with(R"("image_processor_type":"MobileViTImageProcessor","size":288)"),
             "!do_normalize=true: MobileViTImageProcessor has no such step"},
        Case{"channels swapped after the normalization", kPre,
             with(R"("size":{"height":9,"width":7},"resample":2,"do_flip_channel_order":true)"),
             "width=7 height=9 resize-mode=stretch method=bilinear antialias=true color=bgr "
             "normalization=mean-std scale=0.00392156862745098 mean=\"<0.406,0.456,0.485>\" "
             "std=\"<0.225,0.224,0.229>\""},
        Case{"channels that a class does not swap", kPre,
             with(kVit + R"("do_flip_channel_order":true)"),
             "!do_flip_channel_order=true: ViTImageProcessor has no such step"},
        Case{"a step that no class has", kPre, with(kVit + R"("do_something":true)"),
             "!do_something=true: no property does this"},
        Case{"steps that are off", kPre,
             with(kVit + R"("do_something":false,"do_thumbnail":null,"do_pad":null)"),
             stretched("width=224 height=224", "bilinear")},
        Case{"null is off", kPre,
             "{" + kClip +
                 R"("do_center_crop":null,"do_rescale":null,"do_normalize":null,)"
                 R"("size":{"height":9,"width":7}})",
             "width=7 height=9 resize-mode=stretch method=bicubic antialias=true color=rgb "
             "normalization=mean-std scale=1 mean=\"<0>\" std=\"<1>\""},
        Case{"notes", kPre,
             with(kVit + R"("note":"text","_commit":7,"processor_class":"FooProcessor",)"
                         R"("auto_map":{"a":"b"},"image_seq_length":49)"),
             stretched("width=224 height=224", "bilinear")},
        Case{"notes without a class", kPre,
             with(R"("size":{"height":9,"width":7},"resample":2,"note":1,"_x":true)"),
             stretched("width=7 height=9", "bilinear")},
        Case{"a key of some class without a class", kPre,
             with(R"("size":{"height":9,"width":7},"resample":2,"max_image_tiles":4)"),
             "!max_image_tiles=4: no property does this"},
        Case{"LLaVA pads first", kPre,
             with(R"("image_processor_type":"LlavaImageProcessor","do_pad":true)"),
             "!do_pad=true: no property does this"},
        Case{"tiles", kPre,
             with(R"("image_processor_type":"GotOcr2ImageProcessor","crop_to_patches":true)"),
             "!crop_to_patches=true: no property does this"},
        Case{"SAM", kPre,
             with(R"("image_processor_type":"SamImageProcessor","size":{"longest_edge":1024},)"
                  R"("do_pad":true,"pad_size":{"height":1024,"width":1024},"resample":2)"),
             "width=1024 height=1024 resize-mode=top-left method=bilinear antialias=true "
             "pad-normalized=true color=rgb " +
                 kNormalized},
        Case{"longest edge without a pad", kPre,
             with(R"("resample":2,"size":{"longest_edge":1024})"),
             "!size={longest_edge: 1024}: longest_edge without shortest_edge is not supported"},
        Case{"longest edge with another pad", kPre,
             with(R"("resample":2,"size":{"longest_edge":1024},"do_pad":true,"pad_size":1280)"),
             "!pad_size=1280: must be a square of longest_edge, 1024"},
        Case{"longest edge without pad_size", kPre,
             with(R"("resample":2,"size":{"longest_edge":1024},"do_pad":true)"),
             "!size={longest_edge: 1024}: longest_edge requires pad_size"},
        Case{"a pad after a stretch", kPre,
             with(R"("resample":2,"size":{"height":64,"width":64},"do_pad":true,)"
                  R"("pad_size":{"height":96,"width":64})"),
             "!pad_size={height: 96, width: 64}: padding after the resize is not supported"},
        Case{"keep_aspect_ratio", kPre,
             with(R"("image_processor_type":"DPTImageProcessor","size":384,)"
                  R"("keep_aspect_ratio":true,"ensure_multiple_of":32)"),
             followed("bicubic")},
        Case{
            "DPT, a size that is no multiple", kPre,
            with(
                R"("image_processor_type":"DPTImageProcessor","size":385,"ensure_multiple_of":32)"),
            followed("bicubic")},
        Case{"DPT", kPre,
             with(R"("image_processor_type":"DPTImageProcessor","size":384,)"
                  R"("keep_aspect_ratio":false,"ensure_multiple_of":32,"resample":3)"),
             stretched("width=384 height=384", "bicubic")},
        Case{"a class that cuts patches", kPre,
             with(R"("image_processor_type":"LlavaNextImageProcessor","size":224)"),
             "!image_processor_type=LlavaNextImageProcessor: it cuts the picture into patches"},
        Case{"size_divisor", kPre,
             with(R"("resample":2,"size":{"height":64,"width":64},"size_divisor":32)"),
             "!size_divisor=32: no property does this"},
        Case{"processor_config.json", "processor_config.json",
             R"({"processor_class":"FooProcessor","image_processor":{)" + kVit +
                 R"("size":{"height":64,"width":96},)" + kNormalize + "}}",
             stretched("width=96 height=64", "bilinear")},
        Case{"an error in an inner object", "processor_config.json",
             R"({"image_processor":{)" + kVit + R"("size":{"height":0,"width":96}}})",
             "!image_processor.size.height=0: must be a whole number from 1 to 32767"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, Json,
    testing::Values(
        Case{"defaults of a class", kPre, "{" + kVit + R"("do_resize":true})",
             "width=224 height=224 resize-mode=stretch method=bilinear antialias=true color=rgb " +
                 kHalf},
        Case{"no rescale", kPre,
             "{" + kVit + R"("size":8,"do_rescale":false,"image_mean":[10,20,30],"image_std":2})",
             "width=8 height=8 resize-mode=stretch method=bilinear antialias=true color=rgb "
             "normalization=mean-std scale=1 mean=\"<10,20,30>\" std=\"<2>\""},
        Case{"no normalization", kPre,
             "{" + kVit + R"("size":8,"do_normalize":false,"rescale_factor":0.007843137254901961})",
             "width=8 height=8 resize-mode=stretch method=bilinear antialias=true color=rgb "
             "normalization=mean-std scale=0.00784313725490196 mean=\"<0>\" std=\"<1>\""},
        Case{"neither", kPre, "{" + kVit + R"("size":8,"do_normalize":false,"do_rescale":false})",
             "width=8 height=8 resize-mode=stretch method=bilinear antialias=true color=rgb "
             "normalization=mean-std scale=1 mean=\"<0>\" std=\"<1>\""},
        Case{"every bit of a mean", kPre,
             "{" + kVit +
                 R"("size":8,"image_mean":[0.48145466,0.4578275,0.40821073],)"
                 R"("image_std":[0.26862954,0.26130258,0.27577711]})",
             "width=8 height=8 resize-mode=stretch method=bilinear antialias=true color=rgb "
             "normalization=mean-std scale=0.00392156862745098 "
             "mean=\"<0.48145466,0.4578275,0.40821073>\" "
             "std=\"<0.26862954,0.26130258,0.27577711>\""},
        Case{"Pillow's nearest", kPre, with(kVit + R"("size":8,"resample":0)"),
             "!resample=0: Pillow's nearest takes other samples than method=nearest"},
        Case{"Hamming", kPre, with(kVit + R"("size":8,"resample":5)"),
             "!resample=5: method has no Hamming filter"},
        Case{"Lanczos", kPre, with(kVit + R"("size":8,"resample":1)"),
             stretched("width=8 height=8", "lanczos")},
        Case{"unknown filter", kPre, with(kVit + R"("size":8,"resample":6)"),
             "!resample=6: must be a whole number from 0 to 5"},
        Case{"no filter", kPre, with(R"("size":{"height":8,"width":8})"),
             "!resample is absent: it has no default, because the file names no "
             "image_processor_type"},
        Case{"two means", kPre, "{" + kVit + R"("size":8,"image_mean":[1,2]})",
             "!image_mean=[1, 2]: must be one number, or one for each of 3 channels"},
        Case{"a std of 0", kPre, "{" + kVit + R"("size":8,"image_std":[1,0,1]})",
             "!image_std=[1, 0, 1]: must not be 0"},
        Case{"a factor of 0", kPre, "{" + kVit + R"("size":8,"rescale_factor":0})",
             "!rescale_factor=0: must not be 0"},
        Case{"text for a number", kPre, "{" + kVit + R"("size":8,"rescale_factor":"1/255"})",
             "!rescale_factor=1/255: must be a finite number"},
        Case{"text for a boolean", kPre, "{" + kVit + R"("size":8,"do_normalize":"yes"})",
             "!do_normalize=yes: must be true or false"},
        Case{"a fraction for a size", kPre, "{" + kVit + R"("size":224.5})",
             "!size=224.5: must be a whole number from 1 to 32767"},
        Case{"the last of equal keys counts", kPre, with(kVit + R"("size":8,"size":16)"),
             stretched("width=16 height=16", "bilinear")},
        Case{"unknown keys", kPre,
             with(kVit + R"("size":8,"foo":{"bar":[1,{}]},"do_reduce_labels":true)"),
             stretched("width=8 height=8", "bilinear")}));

const char *const kConfig = "config.json";

std::string timm(const std::string &keys) {
  return R"({"architecture":"resnet50","pretrained_cfg":{)" + keys + "}}";
}

INSTANTIATE_TEST_SUITE_P(
    Timm, Json,
    testing::Values(
        Case{"every key", kConfig,
             timm(R"("input_size":[3,288,288],"interpolation":"bicubic","crop_pct":0.95,)"
                  R"("crop_mode":"center","mean":[0.5,0.5,0.5],"std":[0.25,0.5,1.0])"),
             "width=288 height=288 resize-mode=torchvision shortest-edge=303 method=bicubic "
             "antialias=true color=rgb normalization=mean-std scale=0.00392156862745098 "
             "mean=\"<0.5,0.5,0.5>\" std=\"<0.25,0.5,1>\""},
        Case{"no keys", kConfig, timm(""),
             "width=224 height=224 resize-mode=torchvision shortest-edge=256 method=bilinear "
             "antialias=true color=rgb " +
                 kNormalized},
        Case{"squash", kConfig,
             timm(R"("input_size":[3,96,128],"crop_pct":1.0,"crop_mode":"squash")"),
             "width=128 height=96 resize-mode=stretch method=bilinear antialias=true color=rgb " +
                 kNormalized},
        Case{"squash with a crop", kConfig, timm(R"("crop_pct":0.9,"crop_mode":"squash")"),
             "!pretrained_cfg.crop_pct=0.9: with crop_mode=squash only 1 is possible"},
        Case{"border", kConfig, timm(R"("crop_pct":1,"crop_mode":"border","mean":[0.5,0.5,0.5])"),
             "width=224 height=224 resize-mode=ultralytics method=bilinear antialias=true "
             "pad-value=128 color=rgb normalization=mean-std scale=0.00392156862745098 "
             "mean=\"<0.5,0.5,0.5>\" std=\"<0.229,0.224,0.225>\""},
        Case{"border with unequal means", kConfig, timm(R"("crop_pct":1,"crop_mode":"border")"),
             "!pretrained_cfg.mean is absent: crop_mode=border pads with the mean, which must be "
             "the same for all channels"},
        Case{"no square", kConfig, timm(R"("input_size":[3,224,256])"),
             "!pretrained_cfg.input_size=[3, 224, 256]: must be square with crop_mode=center"},
        Case{"one channel", kConfig, timm(R"("input_size":[1,224,224])"),
             "!pretrained_cfg.input_size=[1, 224, 224]: must be 3 channels, height and width"},
        Case{"nearest", kConfig, timm(R"("interpolation":"nearest")"),
             "!pretrained_cfg.interpolation=nearest: Pillow's nearest takes other samples than "
             "method=nearest"},
        Case{"random", kConfig, timm(R"("interpolation":"random")"),
             "!pretrained_cfg.interpolation=random: method has no such filter"},
        Case{"unknown crop", kConfig, timm(R"("crop_mode":"corner")"),
             "!pretrained_cfg.crop_mode=corner: must be center, squash or border"},
        Case{"a crop above 1", kConfig, timm(R"("crop_pct":1.5)"),
             "!pretrained_cfg.crop_pct=1.5: must be above 0, and at most 1"},
        Case{"another name", "resnet.txt", timm(R"("crop_pct":1)"),
             "width=224 height=224 resize-mode=torchvision shortest-edge=224 method=bilinear "
             "antialias=true color=rgb " +
                 kNormalized},
        Case{"no preprocessing", kConfig, R"({"model_type":"vit"})",
             "!has no preprocessing of Transformers, timm, Ultralytics, GStreamer or DeepStream"}));

}  // namespace
}  // namespace cudatensor
#endif
