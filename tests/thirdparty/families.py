# SPDX-License-Identifier: LGPL-2.1-or-later
"""The preprocessing of networks by their own projects: for each name of the table in
docs/models.md, a function that takes a picture, an array of height, width and RGB, and returns the
tensor without the dimension N.

If the project is not a package, its steps are repeated here with the libraries that it uses.
"""
from types import SimpleNamespace

import cv2
import numpy
import torch
import torchvision
from PIL import Image
from rapidocr_onnxruntime.ch_ppocr_cls import TextClassifier
from rapidocr_onnxruntime.ch_ppocr_det.utils import DetPreProcess
from rapidocr_onnxruntime.ch_ppocr_rec import TextRecognizer
from timm import get_pretrained_cfg
from timm.data import create_transform, resolve_data_config
from torchvision.models import EfficientNet_B0_Weights, ResNet50_Weights
from torchvision.models.detection.transform import GeneralizedRCNNTransform
from torchvision.transforms import functional
from transformers.models.bit.image_processing_bit import BitImageProcessor
from transformers.models.clip.image_processing_clip import CLIPImageProcessor
from transformers.models.convnext.image_processing_convnext import ConvNextImageProcessor
from transformers.models.detr.image_processing_detr import DetrImageProcessor
from transformers.models.dpt.image_processing_dpt import DPTImageProcessor
from transformers.models.rt_detr.image_processing_rt_detr import RTDetrImageProcessor
from transformers.models.sam.image_processing_sam import SamImageProcessor
from transformers.models.segformer.image_processing_segformer import SegformerImageProcessor
from transformers.models.siglip.image_processing_siglip import SiglipImageProcessor
from transformers.models.vit.image_processing_vit import ViTImageProcessor
from ultralytics.data.augment import LetterBox, classify_transforms

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def bgr(picture):
    return numpy.ascontiguousarray(picture[..., ::-1])


def planes(pixels):
    return pixels.astype(numpy.float32).transpose(2, 0, 1)


def transformers(processor):
    return lambda picture: processor(images=picture, return_tensors="np")["pixel_values"][0]


def torchvision_weights(weights):
    transform = weights.transforms()
    return lambda picture: transform(Image.fromarray(picture)).numpy()


def timm(name):
    config = resolve_data_config(pretrained_cfg=get_pretrained_cfg(name).to_dict())
    transform = create_transform(**config)
    return lambda picture: transform(Image.fromarray(picture)).numpy()


def ultralytics(**options):
    """Repeats the steps of Ultralytics' BasePredictor.preprocess()."""
    letterbox = LetterBox((640, 640), **options)
    return lambda picture: planes(letterbox(image=bgr(picture))[..., ::-1]) / 255


def ultralytics_classification(picture):
    return classify_transforms(224)(Image.fromarray(picture)).numpy()


def yolox(size):
    """Repeats the function preproc() of YOLOX."""
    def preprocess(picture):
        height, width, _ = picture.shape
        ratio = min(size / height, size / width)
        resized = cv2.resize(bgr(picture), (int(width * ratio), int(height * ratio)))
        padded = numpy.full((size, size, 3), 114, numpy.uint8)
        padded[:resized.shape[0], :resized.shape[1]] = resized
        return planes(padded)
    return preprocess


def faster_rcnn(picture):
    """The area right of the resized picture and below it is zero."""
    transform = GeneralizedRCNNTransform(800, 1333, IMAGENET["image_mean"], IMAGENET["image_std"])
    images, _ = transform([functional.to_tensor(picture)])
    height, width = images.image_sizes[0]
    tensor = images.tensors[0]
    assert not tensor[:, height:].any() and not tensor[:, :, width:].any()
    return tensor[:, :height, :width].numpy()


def super_resolution_tutorial(picture):
    """Returns the luma of a picture that torchvision has resized."""
    resized = torchvision.transforms.Resize([224, 224])(Image.fromarray(picture))
    return functional.to_tensor(resized.convert("YCbCr").split()[0]).numpy()


def mediapipe(size):
    """Repeats ImageToTensorCalculator with keep_aspect_ratio and zeros outside, sampling as its
    shaders do."""
    def preprocess(picture):
        height, width, _ = picture.shape
        side = max(height, width)
        at = (torch.arange(size, dtype=torch.float64) + 0.5) * 2 / size - 1
        rows, columns = torch.meshgrid(at * side / height, at * side / width, indexing="ij")
        pixels = torch.from_numpy(planes(picture)).double()[None]
        sampled = torch.nn.functional.grid_sample(
            pixels, torch.stack([columns, rows], 2)[None], "bilinear", "zeros", align_corners=False)
        return (sampled[0] * (2 / 255) - 1).permute(1, 2, 0).numpy()
    return preprocess


def opencv(width, height, mean, scale, color=lambda picture: picture):
    def preprocess(picture):
        resized = cv2.resize(color(picture), (width, height), interpolation=cv2.INTER_LINEAR)
        return (planes(resized) - mean) * numpy.float32(scale)
    return preprocess


def pp_ocr_detection(picture):
    return DetPreProcess()(bgr(picture))[0]


def pp_ocr_recognition(picture):
    shape = SimpleNamespace(rec_image_shape=[3, 48, 320])
    return TextRecognizer.resize_norm_img(shape, bgr(picture), 320 / 48)


def pp_ocr_classification(picture):
    shape = SimpleNamespace(cls_image_shape=[3, 48, 192])
    return TextClassifier.resize_norm_img(shape, bgr(picture))


# Processors of Transformers, configured by their networks' files.
PROCESSORS = {
    "RT-DETR, Transformers": RTDetrImageProcessor(),
    "DETR": DetrImageProcessor(),
    "ConvNeXt, 224×224": ConvNextImageProcessor(size={"shortest_edge": 224}, **IMAGENET),
    "ViT, Transformers": ViTImageProcessor(),
    "CLIP": CLIPImageProcessor(),
    "SigLIP": SiglipImageProcessor(),
    "DINOv2": BitImageProcessor(size={"shortest_edge": 256}, **IMAGENET),
    "SegFormer": SegformerImageProcessor(),
    "SAM": SamImageProcessor(),
    "Depth Anything": DPTImageProcessor(size={"height": 518, "width": 518}, keep_aspect_ratio=True,
                                        ensure_multiple_of=14, **IMAGENET),
}

# Networks of timm.
TIMM = {
    "timm's EfficientNet-Lite0": "tf_efficientnet_lite0.in1k",
    "timm's ConvNeXt-T": "convnext_tiny.fb_in1k",
    "timm's ViT-B/16": "vit_base_patch16_224.augreg2_in21k_ft_in1k",
}

REFERENCES = {
    "Ultralytics YOLOv5 to YOLO12": ultralytics(),
    "Ultralytics YOLOv8 and YOLO11, classification": ultralytics_classification,
    "YOLOX-S, -M, -L, -X": yolox(640),
    "YOLOX-Nano, -Tiny": yolox(416),
    "RT-DETR, Ultralytics": ultralytics(scale_fill=True),
    "torchvision's Faster R-CNN": faster_rcnn,
    "torchvision's ResNet50, IMAGENET1K_V1": torchvision_weights(ResNet50_Weights.IMAGENET1K_V1),
    "torchvision's ResNet50, IMAGENET1K_V2": torchvision_weights(ResNet50_Weights.IMAGENET1K_V2),
    "torchvision's EfficientNet-B0": torchvision_weights(EfficientNet_B0_Weights.IMAGENET1K_V1),
    "PP-OCR detection": pp_ocr_detection,
    "PP-OCR recognition": pp_ocr_recognition,
    "PP-OCR direction of lines": pp_ocr_classification,
    "MediaPipe's face detection, short range": mediapipe(128),
    "BlazeFace for PyTorch": opencv(128, 128, numpy.float32(127.5), 1 / 127.5),
    "UltraFace RFB-320": opencv(320, 240, numpy.float32(127), 1 / 128),
    "Lightweight OpenPose": opencv(384, 288, numpy.float32(128), 1 / 256, bgr),
    "PyTorch's tutorial of super-resolution (ESPCN)": super_resolution_tutorial,
    "ESRGAN and others on whole frames": lambda picture: functional.to_tensor(picture).numpy(),
    **{name: transformers(processor) for name, processor in PROCESSORS.items()},
    **{name: timm(cfg) for name, cfg in TIMM.items()},
}
