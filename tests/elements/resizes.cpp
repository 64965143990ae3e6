// SPDX-License-Identifier: LGPL-2.1-or-later
// Antialiased resizes, crops, and padding of zeros, in every element that has them.
#include "gpu.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"
#include "tests/kernels/oracle.h"

namespace cudatensor {
namespace {

constexpr Method kFilters[] = {Method::box, Method::bilinear, Method::bicubic, Method::lanczos};
constexpr ResizeMode kLetterboxes[] = {ResizeMode::ultralytics, ResizeMode::top_left};
constexpr ResizeMode kCrops[] = {ResizeMode::torchvision, ResizeMode::transformers};

constexpr const char *kImageNet = " mean=<0.485,0.456,0.406> std=<0.229,0.224,0.225>";

Resize antialiased(ResizeMode mode, Method method, int shortest_edge = 0) {
  Resize resize;
  resize.mode = mode;
  resize.method = method;
  resize.antialias = true;
  resize.shortest_edge = shortest_edge;
  resize.pad_value = 77;
  return resize;
}

Resize plain(ResizeMode mode, Method method, int shortest_edge = 0) {
  Resize resize = antialiased(mode, method, shortest_edge);
  resize.antialias = false;
  return resize;
}

/// Returns the resizes that networks are trained with: all filters of all modes, and crops of other
/// resizes.
std::vector<Resize> new_resizes(bool has_stretch) {
  std::vector<Resize> all;
  for (const Method filter : kFilters) {
    if (has_stretch) all.push_back(antialiased(ResizeMode::stretch, filter));
    for (const ResizeMode mode : kLetterboxes) all.push_back(antialiased(mode, filter));
    for (const ResizeMode mode : kCrops)
      for (const int edge : {0, 27}) all.push_back(antialiased(mode, filter, edge));
  }
  for (const ResizeMode mode : kCrops)
    for (const Method method : {Method::bilinear, Method::nearest})
      for (const int edge : {0, 27}) all.push_back(plain(mode, method, edge));
  return all;
}

struct Size {
  int width, height;
};

/// Sources that are wider, smaller, higher, as large as the output, and far larger.
constexpr Size kSources[] = {{31, 17}, {9, 14}, {32, 57}, {24, 20}, {203, 119}};
constexpr Size kOut = {24, 20};

ImageDesc source_at(size_t i, PixelFormat format) {
  const Size size = kSources[i % std::size(kSources)];
  return {format, size.width, size.height};
}

NormalizeCase case_of(const ImageDesc &in, const Resize &resize, DType dtype = DType::float32,
                      Color color = Color::rgb) {
  NormalizeCase params =
      normalize_params(source_of(in), color, dtype, Layout::nchw, kOut.width, kOut.height);
  params.resize = resize;
  return params;
}

Bytes tensor_of(const Picture &picture, const NormalizeCase &params, const std::string &more = "") {
  return output_bytes("cudanormalize " + properties_of(params) + more, video_caps(picture.desc()),
                      buffer_of(picture), "ANY");
}

// ---------------------------------------------------------------------- the kernels' arithmetic

TEST(Resizes, EqualTheKernelsInLetterbox) {
  size_t i = 0;
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::BGRx, PixelFormat::GRAY8})
    for (const Resize &resize : new_resizes(false)) {
      const Picture picture = random_picture(source_at(i++, format));
      for (const PixelFormat out : {PixelFormat::RGB, PixelFormat::GRAY8}) {
        const LetterboxParams params = {
            source_of(picture.desc()), {out, kOut.width, kOut.height}, resize};
        EXPECT_TRUE(
            same_picture(output_picture("cudaletterbox" + properties_of(resize),
                                        video_caps(picture.desc()), buffer_of(picture), params.out),
                         letterboxed(picture, params)))
            << text_of(picture.desc()) << properties_of(resize);
      }
    }
}

TEST(Resizes, EqualTheKernelsInNormalize) {
  size_t i = 0;
  for (const auto &[dtype, color] : {std::pair(DType::float32, Color::rgb),
                                     {DType::float16, Color::bgr},
                                     {DType::uint8, Color::gray},
                                     {DType::int8, Color::rgb}})
    for (const Resize &resize : new_resizes(true)) {
      const Picture picture = random_picture(source_at(i++, PixelFormat::NV12));
      const NormalizeCase params = case_of(picture.desc(), resize, dtype, color);
      EXPECT_TRUE(same_bytes(tensor_of(picture, params), normalized(picture, params)))
          << text_of(picture.desc()) << " " << properties_of(params);
    }
}

/// Crops without antialias support color=yuv.
TEST(Resizes, CropYuv) {
  const Picture picture = random_picture({PixelFormat::NV12, 31, 17});
  for (const ResizeMode mode : kCrops) {
    const NormalizeCase params =
        case_of(picture.desc(), plain(mode, Method::bilinear), DType::float32, Color::yuv);
    EXPECT_TRUE(same_bytes(tensor_of(picture, params), normalized(picture, params))) << nick(mode);
  }
}

/// The oracle shares no code with the kernels.
TEST(Resizes, EqualTheOracle) {
  const std::vector<Resize> resizes = new_resizes(true);
  for (size_t i = 0; i < resizes.size(); ++i) {
    const Resize &resize = resizes[i];
    const Picture picture =
        random_picture(source_at(i, i % 2 == 0 ? PixelFormat::NV12 : PixelFormat::RGB));
    const NormalizeCase params = case_of(picture.desc(), resize);
    std::vector<float> expected(params.out.bytes() / sizeof(float));
    oracle::normalize(params, picture.view(), {params.out, expected.data()});
    EXPECT_TRUE(same_bytes(tensor_of(picture, params), bytes_of(expected)))
        << text_of(picture.desc()) << " " << properties_of(params);
  }
}

// -------------------------------------------------------------------------- two elements as one

class ResizesOf : public testing::TestWithParam<PixelFormat> {};

INSTANTIATE_TEST_SUITE_P(Equivalence, ResizesOf, testing::ValuesIn(kInputFormats),
                         [](const auto &info) { return std::string(name_of(info.param)); });

/// Each format is tested with every third resize.
TEST_P(ResizesOf, LetterboxThenNormalizeIsNormalizeWithRound) {
  const std::vector<Resize> resizes = new_resizes(false);
  for (size_t i = static_cast<size_t>(GetParam()) % 3; i < resizes.size(); i += 3) {
    const Resize &resize = resizes[i];
    const Picture picture = random_picture(source_at(i, GetParam()));
    const std::string caps = video_caps(picture.desc());
    const std::string values = kImageNet + std::string(i % 2 == 0 ? " color=rgb" : " color=bgr");
    const std::string two = "cudaletterbox" + properties_of(resize) + " ! " +
                            video_caps({PixelFormat::RGB, kOut.width, kOut.height}) +
                            " ! cudanormalize" + values;
    const std::string one = "cudanormalize round=true width=" + std::to_string(kOut.width) +
                            " height=" + std::to_string(kOut.height) + properties_of(resize) +
                            values;
    EXPECT_TRUE(same_bytes(output_bytes(one, caps, buffer_of(picture), "ANY"),
                           output_bytes(two, caps, buffer_of(picture), "ANY")))
        << text_of(picture.desc()) << ": " << one;
  }
}

/// Samples are rounded before and after they are filtered.
TEST(Resizes, AreAlwaysRoundedIfAntialiased) {
  const Picture picture = random_picture({PixelFormat::NV12, 31, 17});
  for (const Resize &resize : new_resizes(true)) {
    if (!resize.antialias) continue;
    const NormalizeCase params = case_of(picture.desc(), resize);
    EXPECT_TRUE(same_bytes(tensor_of(picture, params), tensor_of(picture, params, " round=true")));
  }
}

/// The crop is the middle of the resized picture.
TEST(Crops, AreOfTheResizedPicture) {
  const ImageDesc in = {PixelFormat::RGB, 30, 45}, resized = {PixelFormat::RGB, 26, 39};
  const Picture picture = random_picture(in);
  for (const Method filter : kFilters) {
    NormalizeCase whole = case_of(in, antialiased(ResizeMode::stretch, filter), DType::uint8);
    whole.out.w = resized.width;
    whole.out.h = resized.height;
    const Bytes all = tensor_of(picture, whole, " layout=nhwc");
    const struct {
      ResizeMode mode;
      int top;  // (39 - 20)/2, rounded
    } crops[] = {{ResizeMode::torchvision, 10}, {ResizeMode::transformers, 9}};
    for (const auto &crop : crops) {
      Bytes expected;
      for (int y = crop.top; y < crop.top + kOut.height; ++y) {
        const auto row = all.begin() + 3 * (y * resized.width + 1);
        expected.insert(expected.end(), row, row + 3 * kOut.width);
      }
      const NormalizeCase params = case_of(in, antialiased(crop.mode, filter, 26), DType::uint8);
      EXPECT_TRUE(same_bytes(tensor_of(picture, params, " layout=nhwc"), expected))
          << nick(crop.mode) << " " << nick(filter);
    }
  }
}

// ------------------------------------------------------------------------------- pads of zero

std::vector<float> floats_of(const Picture &picture, const NormalizeCase &params) {
  return elements_of<float>(tensor_of(picture, params, kImageNet));
}

TEST(PadNormalized, IsZeroAroundTheSameContent) {
  const Picture picture(ImageDesc{PixelFormat::RGB, 48, 20}, 90);
  for (const ResizeMode mode : kLetterboxes)
    for (const bool antialias : {false, true}) {
      NormalizeCase params = case_of(picture.desc(), plain(mode, Method::bilinear));
      params.resize.antialias = antialias;
      const std::vector<float> before = floats_of(picture, params);
      params.pad_normalized = true;
      const std::vector<float> after = floats_of(picture, params);
      // The content has ten rows, at the top or in the middle.
      const size_t top = mode == ResizeMode::top_left ? 0 : 5;
      for (size_t i = 0; i < after.size(); ++i) {
        const size_t y = i / kOut.width % kOut.height;
        const bool is_content = y >= top && y < top + 10;
        ASSERT_NE(before[i], 0.0f);
        ASSERT_EQ(after[i], is_content ? before[i] : 0.0f) << nick(mode) << ", element " << i;
      }
    }
}

TEST(PadNormalized, EqualsTheKernelForEveryResizeAndFloatType) {
  size_t i = 0;
  for (const DType dtype : {DType::float32, DType::float16})
    for (const Resize &resize : new_resizes(true)) {
      const Picture picture = random_picture(source_at(i++, PixelFormat::I420));
      NormalizeCase params = case_of(picture.desc(), resize, dtype);
      params.pad_normalized = true;
      EXPECT_TRUE(same_bytes(tensor_of(picture, params), normalized(picture, params)))
          << properties_of(params);
    }
}

TEST(PadNormalized, IsZeroInSlotsWithoutAPicture) {
  NormalizeCase params = small_params();
  params.pad_normalized = true;
  const Picture picture = random_picture({PixelFormat::NV12, 40, 30});
  Rig rig("cudanormalize regions=list region-list=<2,4,10,8> max-batch=3 " + properties_of(params) +
          kImageNet);
  ASSERT_TRUE(rig.caps(video_caps(picture.desc())));
  const auto elements = elements_of<float>(bytes_of(rig.process(buffer_of(picture)).get()));
  for (size_t i = elements.size() / 3; i < elements.size(); ++i) ASSERT_EQ(elements[i], 0.0f) << i;
}

// --------------------------------------------------------------------------- regions and tiles

const ImageDesc kFrame = {PixelFormat::NV12, 40, 30};
constexpr const char *kList = " regions=list region-list=<2,4,10,8,12,6,20,16>";

BufferRef batch_of(const Picture &picture, const NormalizeCase &params, const std::string &more) {
  Rig rig("cudanormalize " + properties_of(params) + more);
  rig.downstream("other/tensors");
  EXPECT_TRUE(rig.caps(video_caps(picture.desc())));
  return rig.process(buffer_of(picture));
}

TEST(ResizesOfRegions, EqualThoseOfCutOutPictures) {
  const Picture picture = random_picture(kFrame);
  for (const Resize &resize : new_resizes(true)) {
    const NormalizeCase params = case_of(kFrame, resize);
    EXPECT_TRUE(same_bytes(bytes_of(batch_of(picture, params, kList).get()),
                           joined({slot_bytes(cut_out(picture, 2, 4, 10, 8), params),
                                   slot_bytes(cut_out(picture, 12, 6, 20, 16), params)})))
        << properties_of(params);
  }
}

TEST(ResizesOfRegions, EqualTheKernelsWhereverTilesBegin) {
  const Picture picture = random_picture(kFrame);
  for (const char *edge : {"clip", "pad"})
    for (const Resize &resize : new_resizes(true)) {
      NormalizeCase params = case_of(kFrame, resize);
      const BufferRef batch =
          batch_of(picture, params,
                   std::string(" regions=tiles tile-columns=3 tile-rows=2 tile-overlap=0.3"
                               " region-edge=") +
                       edge);
      params.pad_outside = edge == std::string("pad");
      std::vector<Bytes> slots;
      for (guint i = 0; i < 6; ++i) {
        const auto r = region_of(batch.get(), i);
        params.region = {r[0], r[1], r[2], r[3]};
        slots.push_back(normalized(picture, params));
      }
      EXPECT_TRUE(same_bytes(bytes_of(batch.get()), joined(slots)))
          << properties_of(params) << " " << edge;
    }
}

TEST(ResizesOfRegions, MayReachBeyondTheFrame) {
  const Picture picture = random_picture(kFrame);
  for (const Resize &resize : new_resizes(true))
    for (const bool pad_normalized : {false, true}) {
      NormalizeCase params = case_of(kFrame, resize);
      params.pad_normalized = pad_normalized;
      const BufferRef batch =
          batch_of(picture, params,
                   " regions=list region-edge=pad region-list=<-5.5,20.25,30,20,100,100,8,8>");
      params.pad_outside = true;
      params.region = {-5.5, 20.25, 30, 20};
      EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                             joined({normalized(picture, params), pad_bytes(params)})))
          << properties_of(params);
    }
}

/// A detector's regions may be thin.
TEST(ResizesOfRegions, MayBeThin) {
  const ImageDesc desc = {PixelFormat::GRAY8, 1280, 8};
  const Picture picture = random_picture(desc);
  for (const ResizeMode mode : kCrops)
    for (const bool antialias : {false, true}) {
      NormalizeCase params = case_of(desc, plain(mode, Method::bilinear, 224));
      params.resize.antialias = antialias;
      const BufferRef batch = batch_of(
          picture, params, " regions=list region-list=<0,2,1280,1,0,0,1280,0.001,7,0,0.001,8>");
      const Bytes all = bytes_of(batch.get());
      const Bytes first(all.begin(), all.begin() + static_cast<ptrdiff_t>(all.size() / 3));
      EXPECT_TRUE(same_bytes(first, slot_bytes(cut_out(picture, 0, 2, 1280, 1), params)));
    }
}

// ---------------------------------------------------------------------------------------- CUDA

/// Resizes in the GPU's memory, with plans that change from frame to frame.
class CudaResizes : public GpuTest {};

TEST_F(CudaResizes, EqualThoseOfTheCpu) {
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::BGRx, PixelFormat::P010_10LE}) {
    const Picture picture = random_picture({format, 203, 119});
    const std::string caps = video_caps(picture.desc());
    Rig gpu("cudanormalize width=24 height=20 dtype=float16");
    gpu.downstream(in_cuda("other/tensors"));
    ASSERT_TRUE(gpu.caps(in_cuda(caps)));
    for (const Resize &resize : new_resizes(true)) {
      gpu.set("antialias", resize.antialias ? "true" : "false");
      gpu.set("method", nick(resize.method));
      gpu.set("resize-mode", nick(resize.mode));
      gpu.set("shortest-edge", std::to_string(resize.shortest_edge));
      gpu.set("pad-value", std::to_string(resize.pad_value));
      const BufferRef tensor = gpu.process(to_cuda(buffer_of(picture)));
      const NormalizeCase params = case_of(picture.desc(), resize, DType::float16);
      ASSERT_TRUE(same_bytes(bytes_of(tensor.get()), normalized(picture, params)))
          << name_of(format) << properties_of(resize);
    }
  }
}

// ------------------------------------------------------------------------------------- cameras

TEST(ResizesOfCameras, EqualThoseOfNormalize) {
  const auto pictures =
      mixed_pictures(4, {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::GRAY8});
  for (const Resize &resize : new_resizes(true)) {
    const NormalizeCase params = case_of(kFrame, resize);
    MuxRig rig(properties_of(params), pictures.size());
    std::vector<Bytes> expected;
    for (size_t i = 0; i < pictures.size(); ++i) {
      rig.camera(i).caps(video_caps(pictures[i].desc(), "framerate=25/1"));
      rig.camera(i).push(frame_at(pictures[i], 0, 40 * GST_MSECOND));
      expected.push_back(slot_bytes(pictures[i], params));
    }
    EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), joined(expected))) << properties_of(params);
  }
}

TEST(ResizesOfCameras, ChangeWithTheNextBatch) {
  const Picture picture = random_picture(kFrame);
  NormalizeCase params = case_of(kFrame, plain(ResizeMode::ultralytics, Method::bilinear));
  MuxRig rig(properties_of(params), 1);
  rig.camera(0).caps(video_caps(kFrame, "framerate=25/1"));
  guint frames = 0;
  const auto expect_next = [&] {
    rig.camera(0).push(frame_at(picture, frames++ * 40 * GST_MSECOND, 40 * GST_MSECOND));
    EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), slot_bytes(picture, params)));
  };
  expect_next();
  rig.set("antialias", "true");
  params.resize.antialias = true;
  expect_next();
  rig.set("method", "lanczos");
  params.resize.method = Method::lanczos;
  expect_next();
  rig.set("pad-normalized", "true");
  params.pad_normalized = true;
  expect_next();
  rig.set("resize-mode", "transformers");
  params.resize.mode = ResizeMode::transformers;
  expect_next();
  rig.set("shortest-edge", "31");
  params.resize.shortest_edge = 31;
  expect_next();
}

TEST(ResizesOfCameras, GiveOneErrorIfImpossible) {
  const struct {
    const char *properties, *cause;
  } cases[] = {{"antialias=true resize-mode=affine", "resize-mode=affine"},
               {"antialias=true method=nearest", "method=nearest"},
               {"method=lanczos", "antialias=true"},
               {"pad-normalized=true dtype=int8", "pad-normalized"},
               {"resize-mode=torchvision shortest-edge=15", "shortest-edge"}};
  for (const auto &c : cases) {
    MuxRig rig("width=24 height=20 " + std::string(c.properties), 1);
    rig.camera(0).caps(video_caps(kFrame, "framerate=25/1"));
    rig.camera(0).push(frame_at(random_picture(kFrame), 0, 40 * GST_MSECOND));
    EXPECT_TRUE(mentions(rig.wait_for_error(), c.cause));
  }
}

}  // namespace
}  // namespace cudatensor
