// SPDX-License-Identifier: LGPL-2.1-or-later
// Which of the installed elements may be plugged for a camera.
#include "capture/autoplug.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace luminance {
namespace {

using Factory = std::unique_ptr<GstElementFactory, decltype(&gst_object_unref)>;

Factory find(const char *name) { return {gst_element_factory_find(name), gst_object_unref}; }

/// Returns whether the name is that of a decoder: some hardware decoders are bins.
bool is_decoder(const char *name) {
  return g_str_has_suffix(name, "dec") || g_str_has_suffix(name, "decodebin");
}

class Plugging : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

TEST_F(Plugging, TakesElementsThatDecodeVideo) {
  int found = 0;
  for (const char *name :
       {"vp8dec", "vp9dec", "jpegdec", "pngdec", "matroskademux", "qtdemux", "multipartdemux",
        "tsdemux", "rtpjpegdepay", "rtph264depay", "h264parse", "h265parse", "jpegparse",
        "mpegvideoparse", "av1parse", "avdec_h264", "avdec_h265", "dav1ddec", "v4l2h264dec"}) {
    const Factory factory = find(name);
    if (factory == nullptr) continue;
    ++found;
    EXPECT_TRUE(may_autoplug(factory.get(), true)) << name;
  }
  EXPECT_GT(found, 5);
}

TEST_F(Plugging, TakesNoElementThatOpensOtherResources) {
  GList *all = gst_registry_feature_filter(
      gst_registry_get(),
      [](GstPluginFeature *feature, gpointer) -> gboolean {
        return GST_IS_ELEMENT_FACTORY(feature) && may_autoplug(GST_ELEMENT_FACTORY(feature), true);
      },
      FALSE, nullptr);
  EXPECT_NE(all, nullptr);
  for (const GList *at = all; at != nullptr; at = at->next) {
    auto *factory = GST_ELEMENT_FACTORY(at->data);
    const char *name = GST_OBJECT_NAME(factory);
    EXPECT_FALSE(gst_element_factory_has_interface(factory, "GstURIHandler")) << name;
    const Factory loaded = {
        GST_ELEMENT_FACTORY(gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory))),
        gst_object_unref};
    if (loaded == nullptr) continue;
    const GType type = gst_element_factory_get_element_type(loaded.get());
    EXPECT_FALSE(g_type_is_a(type, GST_TYPE_BIN) && !is_decoder(name)) << name;
  }
  gst_plugin_feature_list_free(all);
}

TEST_F(Plugging, RefusesKnownElementsThatOpenOtherResources) {
  for (const char *name :
       {"hlsdemux",     "hlsdemux2",      "dashdemux",   "dashdemux2",  "mssdemux",
        "mssdemux2",    "sdpdemux",       "rsvgdec",     "rtpgstdepay", "gdpdepay",
        "avdemux_hls",  "avdemux_concat", "splitmuxsrc", "playbin",     "decodebin",
        "urisourcebin", "filesrc",        "souphttpsrc", "filesink",    "rmdemux"}) {
    const Factory factory = find(name);
    EXPECT_FALSE(factory != nullptr && may_autoplug(factory.get(), true)) << name;
  }
}

/// Returns the type of a decoder whose source pad has the caps kCaps.
template <const char *const &kCaps>
GType decoder_giving() {
  static const GType type = [] {
    const auto init = [](gpointer klass, gpointer) {
      auto *element = GST_ELEMENT_CLASS(klass);
      g_autoptr(GstCaps) caps = gst_caps_from_string(kCaps);
      gst_element_class_set_static_metadata(element, "decoder", "Codec/Decoder/Video", "a test",
                                            "the tests");
      gst_element_class_add_pad_template(
          element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    };
    const std::string name = "Decoder" + std::to_string(g_str_hash(kCaps));
    return g_type_register_static_simple(GST_TYPE_ELEMENT, name.c_str(), sizeof(GstElementClass),
                                         init, sizeof(GstElement), nullptr,
                                         static_cast<GTypeFlags>(0));
  }();
  return type;
}

constexpr const char *kSurfaces = "video/x-raw(memory:NVMM), format=NV12";
constexpr const char *kBoth = "video/x-raw(memory:NVMM), format=NV12; video/x-raw, format=NV12";

TEST_F(Plugging, RefusesDecodersWhoseSurfacesCannotBeRead) {
  ASSERT_TRUE(gst_element_register(nullptr, "surfacesdec", 0, decoder_giving<kSurfaces>()));
  ASSERT_TRUE(gst_element_register(nullptr, "bothdec", 0, decoder_giving<kBoth>()));
  EXPECT_FALSE(may_autoplug(find("surfacesdec").get(), false));
  EXPECT_TRUE(may_autoplug(find("surfacesdec").get(), true));
  for (const bool takes_surfaces : {false, true})
    EXPECT_TRUE(may_autoplug(find("bothdec").get(), takes_surfaces));
}

TEST_F(Plugging, RefusesPlaylistsAndSessionDescriptions) {
  for (const char *caps : {"application/x-hls", "application/dash+xml", "application/sdp",
                           "application/vnd.ms-sstr+xml, x=1", "text/uri-list"}) {
    GstCaps *parsed = gst_caps_from_string(caps);
    EXPECT_NE(autoplug_error(parsed), "") << caps;
    gst_caps_unref(parsed);
  }
  GstCaps *video = gst_caps_from_string("video/x-h264");
  EXPECT_EQ(autoplug_error(video), "");
  gst_caps_unref(video);
}

}  // namespace
}  // namespace luminance
