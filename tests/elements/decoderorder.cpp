// SPDX-License-Identifier: LGPL-2.1-or-later
// The order in which decodebin tries decoders. GPU decoders are stand-ins, because only their names
// and pad templates matter.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gst/library/gstcudatensor.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr const char *kCoded = "video/x-test-coded";

template <int Gpu>
void init_class(gpointer klass, gpointer) {
  auto *element = GST_ELEMENT_CLASS(klass);
  const std::string memory = Gpu < 0 ? "video/x-raw" : "video/x-raw(memory:CUDAMemory)";
  const auto add = [element](const char *name, GstPadDirection direction, const char *text) {
    GstCaps *caps = gst_caps_from_string(text);
    gst_element_class_add_pad_template(element,
                                       gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  };
  add("sink", GST_PAD_SINK, kCoded);
  add("src", GST_PAD_SRC, memory.c_str());
  gst_element_class_set_static_metadata(element, "Test", "Codec/Decoder/Video", "Test", "Test");
}

/// A decoder on this GPU, or on the CPU.
template <int Gpu>
GstElementFactory *add_factory(const char *name) {
  const std::string type_name = std::string("Test_") + name;
  const GType type = g_type_register_static_simple(
      GST_TYPE_ELEMENT, g_intern_string(type_name.c_str()), sizeof(GstElementClass),
      init_class<Gpu>, sizeof(GstElement), nullptr, static_cast<GTypeFlags>(0));
  EXPECT_TRUE(gst_element_register(nullptr, name, GST_RANK_NONE, type));
  return gst_element_factory_find(name);
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
/// Returns the names of the factories in the order in which `decodebin` would try them.
std::vector<std::string> order_of(GstElement *decodebin,
                                  const std::vector<GstElementFactory *> &factories) {
  GValueArray *given = g_value_array_new(0), *sorted = nullptr;
  for (GstElementFactory *factory : factories) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_ELEMENT_FACTORY);
    g_value_set_object(&value, factory);
    g_value_array_append(given, &value);
    g_value_unset(&value);
  }
  GstPad *pad = gst_pad_new("test", GST_PAD_SRC);
  GstCaps *caps = gst_caps_from_string(kCoded);
  g_signal_emit_by_name(decodebin, "autoplug-sort", pad, caps, given, &sorted);
  std::vector<std::string> names;
  for (guint i = 0; sorted != nullptr && i < sorted->n_values; ++i)
    names.emplace_back(GST_OBJECT_NAME(g_value_get_object(&sorted->values[i])));
  if (sorted != nullptr) g_value_array_free(sorted);
  g_value_array_free(given);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return names;
}
G_GNUC_END_IGNORE_DEPRECATIONS

TEST(DecoderOrder, PutsDecodersOfTheGpuFirst) {
  const std::vector<GstElementFactory *> factories = {
      add_factory<-1>("testsoftdec"), add_factory<1>("nvtestdevice1dec"),
      add_factory<0>("nvtestdec"), add_factory<-1>("testotherdec"), add_factory<0>("nvtestsldec")};
  for (const char *name : {"decodebin", "uridecodebin"}) {
    for (const int gpu : {0, 1}) {
      const ElementRef decodebin = make_element(name);
      gst_cuda_tensor_prefer_gpu_decoders(decodebin.get(), gpu);
      const std::vector<std::string> expected =
          gpu == 0 ? std::vector<std::string>{"nvtestdec", "nvtestsldec", "testsoftdec",
                                              "nvtestdevice1dec", "testotherdec"}
                   : std::vector<std::string>{"nvtestdevice1dec", "testsoftdec", "nvtestdec",
                                              "testotherdec", "nvtestsldec"};
      EXPECT_EQ(order_of(decodebin.get(), factories), expected) << name << " " << gpu;
    }
  }
  for (GstElementFactory *factory : factories) gst_object_unref(factory);
}

}  // namespace
}  // namespace cudatensor
