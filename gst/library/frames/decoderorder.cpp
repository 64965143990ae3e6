// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/decoderorder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gst/library/gstcudatensor.h"

namespace cudatensor {
namespace {

bool gives_cuda_memory(GstElementFactory *factory) {
  for (const GList *l = gst_element_factory_get_static_pad_templates(factory); l != nullptr;
       l = l->next) {
    auto *pad = static_cast<GstStaticPadTemplate *>(l->data);
    if (pad->direction != GST_PAD_SRC) continue;
    GstCaps *caps = gst_static_caps_get(&pad->static_caps);
    bool found = false;
    for (guint i = 0; i < gst_caps_get_size(caps); ++i)
      found |= gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory");
    gst_caps_unref(caps);
    if (found) return true;
  }
  return false;
}

/// Returns whether a decoder runs on this GPU. nvcodec has an element for each GPU: nvh264dec for
/// the first, nvh264device1dec for the second.
bool is_on(GstElementFactory *factory, int gpu) {
  const std::string name = GST_OBJECT_NAME(factory);
  const std::string number = "device" + std::to_string(gpu) + "dec";
  return gpu == 0 ? name.find("device") == std::string::npos
                  : name.find(number) != std::string::npos;
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
/// Returns a sorted array, which the caller frees. decodebin still uses arrays of this deprecated
/// type.
GValueArray *sort(GstElement *, GstPad *, GstCaps *, GValueArray *factories, gpointer gpu) {
  std::vector<GstElementFactory *> sorted;
  for (guint i = 0; i < factories->n_values; ++i)
    sorted.push_back(GST_ELEMENT_FACTORY(g_value_get_object(&factories->values[i])));
  std::stable_partition(sorted.begin(), sorted.end(), [&](GstElementFactory *factory) {
    return gives_cuda_memory(factory) && is_on(factory, GPOINTER_TO_INT(gpu));
  });
  GValueArray *result = g_value_array_new(factories->n_values);
  for (GstElementFactory *factory : sorted) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_ELEMENT_FACTORY);
    g_value_set_object(&value, factory);
    g_value_array_append(result, &value);
    g_value_unset(&value);
  }
  return result;
}
G_GNUC_END_IGNORE_DEPRECATIONS

bool has_decoder_on(GstCaps *coded, int gpu) {
  GList *decoders = gst_element_factory_list_get_elements(
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO, GST_RANK_MARGINAL);
  bool found = false;
  for (const GList *l = decoders; l != nullptr && !found; l = l->next) {
    auto *factory = GST_ELEMENT_FACTORY(l->data);
    found = gives_cuda_memory(factory) && is_on(factory, gpu) &&
            gst_element_factory_can_sink_any_caps(factory, coded);
  }
  gst_plugin_feature_list_free(decoders);
  return found;
}

/// Returns whether FFmpeg's decoder loses frames after a recovery point. It requests buffers for
/// earlier pictures that others refer to, and its plugin in GStreamer 1.24 and later refuses some
/// of them.
bool loses_frames(GstCaps *coded) {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  const GstStructure *s = gst_caps_get_structure(coded, 0);
  const bool is_h26x =
      gst_structure_has_name(s, "video/x-h264") || gst_structure_has_name(s, "video/x-h265");
  return minor >= 23 && is_h26x;
}

}  // namespace

bool starts_at_recovery_points(GstCaps *coded, int gpu) {
  return !loses_frames(coded) || (gpu >= 0 && has_decoder_on(coded, gpu));
}

void prefer_decoders_on(GstElement *decodebin, int gpu) {
  g_signal_connect(decodebin, "autoplug-sort", G_CALLBACK(sort), GINT_TO_POINTER(gpu));
}

}  // namespace cudatensor

void gst_cuda_tensor_prefer_gpu_decoders(GstElement *decodebin, gint device_id) {
  g_return_if_fail(GST_IS_ELEMENT(decodebin));
  g_return_if_fail(g_signal_lookup("autoplug-sort", G_OBJECT_TYPE(decodebin)) != 0);
  g_return_if_fail(device_id >= 0);
  cudatensor::prefer_decoders_on(decodebin, device_id);
}
