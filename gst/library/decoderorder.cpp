// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/decoderorder.h"

#include <algorithm>
#include <string>
#include <vector>

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

/// nvcodec has an element for each GPU: nvh264dec for the first one, nvh264device1dec for the second.
bool is_on(GstElementFactory *factory, int gpu) {
  const std::string name = GST_OBJECT_NAME(factory);
  const std::string number = "device" + std::to_string(gpu) + "dec";
  return gpu == 0 ? name.find("device") == std::string::npos
                  : name.find(number) != std::string::npos;
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
/// The caller frees the array. decodebin still has arrays of this deprecated type.
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

}  // namespace

void prefer_decoders_on(GstElement *decodebin, int gpu) {
  g_signal_connect(decodebin, "autoplug-sort", G_CALLBACK(sort), GINT_TO_POINTER(gpu));
}

}  // namespace cudatensor
