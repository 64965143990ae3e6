// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong input ends in one error that names its cause, or in a refusal. A single wrong frame gives a
// warning, and the stream continues. Nothing crashes, hangs or gives a wrong frame.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

const ImageDesc kNv12 = {PixelFormat::NV12, 10, 6};
const ImageDesc kRgb = {PixelFormat::RGB, 10, 6};

std::string numbered(size_t index) { return "case" + std::to_string(index); }

// ------------------------------------------------------------- settings that fail at the frame

struct BadSettings {
  const char *description;
  std::string caps;
  const char *cause;
  const char *downstream = nullptr;
};

void PrintTo(const BadSettings &c, std::ostream *os) { *os << c.description << " on " << c.caps; }

class Settings : public testing::TestWithParam<BadSettings> {};

TEST_P(Settings, EndInOneError) {
  const BadSettings &c = GetParam();
  const bool video = g_str_has_prefix(c.caps.c_str(), "video");
  Rig rig(c.description);
  if (c.downstream != nullptr) rig.downstream(c.downstream);
  ASSERT_TRUE(rig.caps(c.caps));
  expect_error(rig, video ? buffer_of(Picture(kNv12, 50)) : buffer_of(Bytes(16, 1)), c.cause);
}

const std::string kVideo = video_caps(kNv12);
const std::string kTensor = tensor_caps("float32", "1:1:4:1");
const char *const kGray = "video/x-raw,format=GRAY8";
const char *const kRgbOut = "video/x-raw,format=RGB,width=8,height=8";

INSTANTIATE_TEST_SUITE_P(
    BadInput, Settings,
    testing::Values(
        BadSettings{"cudanormalize mean=<1,2>", kVideo, "mean"},
        BadSettings{"cudanormalize mean=<1,2,3,4>", kVideo, "mean"},
        BadSettings{"cudanormalize mean=<>", kVideo, "mean"},
        BadSettings{"cudanormalize mean=<1,2,3> color=gray", kVideo, "mean"},
        BadSettings{"cudanormalize std=<1,2>", kVideo, "std"},
        BadSettings{"cudanormalize std=<>", kVideo, "std"},
        BadSettings{"cudanormalize std=<0>", kVideo, "std"},
        BadSettings{"cudanormalize std=<1,1,0>", kVideo, "std"},
        BadSettings{"cudanormalize std=<-0.0>", kVideo, "std"},
        BadSettings{"cudanormalize std=<1e-300>", kVideo, "std"},
        BadSettings{"cudanormalize mean=<1e300>", kVideo, "mean"},
        BadSettings{"cudanormalize scale=1e300", kVideo, "scale"},
        BadSettings{"cudanormalize normalization=alpha-beta alpha=<1,2>", kVideo, "alpha"},
        BadSettings{"cudanormalize normalization=alpha-beta alpha=<>", kVideo, "alpha"},
        BadSettings{"cudanormalize normalization=alpha-beta alpha=<1e39>", kVideo, "alpha"},
        BadSettings{"cudanormalize normalization=alpha-beta beta=<1,2,3,4,5>", kVideo, "beta"},
        BadSettings{"cudanormalize normalization=alpha-beta beta=<-1e39>", kVideo, "beta"},
        BadSettings{"cudanormalize normalization=alpha-beta beta=<1,2,3> color=gray", kVideo,
                    "beta"},
        // Resizes that exclude each other; the default of cudaletterbox is affine.
        BadSettings{"cudaletterbox antialias=true", kVideo,
                    "resize-mode=affine cannot be combined with antialias=true", kRgbOut},
        BadSettings{"cudaletterbox antialias=true", kVideo, "ultralytics and torchvision", kRgbOut},
        BadSettings{"cudaletterbox antialias=true resize-mode=ultralytics method=nearest", kVideo,
                    "method=nearest cannot be combined with antialias=true", kRgbOut},
        BadSettings{"cudaletterbox method=box", kVideo, "antialias=true", kRgbOut},
        BadSettings{"cudaletterbox method=bicubic resize-mode=top-left", kVideo,
                    "method is box, bicubic or lanczos, which requires antialias=true", kRgbOut},
        BadSettings{"cudaletterbox method=lanczos resize-mode=torchvision", kVideo,
                    "antialias=true", kRgbOut},
        BadSettings{"cudaletterbox resize-mode=torchvision shortest-edge=7", kVideo,
                    "shortest-edge", "video/x-raw,width=8,height=8"},
        BadSettings{"cudaletterbox resize-mode=transformers shortest-edge=7 antialias=true", kVideo,
                    "resize-mode=transformers", "video/x-raw,width=8,height=8"},
        // 10x6 becomes 13x8.
        BadSettings{"cudaletterbox resize-mode=torchvision shortest-edge=8", kVideo,
                    "13x8 pixels is smaller than the output of 14x8",
                    "video/x-raw,width=14,height=8"},
        BadSettings{"cudanormalize antialias=true resize-mode=affine", kVideo,
                    "resize-mode=affine"},
        BadSettings{"cudanormalize antialias=true method=nearest", kVideo, "method=nearest"},
        BadSettings{"cudanormalize antialias=true color=yuv", kVideo, "color=yuv"},
        BadSettings{"cudanormalize method=bicubic", kVideo, "method"},
        BadSettings{"cudanormalize pad-normalized=true resize-mode=affine", kVideo,
                    "pad-normalized=true cannot be combined with resize-mode=affine"},
        BadSettings{"cudanormalize pad-normalized=true dtype=uint8", kVideo,
                    "pad-normalized=true requires dtype float32, float16 or bfloat16"},
        BadSettings{"cudanormalize pad-normalized=true dtype=int8", kVideo, "pad-normalized"},
        BadSettings{"cudanormalize resize-mode=torchvision shortest-edge=5", kVideo,
                    "shortest-edge"},
        BadSettings{"cudanormalize resize-mode=torchvision shortest-edge=4 antialias=true "
                    "regions=tiles",
                    kVideo, "shortest-edge"},
        BadSettings{"cudahistogram roi=<1>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<0,0,5>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<0,0,5,5,5>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<0,0,0,5>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<0,0,5,0>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<0,0,-5,5>", kVideo, "roi"},
        BadSettings{"cudahistogram roi=<100,100,0,5>", kVideo, "roi"},
        BadSettings{"cudanv12toyuv444 crop-x=1", kVideo, "crop-x", "video/x-raw,width=10,height=6"},
        BadSettings{"cudanv12toyuv444 crop-y=1", kVideo, "crop-y"},
        BadSettings{"cudanv12toyuv444 crop-x=20 resize-width=20", kVideo, "crop-x"},
        BadSettings{"cudanv12toyuv444 crop-y=32767 resize-height=1", kVideo, "crop-y"},
        BadSettings{"cudapixelshuffle scale=1e39", kTensor, "scale", kGray},
        BadSettings{"cudapixelshuffle offset=-1e39", kTensor, "offset", kGray}),
    [](const auto &info) { return numbered(info.index); });

/// The regions may fit a later picture of the camera.
TEST(BadInput, RoisOutsideThePictureAreNoErrors) {
  for (const char *roi : {"<10,0,5,5>", "<0,6,5,5>", "<-5,0,5,5>", "<0,-2147483648,1,2147483647>",
                          "<2147483647,2147483647,2147483647,2147483647>"}) {
    Rig rig(std::string("cudahistogram interval=0 roi=") + roi);
    ASSERT_TRUE(rig.caps(kVideo));
    expect_fault(rig, buffer_of(Picture(kNv12, 50)), std::string("roi=") + roi);
    EXPECT_TRUE(rig.histograms(0).empty());
  }
}

// --------------------------------------------------------------------- values GObject refuses

struct BadValue {
  const char *element, *property;
  double value;
};

void PrintTo(const BadValue &c, std::ostream *os) {
  *os << c.element << " " << c.property << "=" << c.value;
}

/// Sets a numeric property of any type.
void set_number(GObject *object, const char *property, double number) {
  const GType type = g_object_class_find_property(G_OBJECT_GET_CLASS(object), property)->value_type;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, type);
  if (type == G_TYPE_INT)
    g_value_set_int(&value, static_cast<gint>(number));
  else if (type == G_TYPE_UINT)
    g_value_set_uint(&value, static_cast<guint>(number));
  else if (type == G_TYPE_DOUBLE)
    g_value_set_double(&value, number);
  else
    g_value_set_enum(&value, static_cast<gint>(number));
  g_object_set_property(object, property, &value);
  g_value_unset(&value);
}

class Values : public testing::TestWithParam<BadValue> {};

TEST_P(Values, AreRefusedAndTheOldOneStays) {
  Rig rig(GetParam().element);
  const std::string before = rig.get(GetParam().property);
  const GObjectWarnings warnings;
  set_number(G_OBJECT(rig.element()), GetParam().property, GetParam().value);
  EXPECT_EQ(warnings.count(), 1);
  EXPECT_EQ(rig.get(GetParam().property), before);
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, Values,
    testing::Values(
        BadValue{"cudanormalize", "width", -1}, BadValue{"cudanormalize", "width", 32768},
        BadValue{"cudanormalize", "height", -1}, BadValue{"cudanormalize", "height", 32768},
        BadValue{"cudanormalize", "pad-value", 256}, BadValue{"cudanormalize", "pad-value", -1},
        BadValue{"cudanormalize", "color", 99}, BadValue{"cudanormalize", "layout", 3},
        BadValue{"cudanormalize", "dtype", 5}, BadValue{"cudanormalize", "resize-mode", -1},
        BadValue{"cudanormalize", "normalization", 2}, BadValue{"cudaletterbox", "resize-mode", 99},
        // cudaletterbox has no mode stretch.
        BadValue{"cudaletterbox", "resize-mode", 0}, BadValue{"cudaletterbox", "method", 5},
        BadValue{"cudaletterbox", "resize-mode", 6}, BadValue{"cudanormalize", "resize-mode", 6},
        BadValue{"cudaletterbox", "shortest-edge", -1},
        BadValue{"cudaletterbox", "shortest-edge", 32768},
        BadValue{"cudanormalize", "shortest-edge", 32768},
        BadValue{"cudaletterbox", "pad-value", 300}, BadValue{"cudaletterbox", "backend", 3},
        BadValue{"cudaletterbox", "cuda-device-id", -2},
        BadValue{"cudaletterbox", "n-threads", 1e6},
        BadValue{"cudanv12toyuv444", "resize-width", -1},
        BadValue{"cudanv12toyuv444", "resize-height", 32768},
        BadValue{"cudanv12toyuv444", "crop-x", -1}, BadValue{"cudanv12toyuv444", "crop-y", 32768},
        BadValue{"cudapixelshuffle", "upscale-factor", 0},
        BadValue{"cudapixelshuffle", "upscale-factor", -2},
        BadValue{"cudahistogram", "active-backend", 1}),
    [](const auto &info) { return numbered(info.index); });

/// Sets a property, or the elements of a list property, to NaN or infinity.
void set_not_finite(GObject *object, const char *property, double number) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(object), property)->value_type ==
      G_TYPE_DOUBLE)
    return set_number(object, property, number);
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_ARRAY);
  for (const double each : {1.0, number, 1.0}) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_DOUBLE);
    g_value_set_double(&item, each);
    gst_value_array_append_and_take_value(&list, &item);
  }
  g_object_set_property(object, property, &list);
  g_value_unset(&list);
}

struct NotFinite {
  const char *element;
  std::string caps;
  const char *downstream, *property;
};

void PrintTo(const NotFinite &c, std::ostream *os) { *os << c.element << " " << c.property; }

class InfiniteAndNanProperties : public testing::TestWithParam<NotFinite> {};

TEST_P(InfiniteAndNanProperties, EndInOneError) {
  const NotFinite &c = GetParam();
  const bool video = g_str_has_prefix(c.caps.c_str(), "video");
  const auto frame = [&] {
    return video ? buffer_of(Picture(kNv12, 50)) : buffer_of(Bytes(16, 1));
  };
  for (const double number : {kNan, -kNan, kInfinity, -kInfinity}) {
    Rig rig(c.element);
    rig.downstream(c.downstream);
    ASSERT_TRUE(rig.caps(c.caps));
    set_not_finite(G_OBJECT(rig.element()), c.property, number);
    expect_error(rig, frame(), c.property);
    expect_error(rig, frame(), "finite");
  }
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, InfiniteAndNanProperties,
    testing::Values(NotFinite{"cudanormalize", kVideo, "ANY", "mean"},
                    NotFinite{"cudanormalize", kVideo, "ANY", "std"},
                    NotFinite{"cudanormalize", kVideo, "ANY", "scale"},
                    NotFinite{"cudanormalize dtype=uint8", kVideo, "ANY", "mean"},
                    NotFinite{"cudanormalize normalization=alpha-beta", kVideo, "ANY", "alpha"},
                    NotFinite{"cudanormalize normalization=alpha-beta", kVideo, "ANY", "beta"},
                    NotFinite{"cudapixelshuffle", kTensor, kGray, "scale"},
                    NotFinite{"cudapixelshuffle", kTensor, kGray, "offset"}),
    [](const auto &info) { return numbered(info.index); });

TEST(BadInput, AListOfIntegersIsTakenOrRefusedWhole) {
  Rig rig("cudanormalize");
  const std::string before = rig.get("mean");
  GValue list = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_ARRAY);
  g_value_init(&item, G_TYPE_INT);
  g_value_set_int(&item, 3);
  gst_value_array_append_value(&list, &item);
  const GObjectWarnings warnings;
  // Python converts Gst.ValueArray([3]) to this.
  g_object_set_property(G_OBJECT(rig.element()), "mean", &list);
  g_value_unset(&item);
  g_value_unset(&list);
  const std::string after = rig.get("mean");
  EXPECT_TRUE(warnings.count() == 0 ? after == "< (double)3 >" : after == before) << after;
}

// ------------------------------------------------------------------------------------- buffers

struct BadBuffer {
  const char *element;
  std::string name;
  PixelFormat format;
  std::function<BufferRef(const Picture &)> make;
};

void PrintTo(const BadBuffer &c, std::ostream *os) { *os << c.name << " into " << c.element; }

class Buffers : public testing::TestWithParam<BadBuffer> {};

TEST_P(Buffers, AreNotUsedAndTheStreamGoesOn) {
  const ImageDesc desc = {GetParam().format, 10, 6};
  Rig rig(GetParam().element);
  ASSERT_TRUE(rig.caps(video_caps(desc)));
  expect_fault(rig, GetParam().make(Picture(desc, 50)), "buffer of");
  expect_silent_fault(rig, GetParam().make(Picture(desc, 50)));
  // The next good buffer is used.
  rig.process(buffer_of(Picture(desc, 50)));
}

BufferRef shortened(const Picture &picture, size_t bytes) {
  BufferRef buffer = buffer_of(picture);
  gst_buffer_set_size(buffer.get(), static_cast<gssize>(gst_buffer_get_size(buffer.get()) - bytes));
  return buffer;
}

/// Fields of the GstVideoMeta of a picture's buffer.
struct Claim {
  ImageDesc desc;
  std::vector<gsize> offsets;
  std::vector<gint> strides;
};

BufferRef with_meta(const Picture &picture, Claim claim) {
  BufferRef buffer = buffer_of(picture);
  claim.offsets.resize(GST_VIDEO_MAX_PLANES);
  claim.strides.resize(GST_VIDEO_MAX_PLANES);
  const GstVideoInfo info = video_info_of(claim.desc);
  gst_buffer_add_video_meta_full(
      buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
      static_cast<guint>(claim.desc.width), static_cast<guint>(claim.desc.height),
      GST_VIDEO_INFO_N_PLANES(&info), claim.offsets.data(), claim.strides.data());
  return buffer;
}

std::vector<gint> strides_of(const Picture &picture) {
  std::vector<gint> strides;
  for (const Picture::Plane &p : picture.planes())
    strides.push_back(static_cast<gint>(p.row_bytes));
  return strides;
}

/// Returns a picture with negative strides. In one plane, the last row begins before the memory.
BufferRef too_far_up(const Picture &picture, size_t plane) {
  std::vector<gsize> offsets;
  std::vector<gint> strides;
  for (const Picture::Plane &p : picture.planes()) {
    offsets.push_back(p.row_bytes * static_cast<size_t>(p.rows - 1));
    strides.push_back(-static_cast<gint>(p.row_bytes));
  }
  --offsets[plane];
  return with_meta(picture, {picture.desc(), offsets, strides});
}

/// Returns planes of which one is a byte too short.
BufferRef with_short_plane(const Picture &picture, size_t plane) {
  const Picture::Plane &last = picture.planes()[plane];
  std::vector<gsize> offsets(picture.planes().size(), 0);
  offsets[plane] = gst_buffer_get_size(buffer_of(picture).get()) - last.bytes.size() + 1;
  return with_meta(picture, {picture.desc(), offsets, strides_of(picture)});
}

std::vector<BadBuffer> bad_buffers_for(const char *element, PixelFormat format) {
  std::vector<BadBuffer> cases;
  const auto add = [&](const std::string &name, std::function<BufferRef(const Picture &)> make) {
    cases.push_back({element, std::string(name_of(format)) + name, format, std::move(make)});
  };
  add("Empty", [](const Picture &) { return BufferRef(gst_buffer_new()); });
  add("OneByte", [](const Picture &) { return buffer_of(Bytes(1)); });
  add("OneShort", [](const Picture &p) { return shortened(p, 1); });
  const size_t planes = Picture({format, 10, 6}).planes().size();
  for (size_t i = 0; i < planes; ++i)
    add("ShortPlane" + std::to_string(i), [i](const Picture &p) { return with_short_plane(p, i); });
  add("OffsetBeyondTheEnd", [planes](const Picture &p) {
    std::vector<gsize> offsets(planes, 0);
    offsets.back() = 1 << 20;
    return with_meta(p, {p.desc(), offsets, {40, 40, 40}});
  });
  add("ShortStride", [](const Picture &p) { return with_meta(p, {p.desc(), {}, {3, 3, 3}}); });
  add("NoStride", [](const Picture &p) { return with_meta(p, {p.desc(), {}, {0, 0, 0}}); });
  add("NegativeStride", [](const Picture &p) {
    return with_meta(p, {p.desc(), {}, {-40, -40, -40}});
  });
  add("HugeStride", [](const Picture &p) {
    return with_meta(p, {p.desc(), {}, {G_MAXINT, G_MAXINT, G_MAXINT}});
  });
  for (size_t i = 0; i < planes; ++i)
    add("OneByteTooFarUp" + std::to_string(i), [i](const Picture &p) { return too_far_up(p, i); });
  for (const auto &[name, w, h] :
       {std::tuple("Narrower", 8, 6), {"Lower", 10, 4}, {"OneNarrower", 9, 6}, {"OneLower", 10, 5}})
    add(name, [format, w = w, h = h](const Picture &p) {
      return with_meta(p, {{format, w, h}, {0, 0, 0}, strides_of(p)});
    });
  for (const auto &[name, w, h] : {std::tuple("Wider", 12, 6), {"Higher", 10, 8}})
    add(name, [format, w = w, h = h](const Picture &p) {
      return with_meta(p, {{format, w, h}, {0, 0, 0}, {2, 2, 2}});
    });
  add("OfFewerPlanes", [](const Picture &p) {
    BufferRef buffer = with_meta(p, {p.desc(), {}, {40, 40, 40}});
    gst_buffer_get_video_meta(buffer.get())->n_planes = 0;
    return buffer;
  });
  add("OfMorePlanes", [](const Picture &p) {
    BufferRef buffer = with_meta(p, {p.desc(), {}, {40, 40, 40}});
    ++gst_buffer_get_video_meta(buffer.get())->n_planes;
    return buffer;
  });
  add("OfAnotherFormat", [](const Picture &p) {
    return with_meta(p, {{PixelFormat::GRAY8, 10, 6}, {}, {10}});
  });
  return cases;
}

std::vector<BadBuffer> bad_buffers() {
  std::vector<BadBuffer> all;
  const std::pair<const char *, std::vector<PixelFormat>> elements[] = {
      {"cudanv12toyuv444", {PixelFormat::NV12, PixelFormat::YV12}},
      {"cudaletterbox",
       {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::Y444, PixelFormat::NV16}},
      {"cudanormalize",
       {PixelFormat::I420, PixelFormat::BGRx, PixelFormat::UYVY, PixelFormat::I420_10LE}},
      {"cudahistogram", {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::P010_10LE}}};
  for (const auto &[element, formats] : elements)
    for (const PixelFormat format : formats)
      for (const BadBuffer &c : bad_buffers_for(element, format)) all.push_back(c);
  return all;
}

INSTANTIATE_TEST_SUITE_P(BadInput, Buffers, testing::ValuesIn(bad_buffers()), [](const auto &info) {
  return std::string(info.param.element) + info.param.name;
});

class TensorSizes : public testing::TestWithParam<size_t> {};

TEST_P(TensorSizes, MustMatchTheCaps) {
  Rig rig("cudapixelshuffle");
  ASSERT_TRUE(rig.caps(kTensor));
  expect_fault(rig, buffer_of(Bytes(GetParam())), "bytes");
  rig.process(buffer_of(Bytes(16)));
}

INSTANTIATE_TEST_SUITE_P(BadInput, TensorSizes, testing::Values(0, 1, 15, 17, 20, 512));

/// Returns a buffer whose memory begins one byte after an aligned address.
BufferRef misaligned(const Bytes &bytes) {
  BufferRef buffer(gst_buffer_new());
  auto *data = static_cast<guint8 *>(g_malloc(bytes.size() + 1));
  std::memcpy(data + 1, bytes.data(), bytes.size());
  gst_buffer_append_memory(
      buffer.get(), gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), data, bytes.size() + 1,
                                           1, bytes.size(), data, g_free));
  return buffer;
}

TEST(BadInput, AMisalignedTensorIsDroppedOrCopied) {
  for (const DType dtype : {DType::float32, DType::float16}) {
    const TensorDesc desc = {dtype, Layout::nchw, 1, 4, 1, 1};
    const Bytes bytes = random_tensor(desc, 1);
    Rig rig("cudapixelshuffle");
    ASSERT_TRUE(rig.caps(tensor_caps(desc)));
    if (rig.get("active-backend") == "cpu") {
      expect_fault(rig, misaligned(bytes), "aligned");
      continue;
    }
    // The upload to the GPU copies it.
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(misaligned(bytes)).get()),
                           shuffled_bytes(bytes, {desc, 2})));
  }
}

TEST(BadInput, BytesCannotBeMisaligned) {
  Rig rig("cudapixelshuffle");
  ASSERT_TRUE(rig.caps(tensor_caps("uint8", "1:1:4:1")));
  EXPECT_EQ(bytes_of(rig.process(misaligned({1, 2, 3, 4})).get()), (Bytes{1, 2, 3, 4}));
}

// ---------------------------------------------------------------------------------------- caps

struct BadCaps {
  const char *description;
  std::string caps;
  std::string downstream = "ANY";
  const char *cause = "";  ///< in the error's text; empty if the pad's template refuses the caps
  Error::Code code = Error::Code::settings;  ///< or input if no setting changes the refusal
};

void PrintTo(const BadCaps &c, std::ostream *os) {
  *os << c.description << " from " << c.caps << " to " << c.downstream;
}

class Caps : public testing::TestWithParam<BadCaps> {};

TEST_P(Caps, AreRefused) {
  Rig rig(GetParam().description);
  rig.downstream(GetParam().downstream);
  const std::string error =
      expect_refusal(rig, GetParam().caps, buffer_of(Bytes(4096)), GetParam().code);
  EXPECT_EQ(error.empty(), *GetParam().cause == '\0') << error;
  EXPECT_TRUE(mentions(error, GetParam().cause));
}

std::string nv12_with(const std::string &more) { return video_caps(kNv12, more); }

BadCaps tensors(const char *types, const char *dimensions, const char *cause = "") {
  return {"cudapixelshuffle", tensor_caps(types, dimensions), "ANY", cause};
}

BadCaps tensor_of_nv12(const char *properties, const char *types, const char *dimensions,
                       const char *cause = "") {
  return {properties, kVideo, tensor_caps(types, dimensions), cause};
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, Caps,
    testing::Values(
        // Impossible pictures.
        BadCaps{"cudaletterbox", "video/x-raw"}, BadCaps{"cudaletterbox", "video/x-raw,format=RGB"},
        BadCaps{"cudaletterbox", "video/x-raw,format=RGB,width=10"},
        BadCaps{"cudaletterbox", "video/x-raw,width=10,height=6,framerate=30/1"},
        BadCaps{"cudaletterbox", "video/x-raw,format=RGB,width=0,height=6"},
        BadCaps{"cudaletterbox", "video/x-raw,format=RGB,width=32768,height=1"},
        BadCaps{"cudaletterbox", "video/x-raw,format=VYUY,width=10,height=6"},
        BadCaps{"cudaletterbox", "video/x-raw,format=nonsense,width=10,height=6"},
        BadCaps{"cudaletterbox", "image/jpeg,width=10,height=6"},
        BadCaps{"cudanormalize", "video/x-raw,format=NV12"},
        BadCaps{"cudanormalize", "video/x-raw,format=NV12,width=10,height=32768"},
        BadCaps{"cudanormalize", "video/x-raw,format=P010_10BE,width=10,height=6"},
        BadCaps{"cudanv12toyuv444", video_caps(kRgb)},
        BadCaps{"cudanv12toyuv444", "video/x-raw,format=I420,width=10"},
        BadCaps{"cudahistogram", "video/x-raw,format=GRAY16_BE,width=10,height=6"},
        BadCaps{"cudahistogram", "video/x-raw,format=GRAY8,width=10"},
        // Sizes and formats that downstream asks for.
        BadCaps{"cudaletterbox", kVideo, "video/x-raw,format=NV12", "format=(string)NV12"},
        BadCaps{"cudaletterbox", kVideo, "video/x-raw,format=RGB,width=32768", "32768"},
        BadCaps{"cudaletterbox", kVideo, "video/x-raw,pixel-aspect-ratio=4/3", "4/3"},
        BadCaps{"cudaletterbox", kVideo, "video/x-raw,framerate=25/1", "25/1"},
        BadCaps{"cudanv12toyuv444", kVideo, "video/x-raw,height=32768", "32768"},
        BadCaps{"cudanv12toyuv444", kVideo, "video/x-raw,format=I420", "I420"},
        BadCaps{"cudanv12toyuv444 resize-width=8 crop-x=2", kVideo, "video/x-raw,width=7",
                "resize-width=8, resize-height=0, crop-x=2"},
        BadCaps{"cudanv12toyuv444 resize-height=4", kVideo, "video/x-raw,height=5",
                "resize-height=4"},
        // Colours that no element converts.
        BadCaps{"cudanv12toyuv444", nv12_with("colorimetry=bt601"), "video/x-raw,colorimetry=bt709",
                "colorimetry"},
        BadCaps{"cudanv12toyuv444", kVideo, "video/x-raw,colorimetry=bt709", "colorimetry"},
        BadCaps{"cudaletterbox", nv12_with("colorimetry=smpte240m"), "ANY", "smpte240m",
                Error::Code::input},
        BadCaps{"cudaletterbox", nv12_with("colorimetry=(string)2:2:0:0"), "ANY", "2:2:0:0",
                Error::Code::input},
        BadCaps{"cudanormalize", nv12_with("colorimetry=smpte240m"), "ANY", "smpte240m",
                Error::Code::input},
        BadCaps{"cudanormalize color=bgr", nv12_with("colorimetry=(string)2:2:0:0"), "ANY",
                "2:2:0:0", Error::Code::input},
        BadCaps{"cudanormalize color=yuv", video_caps(kRgb), "ANY", "color=yuv",
                Error::Code::input},
        BadCaps{"cudanormalize color=yuv", "video/x-raw,format=GRAY8,width=10,height=6", "ANY",
                "color=yuv", Error::Code::input},
        // Tensors that downstream asks for.
        tensor_of_nv12("cudanormalize", "uint8", "10:6:3:1", "dtype=float32"),
        tensor_of_nv12("cudanormalize", "float64", "10:6:3:1", "dtype=float32"),
        tensor_of_nv12("cudanormalize", "float32", "10:6:1:1", "color=rgb"),
        tensor_of_nv12("cudanormalize", "float32", "10:6:4:1", "color=rgb"),
        tensor_of_nv12("cudanormalize", "float32", "10:6:3:2", "batch size of 1"),
        tensor_of_nv12("cudanormalize", "float32", "3:10:6:1", "layout=nchw"),
        tensor_of_nv12("cudanormalize layout=nhwc", "float32", "10:6:3:1", "layout=nhwc"),
        tensor_of_nv12("cudanormalize color=gray", "float32", "10:6:3:1", "color=gray"),
        tensor_of_nv12("cudanormalize", "float32", "32768:6:3:1", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "0:6:3:1", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "-4:6:3:1", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "a:b:3:1", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "10:6:3:1:2", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "10:6", "downstream"),
        tensor_of_nv12("cudanormalize", "float32", "4294967306:6:3:1", "downstream"),
        tensor_of_nv12("cudanormalize width=8", "float32", "10:6:3:1", "width=8"),
        tensor_of_nv12("cudanormalize width=8 height=6", "float32", "10:6:3:1",
                       "width=8, height=6"),
        BadCaps{"cudanormalize", kVideo, "other/tensors,format=flexible", "flexible"},
        BadCaps{"cudanormalize", kVideo, "other/tensors,num_tensors=2", "num_tensors=(int)2"},
        BadCaps{"cudanormalize", kVideo, "other/tensor,dimension=(string)10:6:3:1",
                "other/tensor,"},
        // Impossible tensors.
        tensors("float32", "", "dimensions"), tensors("float32", "0:1:4:1", "dimensions"),
        tensors("float32", "a:b", "dimensions"), tensors("float32", "1:1:-4:1", "dimensions"),
        tensors("float32", "1:2:4:1:5", "dimensions"), tensors("float32", "1::4:1", "dimensions"),
        tensors("float32", "1:1:4:1:", "dimensions"), tensors("float32", "1.5:1:4:1", "dimensions"),
        tensors("float32", "640:640", "upscale-factor"), tensors("float32", "4", "upscale-factor"),
        tensors("float32", "99999999999999999999:1:4:1", "dimensions"),
        tensors("float32", "2147483648:1:4:1", "dimensions"), tensors("int8", "1:1:4:1"),
        tensors("float64", "1:1:4:1"), tensors("nonsense", "1:1:4:1"),
        BadCaps{"cudapixelshuffle", "other/tensors"},
        BadCaps{"cudapixelshuffle", "other/tensors,format=static,num_tensors=1,types=float32",
                "ANY", "dimensions"},
        BadCaps{"cudapixelshuffle",
                "other/tensors,format=static,num_tensors=1,dimensions=(string)1:1:4:1"},
        BadCaps{"cudapixelshuffle", "other/tensors,format=flexible,framerate=30/1"},
        BadCaps{"cudapixelshuffle",
                "other/tensors,format=static,num_tensors=2,types=float32,"
                "dimensions=(string)1:1:4:1,framerate=30/1"},
        // Channels, batches and sizes that cannot be shuffled into downstream's caps.
        tensors("float32", "1:1:3:1", "upscale-factor"), tensors("float32", "1:1:6:1", "multiple"),
        BadCaps{"cudapixelshuffle upscale-factor=3", kTensor, "ANY", "upscale-factor"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:4:1"), "video/x-raw,width=9,height=8",
                "width=(int)9"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:4:1"), "video/x-raw,width=4,height=4",
                "upscale-factor=2"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:4:1"), "video/x-raw,format=RGB",
                "upscale-factor=2"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:12:1"), "video/x-raw,format=GRAY8",
                "GRAY8"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:12:2"), "video/x-raw", "8:8:3:2"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:8:1"), "video/x-raw", "8:8:2:1"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "20000:1:4:1"), "video/x-raw", "40000:2"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:4:1"),
                tensor_caps("float32", "8:8:1:1"), "float32"},
        BadCaps{"cudapixelshuffle", tensor_caps("uint8", "4:4:4:1"),
                tensor_caps("uint8", "8:8:3:1"), "8:8:3:1"}),
    [](const auto &info) { return numbered(info.index); });

/// Every format of GStreamer is taken, or refused with its name.
TEST(Formats, AreTakenOrRefusedByName) {
  guint count = 0;
  const GstVideoFormat *all = gst_video_formats_raw(&count);
  for (const char *name : {"cudaletterbox", "cudanormalize", "cudahistogram", "cudatensormux"}) {
    const Ref<GstElement> element = make_element(name);
    const bool many = g_str_equal(name, "cudatensormux");
    const Ref<GstPad> pad(many ? gst_element_request_pad_simple(element.get(), "sink_%u")
                               : gst_element_get_static_pad(element.get(), "sink"));
    for (guint i = 0; i < count; ++i) {
      const std::string format = gst_video_format_to_string(all[i]);
      const CapsRef caps(gst_caps_from_string(
          ("video/x-raw,format=" + format + ",width=10,height=6,framerate=30/1").c_str()));
      const bool taken = std::any_of(kInputFormats.begin(), kInputFormats.end(),
                                     [&](PixelFormat each) { return name_of(each) == format; });
      const WarningLog log;
      EXPECT_EQ(gst_pad_query_accept_caps(pad.get(), caps.get()), taken) << name << " " << format;
      EXPECT_EQ(log.text(),
                taken ? "" : "not negotiated: video format " + format + " is not supported\n");
    }
    if (many) gst_element_release_request_pad(element.get(), pad.get());
  }
}

/// The tensors have more bytes than 64 bits can count, than any memory has, and than most machines
/// have. If the system allocates even those, the buffer cannot be used.
class Enormous : public testing::TestWithParam<const char *> {};

TEST_P(Enormous, TensorsAreRefusedOrEndInOneError) {
  Rig rig("cudapixelshuffle");
  rig.caps(tensor_caps("float32", GetParam()));
  const GstFlowReturn flow = rig.push(buffer_of(Bytes(4096)));
  const size_t errors = rig.messages().errors().size();
  const size_t warnings = rig.messages().warnings().size();
  EXPECT_EQ(rig.pull(), nullptr);
  if (flow == GST_FLOW_OK) {
    EXPECT_EQ(warnings, 1u);
    EXPECT_EQ(errors, 0u);
    return;
  }
  EXPECT_TRUE(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR) << gst_flow_get_name(flow);
  EXPECT_EQ(errors, 1u);
}

INSTANTIATE_TEST_SUITE_P(BadInput, Enormous,
                         testing::Values("2147483647:2147483647:2147483644:2147483647",
                                         "2147483647:2147483647:4:1", "2147483647:1024:4:1"),
                         [](const auto &info) { return numbered(info.index); });

// --------------------------------------------------------------------------------- out of order

class Elements : public testing::TestWithParam<const char *> {};

TEST_P(Elements, OutputNothingBeforeCaps) {
  Rig rig(GetParam());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
  const GstFlowReturn flow = rig.push(buffer_of(Bytes(4096)));
  EXPECT_EQ(rig.pull(), nullptr);
  EXPECT_TRUE(flow == GST_FLOW_NOT_NEGOTIATED ||
              (flow == GST_FLOW_ERROR && rig.messages().errors().size() == 1))
      << gst_flow_get_name(flow);
}

INSTANTIATE_TEST_SUITE_P(BadInput, Elements,
                         testing::Values("cudanv12toyuv444", "cudaletterbox", "cudanormalize",
                                         "cudahistogram", "cudapixelshuffle"),
                         [](const auto &info) { return std::string(info.param); });

}  // namespace
}  // namespace cudatensor
