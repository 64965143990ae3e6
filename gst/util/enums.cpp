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
    value(ResizeMode::affine, "Centred without rounding, edges blend with the pad value", "affine");
constexpr GEnumValue kUltralytics = value(
    ResizeMode::ultralytics, "Centred on whole pixels, as Ultralytics LetterBox", "ultralytics");
constexpr GEnumValue kTopLeft = value(
    ResizeMode::top_left, "At the top left on whole pixels, as YOLOX and DeepStream", "top-left");

}  // namespace

GType backend_get_type() {
  static const GEnumValue values[] = {
      value(BackendChoice::automatic, "CUDA where a driver and device are usable, otherwise CPU",
            "auto"),
      value(BackendChoice::cuda, "CUDA, an error where it is not usable", "cuda"),
      value(BackendChoice::cpu, "CPU", "cpu"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorBackend", values);
  return type;
}

GType letterbox_mode_get_type() {
  static const GEnumValue values[] = {kAffine, kUltralytics, kTopLeft, kEnd};
  static const GType type = g_enum_register_static("GstCudaTensorLetterboxMode", values);
  return type;
}

GType resize_mode_get_type() {
  static const GEnumValue values[] = {
      value(ResizeMode::stretch, "Fill the output, the aspect ratio is not kept", "stretch"),
      kAffine,
      kUltralytics,
      kTopLeft,
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorResizeMode", values);
  return type;
}

GType method_get_type() {
  static const GEnumValue values[] = {
      value(Method::bilinear, "Blend the four nearest samples", "bilinear"),
      value(Method::nearest, "Take the nearest sample", "nearest"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorMethod", values);
  return type;
}

GType color_get_type() {
  static const GEnumValue values[] = {
      value(Color::rgb, "Red, green, blue", "rgb"),
      value(Color::bgr, "Blue, green, red", "bgr"),
      value(Color::gray, "One channel, full range", "gray"),
      value(Color::yuv, "Y, U, V as they are, from YUV input only", "yuv"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorColor", values);
  return type;
}

GType layout_get_type() {
  static const GEnumValue values[] = {
      value(Layout::nchw, "One plane for each channel", "nchw"),
      value(Layout::nhwc, "Channels interleaved", "nhwc"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorLayout", values);
  return type;
}

GType dtype_get_type() {
  static const GEnumValue values[] = {
      value(DType::float32, "IEEE binary32", "float32"),
      value(DType::float16, "IEEE binary16, rounded to nearest even", "float16"),
      value(DType::uint8, "Rounded and limited to 0..255", "uint8"),
      value(DType::int8, "Rounded and limited to -128..127", "int8"),
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
      value(RegionSource::none, "All of the picture, no batch", "none"),
      value(RegionSource::list, "Those of region-list", "list"),
      value(RegionSource::meta, "Those of the frame's GstVideoRegionOfInterestMeta", "meta"),
      value(RegionSource::tiles, "A grid of tile-columns by tile-rows tiles", "tiles"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionSource", values);
  return type;
}

GType region_units_get_type() {
  static const GEnumValue values[] = {
      value(RegionUnits::pixels, "Pixels of the picture", "pixels"),
      value(RegionUnits::fractions, "Shares of the picture's width and height", "fractions"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionUnits", values);
  return type;
}

GType region_edge_get_type() {
  static const GEnumValue values[] = {
      value(RegionEdge::clip, "What lies in the picture is the region", "clip"),
      value(RegionEdge::pad, "It keeps its size; beyond the picture is the pad value", "pad"),
      kEnd,
  };
  static const GType type = g_enum_register_static("GstCudaTensorRegionEdge", values);
  return type;
}

void mark_enums_as_plugin_api() {
  for (const GType type :
       {backend_get_type(), letterbox_mode_get_type(), resize_mode_get_type(), method_get_type(),
        color_get_type(), layout_get_type(), dtype_get_type(), normalization_get_type(),
        region_source_get_type(), region_units_get_type(), region_edge_get_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}

}  // namespace cudatensor
