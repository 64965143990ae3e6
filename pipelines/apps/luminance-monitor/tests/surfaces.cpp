// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DeepStream's surfaces, as its decoder makes them, compared with the same frames on the
// host.
#include "capture/surfaces.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "capture/jpeg.h"
#include "capture/picturetap.h"
#include "nvbufsurface.h"
#include "seed.h"

namespace luminance {
namespace {

using Buffer = std::unique_ptr<GstBuffer, decltype(&gst_buffer_unref)>;
using Caps = std::unique_ptr<GstCaps, decltype(&gst_caps_unref)>;

constexpr size_t kPitch = 2048;

/// An NV12 picture in host memory. Its rows have padding.
struct Picture {
  int width, height;
  std::vector<guint8> data = std::vector<guint8>(kPitch * static_cast<size_t>(height) * 3 / 2);
};

Picture random_picture(int width, int height) {
  Picture picture{width, height};
  std::mt19937 random(seed());
  for (guint8 &byte : picture.data) byte = static_cast<guint8>(random());
  return picture;
}

std::string caps_of(const Picture &picture, const char *feature) {
  return std::string("video/x-raw") + feature +
         ",format=NV12,framerate=25/1,width=" + std::to_string(picture.width) +
         ",height=" + std::to_string(picture.height);
}

/// The batch and the description of one surface in pinned memory.
struct Described {
  test::SurfaceBatch batch = {};
  test::Surface surface = {};
};

Buffer in_surface(Picture &picture) {
  auto *described = new Described;
  test::Surface &surface = described->surface;
  surface.width = static_cast<uint32_t>(picture.width);
  surface.height = static_cast<uint32_t>(picture.height);
  surface.color_format = test::kNv12;
  surface.layout = test::kPitchLayout;
  surface.data = picture.data.data();
  surface.data_size = static_cast<uint32_t>(picture.data.size());
  surface.planes.num_planes = 2;
  surface.planes.pitch[0] = surface.planes.pitch[1] = kPitch;
  surface.planes.offset[1] = static_cast<uint32_t>(kPitch) * surface.height;
  described->batch.batch_size = described->batch.num_filled = 1;
  described->batch.memory_type = test::kPinnedMemory;
  described->batch.surfaces = &described->surface;
  const auto destroy = [](gpointer data) { delete static_cast<Described *>(data); };
  return {gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), &described->batch,
                                      sizeof described->batch, 0, sizeof described->batch,
                                      described, destroy),
          gst_buffer_unref};
}

Buffer on_host(const Picture &picture, const GstVideoInfo &info) {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
  for (guint plane = 0; plane < 2; ++plane)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane); ++y) {
      const size_t row = static_cast<size_t>(y) + (plane > 0 ? picture.height : 0);
      std::memcpy(static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                      y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane),
                  picture.data.data() + row * kPitch, static_cast<size_t>(picture.width));
    }
  gst_video_frame_unmap(&frame);
  return {buffer, gst_buffer_unref};
}

/// A pad that takes frames, and the tap on it.
class TappedPad {
 public:
  TappedPad() {
    // Without a template, a pad accepts only its first caps.
    static GstStaticPadTemplate any =
        GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
    pad_ = GST_PAD(gst_object_ref_sink(gst_pad_new_from_static_template(&any, "sink")));
    gst_pad_set_chain_function(pad_, [](GstPad *, GstObject *, GstBuffer *buffer) {
      gst_buffer_unref(buffer);
      return GST_FLOW_OK;
    });
    gst_pad_set_active(pad_, TRUE);
    gst_pad_send_event(pad_, gst_event_new_stream_start("test"));
    tap_ = PictureTap::on(pad_);
  }
  ~TappedPad() {
    gst_pad_set_active(pad_, FALSE);
    gst_object_unref(pad_);
  }

  std::shared_ptr<const Blocks> blocks(const std::string &caps_text, Buffer buffer) {
    const Caps caps(gst_caps_from_string(caps_text.c_str()), gst_caps_unref);
    gst_pad_send_event(pad_, gst_event_new_caps(caps.get()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_send_event(pad_, gst_event_new_segment(&segment));
    const GstClockTime time = time_ += GST_SECOND;
    GST_BUFFER_PTS(buffer.get()) = time;
    EXPECT_EQ(gst_pad_chain(pad_, buffer.release()), GST_FLOW_OK);
    return tap_->take(time).blocks;
  }

 private:
  GstPad *pad_;
  std::shared_ptr<PictureTap> tap_;
  GstClockTime time_ = 0;
};

class Surfaces : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

TEST_F(Surfaces, HaveTheSameBlocksAsFramesOnTheHost) {
  TappedPad surfaces, frames;
  for (const auto &[width, height] : {std::pair{1920, 1080}, {640, 360}, {322, 242}, {64, 48}}) {
    Picture picture = random_picture(width, height);
    const Caps caps(gst_caps_from_string(caps_of(picture, "").c_str()), gst_caps_unref);
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    const auto expected = frames.blocks(caps_of(picture, ""), on_host(picture, info));
    const auto actual = surfaces.blocks(caps_of(picture, "(memory:NVMM)"), in_surface(picture));
    ASSERT_NE(expected, nullptr);
    ASSERT_NE(actual, nullptr) << width << "x" << height;
    EXPECT_EQ(actual->means, expected->means) << width << "x" << height;
  }
}

TEST_F(Surfaces, HaveNoBlocksIfUnreadable) {
  TappedPad surfaces;
  Picture picture = random_picture(64, 48);
  Buffer empty(gst_buffer_new_allocate(nullptr, 4, nullptr), gst_buffer_unref);
  EXPECT_EQ(surfaces.blocks(caps_of(picture, "(memory:NVMM)"), std::move(empty)), nullptr);
}

/// The JPEG of a picture keeps its aspect ratio: 1920x1080 becomes 320x180.
TEST_F(Surfaces, HaveStills) {
  Picture picture{1920, 1080};
  std::fill(picture.data.begin(), picture.data.end(), guint8{128});
  const Caps caps(gst_caps_from_string(caps_of(picture, "(memory:NVMM)").c_str()), gst_caps_unref);
  const Buffer buffer = in_surface(picture);
  GstSample *sample = gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr);
  GBytes *jpeg = jpeg_of(sample);
  gst_sample_unref(sample);
  ASSERT_NE(jpeg, nullptr);
  gsize size = 0;
  const auto *data = static_cast<const guint8 *>(g_bytes_get_data(jpeg, &size));
  // The frame header has the size after its marker, its length and the depth.
  const guint8 header[] = {0xff, 0xc0, 0x00, 0x11, 0x08, 0x00, 180, 0x01, 0x40};
  EXPECT_NE(std::search(data, data + size, std::begin(header), std::end(header)), data + size);
  g_bytes_unref(jpeg);
}

TEST_F(Surfaces, AreTakenUnlessTheBackendIsCpu) {
  for (const auto &[backend, takes] : {std::pair{"auto", true}, {"cpu", false}}) {
    const std::string text = std::string("cudahistogram backend=") + backend;
    GstElement *histogram = gst_parse_launch(text.c_str(), nullptr);
    ASSERT_NE(histogram, nullptr);
    gst_object_ref_sink(histogram);
    gst_element_set_state(histogram, GST_STATE_READY);
    if (!takes) gst_element_set_state(histogram, GST_STATE_PAUSED);
    EXPECT_EQ(takes_surfaces(histogram), takes) << backend;
    gst_element_set_state(histogram, GST_STATE_NULL);
    gst_object_unref(histogram);
  }
}

}  // namespace
}  // namespace luminance
