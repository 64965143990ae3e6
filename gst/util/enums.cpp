// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/util/enums.h"

#include "kernels/normalize.h"

namespace cudatensor {
namespace {

template <class E>
constexpr GEnumValue value(E e, const char *description, const char *nick) {
  return {static_cast<gint>(e), description, nick};
}

constexpr GEnumValue kEnd = {0, nullptr, nullptr};

constexpr GEnumValue kAffine =
    value(ResizeMode::affine,
          "Centered at subpixel positions; edges are blended with the pad value", "affine");
constexpr GEnumValue kUltralytics = value(
    ResizeMode::ultralytics, "Centered at whole pixels, like Ultralytics LetterBox", "ultralytics");
constexpr GEnumValue kTopLeft =
    value(ResizeMode::top_left, "Top left at whole pixels, like YOLOX and DeepStream", "top-left");
constexpr GEnumValue kTorchvision = value(
    ResizeMode::torchvision,
    "The shorter edge resized to shortest-edge, then the center cropped, like torchvision and timm",
    "torchvision");
constexpr GEnumValue kTransformers =
    value(ResizeMode::transformers,
          "The shorter edge resized to shortest-edge, then the center cropped, like Transformers; "
          "for some sizes one pixel away from torchvision's crop",
          "transformers");

}  // namespace

GType backend_get_type() {
  static const GEnumValue values[] = {
      value(BackendChoice::automatic, "CUDA if a driver and a device are usable, otherwise CPU",
            "auto"),
      value(BackendChoice::cuda, "CUDA; error if it is not usable", "cuda"),
      value(BackendChoice::cpu, "CPU", "cpu"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorBackend", values);
  return type;
}

GType provider_get_type() {
  static const GEnumValue values[] = {
      value(Provider::automatic,
            "CUDA if the library, the device and NVIDIA's libraries allow it, otherwise CPU",
            "auto"),
      value(Provider::cuda, "CUDA", "cuda"),
      value(Provider::tensorrt, "TensorRT; what it cannot run, CUDA does", "tensorrt"),
      value(Provider::openvino, "OpenVINO", "openvino"),
      value(Provider::cpu, "CPU", "cpu"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorProvider", values);
  return type;
}

GType letterbox_mode_get_type() {
  static const GEnumValue values[] = {kAffine,      kUltralytics,  kTopLeft,
                                      kTorchvision, kTransformers, kEnd};
  static const GType type = g_enum_register_static("GstCudaTensorLetterboxMode", values);
  return type;
}

GType resize_mode_get_type() {
  static const GEnumValue values[] = {
      value(ResizeMode::stretch, "Fills the output; the aspect ratio is not preserved", "stretch"),
      kAffine,
      kUltralytics,
      kTopLeft,
      kTorchvision,
      kTransformers,
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorResizeMode", values);
  return type;
}

GType scale_method_get_type() {
  static const GEnumValue values[] = {
      value(Method::bilinear,
            "Bilinear interpolation of the four nearest samples; with antialias, Pillow's BILINEAR",
            "bilinear"),
      value(Method::nearest, "Nearest sample; not with antialias", "nearest"),
      value(Method::box, "Pillow's BOX; only with antialias", "box"),
      value(Method::bicubic, "Pillow's BICUBIC; only with antialias", "bicubic"),
      value(Method::lanczos, "Pillow's LANCZOS; only with antialias", "lanczos"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorScaleMethod", values);
  return type;
}

GType color_get_type() {
  static const GEnumValue values[] = {
      value(Color::rgb, "Red, green, blue", "rgb"),
      value(Color::bgr, "Blue, green, red", "bgr"),
      value(Color::gray, "One channel, full range", "gray"),
      value(Color::yuv, "Y, U and V without conversion; YUV input only", "yuv"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorColor", values);
  return type;
}

GType layout_get_type() {
  static const GEnumValue values[] = {
      value(Layout::nchw, "Planar: one plane per channel", "nchw"),
      value(Layout::nhwc, "Interleaved channels", "nhwc"),
      value(Layout::ncthw, "One clip: the planes of all its frames, channel by channel", "ncthw"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorLayout", values);
  return type;
}

GType dtype_get_type() {
  static const GEnumValue values[] = {
      value(DType::float32, "IEEE binary32", "float32"),
      value(DType::float16, "IEEE binary16, rounded to nearest, ties to even", "float16"),
      value(DType::uint8, "Rounded and clamped to 0..255", "uint8"),
      value(DType::int8, "Rounded and clamped to -128..127", "int8"),
      value(DType::bfloat16, "The upper half of IEEE binary32, rounded to nearest, ties to even",
            "bfloat16"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorDType", values);
  return type;
}

GType normalization_get_type() {
  static const GEnumValue values[] = {
      value(Normalization::mean_std, "(x * scale - mean) / std", "mean-std"),
      value(Normalization::alpha_beta, "x * alpha + beta", "alpha-beta"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorNormalization", values);
  return type;
}

GType region_source_get_type() {
  static const GEnumValue values[] = {
      value(RegionSource::none, "The whole picture; no batch", "none"),
      value(RegionSource::list, "The regions of region-list", "list"),
      value(RegionSource::meta,
            "The frame's regions of interest and detections (GstVideoRegionOfInterestMeta, "
            "GstAnalyticsODMtd, NvDsObjectMeta)",
            "meta"),
      value(RegionSource::tiles, "A grid of tile-columns by tile-rows tiles", "tiles"),
      value(RegionSource::matrices, "The matrices of region-matrices", "matrices"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionSource", values);
  return type;
}

GType region_units_get_type() {
  static const GEnumValue values[] = {
      value(RegionUnits::pixels, "Pixels", "pixels"),
      value(RegionUnits::fractions, "Fractions of the picture's width and height, 0 to 1",
            "fractions"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionUnits", values);
  return type;
}

GType region_edge_get_type() {
  static const GEnumValue values[] = {
      value(RegionEdge::clip, "Clip the region to the picture", "clip"),
      value(RegionEdge::pad, "Keep the region's size and fill the outside with the pad value",
            "pad"),
      value(RegionEdge::repeat,
            "Repeat the edge of the picture; only for regions=matrices and meta, where it clips "
            "boxes",
            "repeat"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionEdge", values);
  return type;
}

GType interlaced_get_type() {
  static const GEnumValue values[] = {
      value(Interlaced::refuse, "Stop with an error that asks for a deinterlacer", "refuse"),
      value(Interlaced::as_progressive, "Resize both fields as one progressive picture",
            "as-progressive"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorInterlaced", values);
  return type;
}

GType decoder_get_type() {
  static const GEnumValue values[] = {
      value(DecoderSetting::automatic, "By the metadata of model, otherwise by names and shapes",
            "auto"),
      value(DecoderSetting::yolo, "YOLO without objectness: (N, 4 + classes, boxes)", "yolo"),
      value(DecoderSetting::yolov5, "YOLO with objectness: (N, boxes, 5 + classes)", "yolov5"),
      value(DecoderSetting::end2end, "Selected boxes with score and class: (N, boxes, 6)",
            "end2end"),
      value(DecoderSetting::detr, "Logits (N, queries, classes) and boxes (N, queries, 4)", "detr"),
      value(DecoderSetting::detr_softmax, "The same with \"no object\" as the last class",
            "detr-softmax"),
      value(DecoderSetting::ssd, "Boxes (N, boxes, 4), classes, scores and, optionally, count",
            "ssd"),
      value(DecoderSetting::scores, "Logits of a classifier: (N, classes)", "scores"),
      value(DecoderSetting::probabilities, "Probabilities of a classifier: (N, classes)",
            "probabilities"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorDecoder", values);
  return type;
}

void mark_enums_as_plugin_api() {
  for (const GType type :
       {backend_get_type(), provider_get_type(), letterbox_mode_get_type(), resize_mode_get_type(),
        scale_method_get_type(), color_get_type(), layout_get_type(), dtype_get_type(),
        normalization_get_type(), region_source_get_type(), region_units_get_type(),
        region_edge_get_type(), interlaced_get_type(), decoder_get_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}

}  // namespace cudatensor
