// SPDX-License-Identifier: LGPL-2.1-or-later
// The caps that the elements offer, take, choose and set.
#include <gst/base/gstbasetransform.h>

#include <algorithm>
#include <limits>
#include <set>

#include "backend.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

// ----------------------------------------------------------------------------------- templates

using Strings = std::set<std::string>;

std::vector<std::string> list_of(const GValue *value) {
  std::vector<std::string> strings;
  if (value == nullptr) return strings;
  if (G_VALUE_HOLDS_STRING(value)) return {g_value_get_string(value)};
  for (guint i = 0; i < gst_value_list_get_size(value); ++i)
    strings.emplace_back(g_value_get_string(gst_value_list_get_value(value, i)));
  return strings;
}

Strings strings_of(const GValue *value) {
  const std::vector<std::string> list = list_of(value);
  return {list.begin(), list.end()};
}

Strings names_of(const std::vector<PixelFormat> &formats) {
  Strings names;
  for (const PixelFormat format : formats) names.insert(name_of(format));
  return names;
}

/// Returns the strings that a template lists in system memory for one media type.
Strings template_strings(const char *element, const char *pad, const char *media,
                         const char *field) {
  Ref<GstElement> owned = make_element(element);
  GstPadTemplate *pad_template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(owned.get()), pad);
  EXPECT_EQ(GST_PAD_TEMPLATE_PRESENCE(pad_template), GST_PAD_ALWAYS);
  const CapsRef caps(gst_pad_template_get_caps(pad_template));
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    GstCapsFeatures *features = gst_caps_get_features(caps.get(), i);
    const GstStructure *s = gst_caps_get_structure(caps.get(), i);
    if (gst_structure_has_name(s, media) &&
        gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      return strings_of(gst_structure_get_value(s, field));
  }
  return {};
}

Strings template_formats(const char *element, const char *pad) {
  return template_strings(element, pad, "video/x-raw", "format");
}

TEST(Templates, Yuv444) {
  EXPECT_EQ(template_formats("cudanv12toyuv444", "sink"), names_of(kYuv420Formats));
  EXPECT_EQ(template_formats("cudanv12toyuv444", "src"), Strings{"Y444"});
}

TEST(Templates, Letterbox) {
  EXPECT_EQ(template_formats("cudaletterbox", "sink"), names_of(kInputFormats));
  EXPECT_EQ(template_formats("cudaletterbox", "src"), names_of(kLetterboxFormats));
}

TEST(Templates, Normalize) {
  EXPECT_EQ(template_formats("cudanormalize", "sink"), names_of(kInputFormats));
  EXPECT_EQ(template_strings("cudanormalize", "src", "other/tensors", "types"),
            (Strings{"float32", "float16", "bfloat16", "uint8", "int8"}));
}

TEST(Templates, Histogram) {
  EXPECT_EQ(template_formats("cudahistogram", "sink"), names_of(kInputFormats));
  EXPECT_EQ(template_formats("cudahistogram", "src"), names_of(kInputFormats));
}

TEST(Templates, PixelShuffle) {
  const Strings types = {"float32", "float16", "uint8"};
  EXPECT_EQ(template_strings("cudapixelshuffle", "sink", "other/tensors", "types"), types);
  EXPECT_EQ(template_strings("cudapixelshuffle", "src", "other/tensors", "types"), types);
  EXPECT_EQ(template_formats("cudapixelshuffle", "src"), (Strings{"RGB", "BGR", "RGBP", "GRAY8"}));
}

// ---------------------------------------------------------------------------------- properties

struct Default {
  const char *element, *property, *value;
};

class Defaults : public testing::TestWithParam<Default> {};

TEST_P(Defaults, AreDocumented) {
  const BackendScope scope(TestBackend::automatic);
  EXPECT_EQ(Rig(GetParam().element).get(GetParam().property), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Properties, Defaults,
    testing::Values(
        Default{"cudanv12toyuv444", "resize-width", "0"},
        Default{"cudanv12toyuv444", "resize-height", "0"},
        Default{"cudanv12toyuv444", "crop-x", "0"}, Default{"cudanv12toyuv444", "crop-y", "0"},
        Default{"cudaletterbox", "resize-mode", "affine"},
        Default{"cudaletterbox", "method", "bilinear"},
        Default{"cudaletterbox", "pad-value", "114"}, Default{"cudaletterbox", "scale-up", "true"},
        Default{"cudanormalize", "width", "0"}, Default{"cudanormalize", "height", "0"},
        Default{"cudanormalize", "resize-mode", "stretch"},
        Default{"cudanormalize", "method", "bilinear"},
        Default{"cudanormalize", "pad-value", "114"}, Default{"cudanormalize", "scale-up", "true"},
        Default{"cudanormalize", "color", "rgb"}, Default{"cudanormalize", "layout", "nchw"},
        Default{"cudanormalize", "dtype", "float32"},
        Default{"cudanormalize", "normalization", "mean-std"},
        Default{"cudanormalize", "scale", "0"}, Default{"cudanormalize", "mean", "< (double)0 >"},
        Default{"cudanormalize", "std", "< (double)1 >"},
        Default{"cudanormalize", "beta", "< (double)0 >"},
        Default{"cudanormalize", "round", "false"},
        Default{"cudahistogram", "interval", "100000000"},
        Default{"cudahistogram", "post-messages", "true"}, Default{"cudahistogram", "roi", "<  >"},
        Default{"cudapixelshuffle", "upscale-factor", "2"},
        Default{"cudapixelshuffle", "scale", "0"}, Default{"cudapixelshuffle", "offset", "0"},
        Default{"cudaletterbox", "backend", "auto"},
        Default{"cudaletterbox", "cuda-device-id", "-1"},
        Default{"cudaletterbox", "n-threads", "0"}),
    [](const auto &info) {
      std::string name = std::string(info.param.element) + "_" + info.param.property;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Properties, AlphaStandsForOneOver255) {
  Rig rig("cudanormalize");
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(rig.element()), "alpha", &value);
  ASSERT_TRUE(GST_VALUE_HOLDS_ARRAY(&value));
  ASSERT_EQ(gst_value_array_get_size(&value), 1u);
  EXPECT_EQ(g_value_get_double(gst_value_array_get_value(&value, 0)), 1.0 / 255.0);
  g_value_unset(&value);
}

/// GLib's own comparison takes NaN as equal to all numbers.
TEST(Properties, AreNotEqualToNan) {
  const ElementRef element = make_element("cudanormalize");
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "scale");
  ASSERT_NE(spec, nullptr);
  const auto is_equal = [spec](double a, double b) {
    GValue values[2] = {G_VALUE_INIT, G_VALUE_INIT};
    for (GValue &value : values) g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&values[0], a);
    g_value_set_double(&values[1], b);
    return g_param_values_cmp(spec, &values[0], &values[1]) == 0;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_equal(0.5, 0.5));
  EXPECT_FALSE(is_equal(0.5, 0.25));
  EXPECT_FALSE(is_equal(nan, 0.5));
  EXPECT_FALSE(is_equal(0.5, nan));
}

TEST(Properties, AllMayChangeWhilePlayingButTheBackend) {
  for (const char *name : {"cudanv12toyuv444", "cudaletterbox", "cudanormalize", "cudahistogram",
                           "cudapixelshuffle"}) {
    const ElementRef element = make_element(name);
    guint count = 0;
    GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &count);
    for (guint i = 0; i < count; ++i) {
      const std::string property = specs[i]->name;
      const bool own = specs[i]->owner_type != GST_TYPE_OBJECT &&
                       specs[i]->owner_type != GST_TYPE_BASE_TRANSFORM &&
                       (specs[i]->flags & G_PARAM_WRITABLE) != 0;
      if (!own || property == "backend" || property == "cuda-device-id") continue;
      EXPECT_TRUE(specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) << name << " " << property;
    }
    g_free(specs);
  }
}

// ------------------------------------------------------------------------------ what is offered

/// Returns whether the element's sink pad takes these caps with this downstream.
bool offers(const std::string &description, const std::string &downstream,
            const std::string &caps) {
  Rig rig(description);
  rig.downstream(downstream);
  const CapsRef offered(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  const CapsRef wanted(gst_caps_from_string(caps.c_str()));
  return gst_caps_can_intersect(offered.get(), wanted.get());
}

TEST(Offer, ColourYuvOffersYuvOnly) {
  const std::string tensors = "other/tensors";
  EXPECT_TRUE(offers("cudanormalize color=yuv", tensors, "video/x-raw,format=NV21"));
  EXPECT_TRUE(offers("cudanormalize color=yuv", tensors, "video/x-raw,format=Y444"));
  EXPECT_FALSE(offers("cudanormalize color=yuv", tensors, "video/x-raw,format=RGB"));
  EXPECT_FALSE(offers("cudanormalize color=yuv", tensors, "video/x-raw,format=GRAY8"));
  EXPECT_TRUE(offers("cudanormalize color=gray", tensors, "video/x-raw,format=RGB"));
}

TEST(Offer, SizesStayOpenWhateverDownstreamTakes) {
  const std::string out = "video/x-raw,format=RGB,width=8,height=8";
  EXPECT_TRUE(offers("cudaletterbox", out, "video/x-raw,format=NV12,width=32767,height=1"));
  EXPECT_TRUE(offers("cudaletterbox", out, "video/x-raw,format=GRAY8,pixel-aspect-ratio=4/3"));
  EXPECT_TRUE(offers("cudanormalize", tensor_caps("float32", "8:8:3:1"),
                     "video/x-raw,format=NV12,width=3,height=5"));
}

TEST(Offer, FramerateIsDownstreams) {
  const std::string tensor = tensor_caps("float32", "8:8:3:1", "framerate=25/1");
  EXPECT_TRUE(offers("cudanormalize", tensor, "video/x-raw,framerate=25/1"));
  EXPECT_FALSE(offers("cudanormalize", tensor, "video/x-raw,framerate=30/1"));
  EXPECT_FALSE(offers("cudaletterbox", "video/x-raw,framerate=25/1", "video/x-raw,framerate=5/1"));
  // A tensor of two frames has half the rate; a range of rates is not halved.
  const std::string two = "cudanormalize frames-per-tensor=2";
  EXPECT_TRUE(offers(two, "other/tensors,framerate=10/1", "video/x-raw,framerate=20/1"));
  EXPECT_FALSE(offers(two, "other/tensors,framerate=10/1", "video/x-raw,framerate=10/1"));
  EXPECT_TRUE(offers(two, "other/tensors,framerate=[1/1,10/1]", "video/x-raw,framerate=20/1"));
}

TEST(Offer, PixelShuffleOffersWhatGivesTheOutput) {
  const std::string picture = "video/x-raw,format=RGB,width=12,height=6,framerate=30/1";
  EXPECT_TRUE(offers("cudapixelshuffle", picture, tensor_caps("uint8", "6:3:12:1")));
  EXPECT_TRUE(offers("cudapixelshuffle", picture, tensor_caps("float16", "6:3:12")));
  EXPECT_FALSE(offers("cudapixelshuffle", picture, tensor_caps("uint8", "12:6:3:1")));
  EXPECT_TRUE(
      offers("cudapixelshuffle upscale-factor=3", picture, tensor_caps("uint8", "4:2:27:1")));
  for (const char *size : {"width=13,height=6", "width=12,height=7"})
    EXPECT_FALSE(
        offers("cudapixelshuffle", std::string("video/x-raw,format=RGB,") + size, "other/tensors"))
        << size;
  const std::string tensor = tensor_caps("float16", "12:6:5:2");
  EXPECT_TRUE(offers("cudapixelshuffle", tensor, tensor_caps("float16", "6:3:20:2")));
  EXPECT_FALSE(offers("cudapixelshuffle", tensor, tensor_caps("float32", "6:3:20:2")));
}

/// Returns the values that each structure of a pad's caps lists in a field, with this filter. It
/// calls transform_caps directly, because GstBaseTransform's query puts unchanged caps first.
std::vector<std::vector<std::string>> listed(const std::string &element, const char *pad,
                                             const char *field, const std::string &filter) {
  const ElementRef owned = make_element(element);
  auto *trans = GST_BASE_TRANSFORM(owned.get());
  const bool is_sink = g_str_equal(pad, "sink");
  const CapsRef all(gst_pad_get_pad_template_caps(is_sink ? trans->srcpad : trans->sinkpad));
  const CapsRef wanted(gst_caps_from_string(filter.c_str()));
  const CapsRef caps(GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(
      trans, is_sink ? GST_PAD_SRC : GST_PAD_SINK, all.get(), wanted.get()));
  std::vector<std::vector<std::string>> lists;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i)
    lists.push_back(list_of(gst_structure_get_value(gst_caps_get_structure(caps.get(), i), field)));
  return lists;
}

/// Some of upstream's possible inputs cannot be shuffled.
TEST(Offer, SkipsWhatCannotBeShuffled) {
  const ElementRef owned = make_element("cudapixelshuffle");
  auto *trans = GST_BASE_TRANSFORM(owned.get());
  for (const char *first : {"6:3:5:1", "6:3:12:1"}) {
    const std::string second = g_str_equal(first, "6:3:5:1") ? "6:3:12:1" : "6:3:5:1";
    const CapsRef in(gst_caps_from_string(
        (tensor_caps("uint8", first) + ";" + tensor_caps("uint8", second)).c_str()));
    const CapsRef out(GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, GST_PAD_SINK,
                                                                          in.get(), nullptr));
    const CapsRef wanted(gst_caps_from_string(tensor_caps("uint8", "12:6:3:1").c_str()));
    EXPECT_TRUE(gst_caps_can_intersect(out.get(), wanted.get())) << first;
  }
}

/// The peer's query lists the preferred caps first.
TEST(Offer, KeepsTheOrderOfTheQuestion) {
  struct Case {
    const char *element, *pad, *media, *field, *one, *other;
  };
  const Case cases[] = {{"cudanv12toyuv444", "sink", "video/x-raw", "format", "NV12", "I420"},
                        {"cudaletterbox", "sink", "video/x-raw", "format", "RGB", "NV12"},
                        {"cudaletterbox", "src", "video/x-raw", "format", "RGB", "BGR"},
                        {"cudanormalize", "sink", "video/x-raw", "format", "RGB", "NV12"},
                        {"cudahistogram", "sink", "video/x-raw", "format", "RGB", "NV12"},
                        {"cudahistogram", "src", "video/x-raw", "format", "RGB", "NV12"},
                        {"cudapixelshuffle", "sink", "other/tensors", "types", "uint8", "float32"},
                        {"cudapixelshuffle", "src", "other/tensors", "types", "uint8", "float32"},
                        {"cudapixelshuffle", "src", "video/x-raw", "format", "RGB", "BGR"}};
  for (const Case &each : cases)
    for (const auto &[first, second] :
         {std::pair(each.one, each.other), std::pair(each.other, each.one)}) {
      SCOPED_TRACE(std::string(each.element) + " " + each.pad + ": " + first + ", " + second);
      const std::string fields = std::string(each.media) + "," + each.field + "=";
      // Structures are in the order of the filter's structures, strings in the order of its list.
      std::vector<std::string> found;
      for (const auto &list :
           listed(each.element, each.pad, each.field, fields + first + ";" + fields + second))
        for (const std::string &text : list)
          if (found.empty() || found.back() != text) found.push_back(text);
      EXPECT_EQ(found, (std::vector<std::string>{first, second}));
      const auto lists =
          listed(each.element, each.pad, each.field, fields + "{" + first + "," + second + "}");
      for (const auto &list : lists)
        if (list.size() > 1) EXPECT_EQ(list, (std::vector<std::string>{first, second}));
    }
}

// -------------------------------------------------------------------------- pictures come out

const ImageDesc kInput = {PixelFormat::NV12, 12, 8};
const std::string kVideo = video_caps(kInput);

/// Negotiates, and sends a frame to check that the negotiated caps work.
std::unique_ptr<Rig> negotiated(const std::string &description, const std::string &caps,
                                const std::string &downstream = "ANY",
                                const ImageDesc &input = kInput) {
  auto rig = std::make_unique<Rig>(description);
  rig->downstream(downstream);
  EXPECT_TRUE(rig->caps(caps)) << description << " from " << caps << " to " << downstream;
  rig->process(buffer_of(random_picture(input)));
  return rig;
}

std::string size_of_output(const Rig &rig) {
  return rig.output("width") + "x" + rig.output("height");
}

TEST(Letterbox, OpenDownstreamGetsTheInputsSizeAndFormat) {
  const ImageDesc input = {PixelFormat::BGRx, 12, 8};
  const auto rig = negotiated("cudaletterbox", video_caps(input), "ANY", input);
  EXPECT_EQ(size_of_output(*rig), "12x8");
  EXPECT_EQ(rig->output("format"), "BGRx");
  EXPECT_EQ(rig->output("framerate"), "30/1");
}

TEST(Letterbox, TakesDownstreamsSizeAndFormat) {
  const auto rig =
      negotiated("cudaletterbox", kVideo, "video/x-raw,format=GRAY8,width=7,height=[3,5]");
  EXPECT_EQ(size_of_output(*rig), "7x5");
  EXPECT_EQ(rig->output("format"), "GRAY8");
}

TEST(Letterbox, SaysSquarePixels) {
  const auto rig = negotiated("cudaletterbox", kVideo + ",pixel-aspect-ratio=4/3");
  EXPECT_EQ(rig->output("pixel-aspect-ratio"), "1/1");
}

GstVideoInfo info_of(const Rig &rig) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, rig.output_caps().get()));
  return info;
}

TEST(Letterbox, GreyIsFullRange) {
  const auto rig =
      negotiated("cudaletterbox", kVideo + ",colorimetry=bt709", "video/x-raw,format=GRAY8");
  ASSERT_NE(rig->output("colorimetry"), "");
  EXPECT_EQ(info_of(*rig).colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255);
}

TEST(Letterbox, RgbKeepsTransferAndPrimaries) {
  const auto rig =
      negotiated("cudaletterbox", kVideo + ",colorimetry=bt2020", "video/x-raw,format=RGB");
  const GstVideoColorimetry colorimetry = info_of(*rig).colorimetry;
  EXPECT_EQ(colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255);
  EXPECT_EQ(colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_RGB);
  EXPECT_EQ(colorimetry.transfer, GST_VIDEO_TRANSFER_BT2020_12);
  EXPECT_EQ(colorimetry.primaries, GST_VIDEO_COLOR_PRIMARIES_BT2020);
}

/// cudaletterbox outputs samples of the full range.
TEST(Letterbox, MakesNoOtherRange) {
  for (const char *format : {"RGB", "GRAY8"}) {
    const std::string matrix = format[0] == 'R' ? "1" : "4";
    const std::string limited = "2:" + matrix + ":5:1", full = "1:" + matrix + ":5:1";
    const std::string caps = std::string("video/x-raw,format=") + format + ",colorimetry=(string)";
    Rig rig("cudaletterbox");
    rig.downstream(caps + limited);
    const std::string text = expect_refusal(rig, kVideo, buffer_of(Picture(kInput)));
    EXPECT_TRUE(mentions(text, "downstream requires colorimetry " + limited)) << text;
    const auto other = negotiated("cudaletterbox", kVideo, caps + "{" + limited + "," + full + "}");
    EXPECT_EQ(info_of(*other).colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255) << format;
  }
}

TEST(Letterbox, RgbHasNoChromaSite) {
  const auto rig =
      negotiated("cudaletterbox", kVideo + ",chroma-site=mpeg2", "video/x-raw,format=RGB");
  EXPECT_EQ(rig->output("chroma-site"), "");
}

TEST(Letterbox, KeepsOtherFields) {
  const auto rig =
      negotiated("cudaletterbox", kVideo + ",interlace-mode=progressive,multiview-mode=mono");
  EXPECT_EQ(rig->output("interlace-mode"), "progressive");
  EXPECT_EQ(rig->output("multiview-mode"), "mono");
}

TEST(Yuv444, OpenDownstreamGetsTheInputsSize) {
  EXPECT_EQ(size_of_output(*negotiated("cudanv12toyuv444", kVideo)), "12x8");
}

TEST(Yuv444, OpenDownstreamGetsTheResizedSizeLessTheCrop) {
  EXPECT_EQ(size_of_output(*negotiated("cudanv12toyuv444 resize-width=30 crop-x=4", kVideo)),
            "26x8");
  EXPECT_EQ(size_of_output(*negotiated("cudanv12toyuv444 resize-height=5 crop-y=4", kVideo)),
            "12x1");
}

/// Downstream cannot ask for more than the crop leaves of the resized picture.
TEST(Yuv444, RefusesMoreThanTheCropLeaves) {
  for (const auto &[properties, side] : {std::pair("resize-width=10 crop-x=4", "width"),
                                         std::pair("resize-height=10 crop-y=4", "height")}) {
    const std::string element = std::string("cudanv12toyuv444 ") + properties;
    EXPECT_EQ(negotiated(element, kVideo, std::string("video/x-raw,") + side + "=6")->output(side),
              "6");
    Rig rig(element);
    rig.downstream(std::string("video/x-raw,") + side + "=7");
    expect_refusal(rig, kVideo, buffer_of(random_picture(kInput)));
  }
}

TEST(Yuv444, TakesDownstreamsSize) {
  EXPECT_EQ(size_of_output(*negotiated("cudanv12toyuv444 resize-width=30", kVideo,
                                       "video/x-raw,width=20,height=[9,10]")),
            "20x9");
}

TEST(Yuv444, NamesTheColorimetry) {
  EXPECT_EQ(negotiated("cudanv12toyuv444", kVideo + ",colorimetry=bt2020")->output("colorimetry"),
            "bt2020");
  EXPECT_EQ(negotiated("cudanv12toyuv444", kVideo + ",colorimetry=(string)1:4:0:0")
                ->output("colorimetry"),
            "1:4:0:0");
}

TEST(Yuv444, NamesTheColorimetryThatTheInputsCapsImply) {
  EXPECT_EQ(negotiated("cudanv12toyuv444", kVideo)->output("colorimetry"), "bt601");
  const ImageDesc high = {PixelFormat::NV12, 4, 720};
  EXPECT_EQ(negotiated("cudanv12toyuv444", video_caps(high), "video/x-raw,height=8", high)
                ->output("colorimetry"),
            "bt709")
      << "although GStreamer's default for the output's size is another";
}

TEST(Yuv444, TakesTheColorimetryThatTheInputsCapsImply) {
  EXPECT_EQ(info_of(*negotiated("cudanv12toyuv444", kVideo, "video/x-raw,colorimetry=bt601"))
                .colorimetry.matrix,
            GST_VIDEO_COLOR_MATRIX_BT601);
}

TEST(Yuv444, KeepsTheShapeOfThings) {
  EXPECT_EQ(negotiated("cudanv12toyuv444", kVideo)->output("pixel-aspect-ratio"), "1/1");
  EXPECT_EQ(negotiated("cudanv12toyuv444", kVideo, "video/x-raw,width=6,height=8")
                ->output("pixel-aspect-ratio"),
            "2/1");
  EXPECT_EQ(negotiated("cudanv12toyuv444 resize-width=12 resize-height=8",
                       kVideo + ",pixel-aspect-ratio=4/3", "video/x-raw,width=6,height=8")
                ->output("pixel-aspect-ratio"),
            "4/3")
      << "a crop changes no shape";
}

TEST(Histogram, LeavesCapsAsTheyAre) {
  const std::string caps =
      "video/x-raw, format=(string)NV12, width=(int)12, height=(int)8, "
      "framerate=(fraction)30/1, colorimetry=(string)bt709, "
      "chroma-site=(string)mpeg2, pixel-aspect-ratio=(fraction)4/3, "
      "views=(int)1, custom=(string)kept";
  const auto rig = negotiated("cudahistogram", caps);
  const CapsRef expected(gst_caps_from_string(caps.c_str()));
  EXPECT_TRUE(gst_caps_is_strictly_equal(rig->output_caps().get(), expected.get()));
}

// --------------------------------------------------------------------------- tensors come out

std::string text_of(const CapsRef &caps) {
  gchar *text = gst_caps_to_string(caps.get());
  const std::string result = text;
  g_free(text);
  return result;
}

/// Expects the fields that NNStreamer requires, with their types, and no others.
void expect_tensor(const Rig &rig, const std::string &types, const std::string &dimensions,
                   int fps_n = 30, int fps_d = 1) {
  const CapsRef caps = rig.output_caps();
  ASSERT_TRUE(caps);
  SCOPED_TRACE(text_of(caps));
  ASSERT_EQ(gst_caps_get_size(caps.get()), 1u);
  const GstStructure *s = gst_caps_get_structure(caps.get(), 0);
  EXPECT_STREQ(gst_structure_get_name(s), "other/tensors");
  EXPECT_EQ(gst_structure_n_fields(s), 5);
  EXPECT_STREQ(gst_structure_get_string(s, "format"), "static");
  EXPECT_STREQ(gst_structure_get_string(s, "types"), types.c_str());
  EXPECT_STREQ(gst_structure_get_string(s, "dimensions"), dimensions.c_str());
  gint count = 0, n = -1, d = -1;
  EXPECT_TRUE(gst_structure_get_int(s, "num_tensors", &count));
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(gst_structure_get_fraction(s, "framerate", &n, &d));
  EXPECT_EQ(n, fps_n);
  EXPECT_EQ(d, fps_d);
}

TEST(Normalize, OpenDownstreamGetsFourDimensionsOfTheInputsSize) {
  expect_tensor(*negotiated("cudanormalize", kVideo), "float32", "12:8:3:1");
  expect_tensor(*negotiated("cudanormalize layout=nhwc", kVideo), "float32", "3:12:8:1");
  expect_tensor(*negotiated("cudanormalize color=gray dtype=uint8", kVideo), "uint8", "12:8:1:1");
  expect_tensor(*negotiated("cudanormalize color=gray layout=nhwc dtype=int8", kVideo), "int8",
                "1:12:8:1");
}

TEST(Normalize, PropertiesSetTheSize) {
  expect_tensor(*negotiated("cudanormalize width=5 height=6 dtype=float16", kVideo), "float16",
                "5:6:3:1");
  expect_tensor(*negotiated("cudanormalize width=5", kVideo), "float32", "5:8:3:1");
  expect_tensor(*negotiated("cudanormalize height=5 layout=nhwc", kVideo), "float32", "3:12:5:1");
}

TEST(Normalize, FramerateIsUpstreams) {
  const std::string open = "video/x-raw,format=NV12,width=12,height=8";
  expect_tensor(*negotiated("cudanormalize", open + ",framerate=24000/1001"), "float32", "12:8:3:1",
                24000, 1001);
  expect_tensor(*negotiated("cudanormalize", open + ",framerate=0/1"), "float32", "12:8:3:1", 0, 1);
}

TEST(Normalize, FramerateIsThereWhereUpstreamHasNone) {
  const std::string open = "video/x-raw,format=NV12,width=12,height=8";
  for (const char *size : {"", " width=4 height=4", " width=4"}) {
    const std::string dimensions = size[0] == '\0'                     ? "12:8:3:1"
                                   : strstr(size, "height") != nullptr ? "4:4:3:1"
                                                                       : "4:8:3:1";
    expect_tensor(*negotiated(std::string("cudanormalize") + size, open), "float32", dimensions, 0,
                  1);
  }
}

TEST(Normalize, TakesDownstreamsDimensions) {
  expect_tensor(*negotiated("cudanormalize", kVideo, tensor_caps("float32", "64:32:3:1")),
                "float32", "64:32:3:1");
  expect_tensor(*negotiated("cudanormalize", kVideo, tensor_caps("float32", "64:64:3")), "float32",
                "64:64:3");
  expect_tensor(
      *negotiated("cudanormalize layout=nhwc", kVideo, tensor_caps("float32", "3:64:32:1")),
      "float32", "3:64:32:1");
  expect_tensor(*negotiated("cudanormalize width=64", kVideo, tensor_caps("float32", "64:32:3:1")),
                "float32", "64:32:3:1");
  expect_tensor(*negotiated("cudanormalize color=gray", kVideo, tensor_caps("float32", "9:7:1:1")),
                "float32", "9:7:1:1");
}

TEST(Normalize, AdoptedDimensionsSizeTheTensor) {
  const Picture picture = random_picture(kInput);
  const NormalizeCase params =
      normalize_params(source_of(kInput), Color::rgb, DType::float32, Layout::nchw, 5, 7);
  EXPECT_TRUE(same_bytes(
      output_bytes("cudanormalize", kVideo, buffer_of(picture), tensor_caps("float32", "5:7:3")),
      normalized(picture, params)));
}

TEST(Normalize, TakesTheFirstOfAListThatFits) {
  expect_tensor(*negotiated("cudanormalize", kVideo,
                            "other/tensors,dimensions={(string)9:9:1:1,(string)3:9:9:1,"
                            "(string)20:10:3:1,(string)4:4:3:1}"),
                "float32", "20:10:3:1");
}

TEST(Normalize, OwnSizeChoosesFromAList) {
  expect_tensor(*negotiated("cudanormalize width=4 height=4", kVideo,
                            "other/tensors,dimensions={(string)20:10:3:1,(string)4:4:3:1}"),
                "float32", "4:4:3:1");
  expect_tensor(*negotiated("cudanormalize height=4", kVideo,
                            "other/tensors,dimensions={(string)20:10:3:1,(string)4:4:3:1}"),
                "float32", "4:4:3:1");
}

TEST(Normalize, OffersThreeDimensionsToo) {
  expect_tensor(*negotiated("cudanormalize width=640 height=480", kVideo,
                            tensor_caps("float32", "640:480:3")),
                "float32", "640:480:3");
  expect_tensor(*negotiated("cudanormalize width=4 height=5 layout=nhwc", kVideo,
                            tensor_caps("float32", "3:4:5")),
                "float32", "3:4:5");
  expect_tensor(*negotiated("cudanormalize width=4 height=5", kVideo, "other/tensors"), "float32",
                "4:5:3:1");
}

/// Caps that tensor_filter lists for a model of three dimensions.
const char *const kNnstreamerFilter =
    "other/tensor,type=(string)float32,dimension=(string)64:64:3:1,framerate=[0/1,2147483647/1];"
    "other/tensors,format=static,num_tensors=1,types=(string)float32,dimensions=(string)64:64:3,"
    "framerate=[0/1,2147483647/1];"
    "other/tensors,format=static,num_tensors=1,types=(string)float32,dimensions=(string)64:64:3:1,"
    "framerate=[0/1,2147483647/1]";

TEST(Normalize, LooksBeyondTheFirstStructure) {
  for (const char *size : {"", " width=64", " width=64 height=64"}) {
    const auto rig = negotiated(std::string("cudanormalize") + size, kVideo, kNnstreamerFilter);
    const std::string dimensions = rig->output("dimensions");
    EXPECT_TRUE(dimensions == "64:64:3" || dimensions == "64:64:3:1") << dimensions;
    expect_tensor(*rig, "float32", dimensions);
  }
}

/// Dimensions after the fourth must be 1.
TEST(Normalize, TakesFurtherDimensionsOfOne) {
  const auto rig = negotiated("cudanormalize", kVideo, tensor_caps("float32", "6:4:3:1:1"));
  EXPECT_EQ(rig->output("dimensions"), "6:4:3:1:1");
  for (const char *dimensions : {"6:4:3:1:2", "6:4:3:1:1:3"}) {
    Rig other("cudanormalize");
    other.downstream(tensor_caps("float32", dimensions));
    const std::string text = expect_refusal(other, kVideo, buffer_of(Picture(kInput)));
    EXPECT_TRUE(mentions(text, dimensions)) << text;
  }
}

/// In each case, one dimension differs from the settings.
TEST(Normalize, RefusesTensorsOfAnotherShape) {
  for (const auto &[properties, dimensions] :
       std::vector<std::pair<const char *, const char *>>{{"", "6:4:3:2"},
                                                          {"width=6", "6:4:3:2"},
                                                          {"width=6 height=4", "6:4:3:2"},
                                                          {"layout=nhwc", "3:6:4:2"},
                                                          {"frames-per-tensor=2", "6:4:3:1"},
                                                          {"frames-per-tensor=2", "6:4:3"},
                                                          {"regions=tiles", "6:4:3:1"},
                                                          {"", "6:4:1:1"},
                                                          {"color=gray", "6:4:3:1"},
                                                          {"layout=nhwc", "6:4:3:1"},
                                                          {"width=5", "6:4:3:1"},
                                                          {"height=5", "6:4:3:1"}}) {
    Rig rig(std::string("cudanormalize ") + properties);
    rig.downstream(std::string("other/tensors,dimensions=(string)") + dimensions);
    const std::string text = expect_refusal(rig, kVideo, buffer_of(Picture(kInput)));
    EXPECT_TRUE(mentions(text, dimensions)) << properties;
  }
}

/// A cause that returns after accepted caps is reported again.
TEST(Normalize, TellsTheCauseOfEachRefusal) {
  Rig rig("cudanormalize color=yuv");
  rig.downstream("other/tensors");
  const std::string rgb = video_caps({PixelFormat::RGB, 8, 6});
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(rig.caps(rgb));
    EXPECT_EQ(rig.push(buffer_of(Picture({PixelFormat::RGB, 8, 6}))), GST_FLOW_NOT_NEGOTIATED);
    EXPECT_EQ(rig.messages().errors().size(), 1u) << i;
    ASSERT_TRUE(rig.caps(kVideo));
    rig.process(buffer_of(Picture(kInput)));
  }
}

TEST(Normalize, ExtraFieldsOfDownstreamDoNotHurt) {
  const auto rig =
      negotiated("cudanormalize", kVideo, tensor_caps("float32", "6:4:3:1") + ",more=(int)1");
  EXPECT_EQ(rig->output("dimensions"), "6:4:3:1");
}

// --------------------------------------------------------------------------------- pixel shuffle

std::unique_ptr<Rig> shuffled_rig(const std::string &description, const std::string &caps,
                                  const std::string &downstream, size_t bytes) {
  auto rig = std::make_unique<Rig>(description);
  rig->downstream(downstream);
  EXPECT_TRUE(rig->caps(caps)) << caps << " to " << downstream;
  rig->process(buffer_of(Bytes(bytes)));
  return rig;
}

TEST(PixelShuffle, PrefersTensors) {
  expect_tensor(*shuffled_rig("cudapixelshuffle", tensor_caps("uint8", "4:3:12:1"), "ANY", 144),
                "uint8", "8:6:3:1");
  expect_tensor(*shuffled_rig("cudapixelshuffle", tensor_caps("float16", "4:3:12:5"), "ANY", 1440),
                "float16", "8:6:3:5");
}

TEST(PixelShuffle, TakesThreeDimensions) {
  expect_tensor(*shuffled_rig("cudapixelshuffle", tensor_caps("uint8", "4:3:12"), "ANY", 144),
                "uint8", "8:6:3:1");
  expect_tensor(*shuffled_rig("cudapixelshuffle", tensor_caps("uint8", "4:3:12"),
                              tensor_caps("uint8", "8:6:3"), 144),
                "uint8", "8:6:3");
}

TEST(PixelShuffle, MakesPicturesOfDownstreamsFormat) {
  const auto rig = shuffled_rig("cudapixelshuffle", tensor_caps("uint8", "4:3:12:1"),
                                "video/x-raw,format=BGR", 144);
  EXPECT_EQ(size_of_output(*rig), "8x6");
  EXPECT_EQ(rig->output("format"), "BGR");
  EXPECT_EQ(rig->output("framerate"), "30/1");
  EXPECT_EQ(rig->output("pixel-aspect-ratio"), "1/1");
}

TEST(PixelShuffle, OneChannelIsGrey) {
  EXPECT_EQ(shuffled_rig("cudapixelshuffle", tensor_caps("uint8", "4:3:4:1"), "video/x-raw", 48)
                ->output("format"),
            "GRAY8");
}

TEST(PixelShuffle, FramerateIsThereWhereUpstreamHasNone) {
  const std::string caps = tensor_caps("uint8", "4:3:12:1", "");
  expect_tensor(*shuffled_rig("cudapixelshuffle", caps, "ANY", 144), "uint8", "8:6:3:1", 0, 1);
}

// ----------------------------------------------------------------------------------- chroma site

struct Siting {
  const char *fields;
  bool x, y;
};

class ChromaSite : public testing::TestWithParam<Siting> {
 protected:
  Source source() const {
    return {kInput, {ColorMatrix::bt601, ColorRange::limited}, GetParam().x, GetParam().y};
  }
  Picture picture_ = random_picture(kInput);
  std::string caps_ = kVideo + GetParam().fields;
};

INSTANTIATE_TEST_SUITE_P(
    Negotiation, ChromaSite,
    testing::Values(Siting{",chroma-site=mpeg2,colorimetry=bt601", true, false},
                    Siting{",chroma-site=jpeg,colorimetry=bt601", false, false},
                    Siting{",chroma-site=cosited,colorimetry=bt601", true, true},
                    Siting{",chroma-site=v-cosited,colorimetry=bt601", false, true},
                    Siting{",chroma-site=mpeg2", true, false},
                    Siting{",chroma-site=jpeg", false, false},
                    Siting{",chroma-site=v-cosited", false, true},
                    // GStreamer's default for this size, and unknown.
                    Siting{"", false, false}, Siting{",colorimetry=bt601", false, false}),
    [](const auto &info) { return "case" + std::to_string(info.index); });

TEST_P(ChromaSite, IsReadFromTheCapsByLetterbox) {
  LetterboxParams params = {source(), {PixelFormat::RGB, 30, 20}, {}};
  params.resize.mode = ResizeMode::affine;
  EXPECT_TRUE(same_picture(output_picture("cudaletterbox", caps_, buffer_of(picture_), params.out),
                           letterboxed(picture_, params)));
}

TEST_P(ChromaSite, IsReadFromTheCapsByNormalize) {
  const NormalizeCase params =
      normalize_params(source(), Color::rgb, DType::float32, Layout::nchw, 30, 20);
  EXPECT_TRUE(
      same_bytes(output_bytes("cudanormalize", caps_, buffer_of(picture_), tensor_caps(params.out)),
                 normalized(picture_, params)));
}

TEST(ChromaSite, MattersForThePicture) {
  const Picture picture = random_picture(kInput);
  const ImageDesc out = {PixelFormat::RGB, 12, 8};
  std::set<Bytes> pictures;
  for (const char *site : {"mpeg2", "jpeg", "cosited", "v-cosited"})
    pictures.insert(
        output_picture("cudaletterbox", kVideo + ",chroma-site=" + site, buffer_of(picture), out)
            .bytes());
  EXPECT_EQ(pictures.size(), 4u);
}

TEST(ChromaSite, DefaultOfAHighPictureIsMpeg2) {
  const ImageDesc high = {PixelFormat::NV12, 4, 578};
  const Picture picture = random_picture(high);
  LetterboxParams params = {{high, {ColorMatrix::bt709, ColorRange::limited}, true, false},
                            {PixelFormat::RGB, 9, 1000},
                            {}};
  params.resize.mode = ResizeMode::affine;
  EXPECT_TRUE(same_picture(
      output_picture("cudaletterbox", video_caps(high), buffer_of(picture), params.out),
      letterboxed(picture, params)));
}

// ----------------------------------------------------------------------------------- colorimetry

struct Colours {
  const char *text;
  Colorimetry colorimetry;
};

class ColoursOfCaps : public testing::TestWithParam<Colours> {};

INSTANTIATE_TEST_SUITE_P(
    Negotiation, ColoursOfCaps,
    testing::Values(Colours{"bt601", {ColorMatrix::bt601, ColorRange::limited}},
                    Colours{"bt709", {ColorMatrix::bt709, ColorRange::limited}},
                    Colours{"bt2020", {ColorMatrix::bt2020, ColorRange::limited}},
                    Colours{"1:4:0:0", {ColorMatrix::bt601, ColorRange::full}},
                    Colours{"1:3:5:1", {ColorMatrix::bt709, ColorRange::full}},
                    Colours{"1:6:0:0", {ColorMatrix::bt2020, ColorRange::full}}),
    [](const auto &info) { return "case" + std::to_string(info.index); });

TEST_P(ColoursOfCaps, AreUsed) {
  const Picture picture = random_picture(kInput);
  const std::string caps = kVideo + ",colorimetry=(string)" + GetParam().text;
  const Source source = {kInput, GetParam().colorimetry, false, false};
  for (const Color color : {Color::rgb, Color::bgr, Color::gray}) {
    const NormalizeCase params =
        normalize_params(source, color, DType::float32, Layout::nchw, 12, 8);
    EXPECT_TRUE(same_bytes(output_bytes("cudanormalize color=" + nick(color), caps,
                                        buffer_of(picture), tensor_caps(params.out)),
                           normalized(picture, params)));
  }
}

TEST(ColoursOfCaps, FollowTheHeightIfThereIsNoMatrix) {
  for (const int height : {576, 577}) {
    const ImageDesc desc = {PixelFormat::NV12, 4, height};
    const Picture picture = random_picture(desc);
    const ColorMatrix matrix = height > 576 ? ColorMatrix::bt709 : ColorMatrix::bt601;
    const Source source = {desc, {matrix, ColorRange::limited}, false, false};
    const NormalizeCase params =
        normalize_params(source, Color::rgb, DType::float32, Layout::nchw, 4, height);
    EXPECT_TRUE(
        same_bytes(output_bytes("cudanormalize",
                                video_caps(desc, "colorimetry=(string)2:0:0:0,chroma-site=jpeg"),
                                buffer_of(picture), tensor_caps(params.out)),
                   normalized(picture, params)))
        << height;
  }
}

TEST(ColoursOfCaps, LumaAndYuvNeedNoKnownMatrix) {
  // Nothing is converted, so the matrix is not refused.
  negotiated("cudanormalize color=yuv", kVideo + ",colorimetry=smpte240m");
  negotiated("cudanormalize color=gray", kVideo + ",colorimetry=smpte240m");
  negotiated("cudaletterbox", kVideo + ",colorimetry=smpte240m", "video/x-raw,format=GRAY8");
  negotiated("cudanv12toyuv444", kVideo + ",colorimetry=smpte240m");
}

}  // namespace
}  // namespace cudatensor
