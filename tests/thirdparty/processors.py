# SPDX-License-Identifier: LGPL-2.1-or-later
"""Settings of Transformers' image processors, by the names of their classes."""
import importlib

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
MODULES = {"ConvNext": "convnext", "Siglip": "siglip", "RTDetr": "rt_detr", "OwlViT": "owlvit",
           "MobileNetV1": "mobilenet_v1", "MobileNetV2": "mobilenet_v2", "MobileViT": "mobilevit",
           "ChineseCLIP": "chinese_clip", "PoolFormer": "poolformer", "SuperPoint": "superpoint",
           "VideoMAE": "videomae", "DeformableDetr": "deformable_detr", "ZoeDepth": "zoedepth",
           "Swin2SR": "swin2sr", "EfficientNet": "efficientnet", "VitMatte": "vitmatte"}


def processor_class(name):
    module = MODULES.get(name, name.lower())
    package = importlib.import_module(f"transformers.models.{module}.image_processing_{module}")
    return getattr(package, f"{name}ImageProcessor")


# Files that Transformers writes for these settings.
ACCEPTED = (
    ("ViT", {}),
    ("ViT", {"size": {"height": 384, "width": 384}, "resample": 3, **IMAGENET}),
    ("ViT", {"do_rescale": False}),
    ("ViT", {"do_normalize": False}),
    ("ViT", {"do_resize": False}),
    ("ViT", {"rescale_factor": 1 / 127.5, "image_mean": [1, 1, 1], "image_std": [1, 1, 1]}),
    ("CLIP", {}),
    ("CLIP", {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}),
    ("CLIP", {"size": {"height": 224, "width": 224}}),
    ("ChineseCLIP", {"size": {"height": 224, "width": 224}}),
    ("ConvNext", {}),
    ("ConvNext", {"size": {"shortest_edge": 224}, **IMAGENET}),
    ("ConvNext", {"size": {"shortest_edge": 256}, "crop_pct": 0.95, "resample": 3}),
    ("Bit", {}),
    ("Bit", {"size": {"shortest_edge": 256}, **IMAGENET}),
    ("Siglip", {}),
    ("Siglip", {"size": {"height": 384, "width": 384}, "resample": 2}),
    ("DeiT", {"do_center_crop": False}),
    ("Beit", {"do_center_crop": False}),
    ("Blip", {}),
    ("OwlViT", {}),
    ("Pvt", {}),
    ("Segformer", {}),
    ("DPT", {}),
    ("DPT", {"size": {"height": 518, "width": 518}, "ensure_multiple_of": 14, **IMAGENET}),
    ("RTDetr", {}),
    ("RTDetr", {"do_normalize": True}),
    ("Sam", {}),
    ("Levit", {}),
    ("PoolFormer", {}),
    ("MobileNetV1", {}),
    ("MobileNetV2", {}),
    ("MobileNetV2", {"size": {"shortest_edge": 300}, "crop_size": {"height": 192, "width": 288},
                     "resample": 1}),
    ("MobileViT", {"size": {"shortest_edge": 288}}),
    ("MobileViT", {"size": {"shortest_edge": 288}, "do_flip_channel_order": False, "resample": 4}),
)

# Files with few keys, or with keys of old releases, which Transformers can read.
HANDWRITTEN = (
    ("ViT", {"feature_extractor_type": "ViTFeatureExtractor", "do_normalize": True,
             "do_resize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
             "resample": 2, "size": 224}),
    ("ViT", {"image_processor_type": "ViTImageProcessor"}),
    ("CLIP", {"feature_extractor_type": "CLIPFeatureExtractor", "crop_size": 224,
              "do_center_crop": True, "do_normalize": True, "do_resize": True, "resample": 3,
              "image_mean": [0.48145466, 0.4578275, 0.40821073],
              "image_std": [0.26862954, 0.26130258, 0.27577711], "size": 224}),
    ("ConvNext", {"feature_extractor_type": "ConvNextFeatureExtractor", "crop_pct": 0.875,
                  "size": 224, "resample": 3}),
    ("Bit", {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 256}}),
    ("Segformer", {"feature_extractor_type": "SegformerFeatureExtractor", "size": 512}),
    ("Segformer", {"image_processor_type": "SegformerImageProcessor", "do_normalize": False}),
    ("RTDetr", {"image_processor_type": "RTDetrImageProcessor"}),
)

# Settings without a corresponding property, and the key that the error names.
REFUSED = (
    ("DeiT", {}, "crop_size"),
    ("Detr", {}, "size"),
    ("DPT", {"size": {"height": 518, "width": 518}, "keep_aspect_ratio": True}, "keep_aspect_ratio"),
    ("ViT", {"resample": 0}, "resample"),
    ("ViT", {"resample": 5}, "resample"),
    ("CLIP", {"do_center_crop": False}, "size"),
    ("MobileViT", {}, "crop_size"),
    ("EfficientNet", {}, "EfficientNet"),
    ("Swin2SR", {}, "Swin2SR"),
)
