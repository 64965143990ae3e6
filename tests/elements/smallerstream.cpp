// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera that switches to a smaller stream and back: regions that were set for the large picture
// lie outside the small one.
#include "muxrig.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kLarge = {PixelFormat::NV12, 64, 48}, kSmall = {PixelFormat::NV12, 32, 24};

/// Pushes three frames of each size in turn, and calls `check` with each output.
template <class Check>
void for_streams(Rig &rig, const Check &check) {
  int number = 0;
  for (const ImageDesc &desc : {kLarge, kSmall, kLarge, kSmall}) {
    forget_caps(rig.harness()->srcpad);
    ASSERT_TRUE(rig.caps(video_caps(desc, "framerate=10/1")));
    for (int i = 0; i < 3; ++i) {
      BufferRef frame = buffer_of(random_picture(desc));
      GST_BUFFER_PTS(frame.get()) = number++ * GST_SECOND / 10;
      const BufferRef out = rig.process(std::move(frame));
      check(desc.width == kLarge.width, out.get());
    }
  }
  EXPECT_TRUE(rig.messages().errors().empty());
}

guint64 pixels_of(const MessageRef &message) {
  guint64 pixels = 0;
  gst_structure_get_uint64(gst_message_get_structure(message.get()), "pixels", &pixels);
  return pixels;
}

TEST(SmallerStream, IsNotCountedWhereTheRoiLiesOutside) {
  Rig rig("cudahistogram interval=0 roi=<40,30,10,8>");
  for_streams(rig, [](bool, GstBuffer *) {});
  const std::vector<MessageRef> messages = rig.histograms(6);
  ASSERT_EQ(messages.size(), 6u);
  for (const MessageRef &message : messages) EXPECT_EQ(pixels_of(message), 80u);
  const std::vector<std::string> warnings = rig.messages().warnings();
  ASSERT_EQ(warnings.size(), 2u);  // one for each switch to the smaller stream
  EXPECT_TRUE(mentions(warnings[0], "roi=<40,30,10,8> lies outside the picture of 32x24"));
}

TEST(SmallerStream, IsCountedWhereAPartOfTheRoiIsLeft) {
  Rig rig("cudahistogram interval=0 roi=<30,20,10,8>");
  std::vector<guint64> pixels;
  for_streams(rig, [](bool, GstBuffer *) {});
  for (const MessageRef &message : rig.histograms(12)) pixels.push_back(pixels_of(message));
  EXPECT_EQ(pixels, (std::vector<guint64>{80, 80, 80, 8, 8, 8, 80, 80, 80, 8, 8, 8}));
  EXPECT_TRUE(rig.messages().warnings().empty());
}

/// An interval without counted frames gives no message.
TEST(SmallerStream, LeavesIntervalsWithoutAMessage) {
  Rig rig("cudahistogram interval=300000000 roi=<40,30,10,8>");
  for_streams(rig, [](bool, GstBuffer *) {});
  rig.event(gst_event_new_eos());
  const std::vector<MessageRef> messages = rig.histograms(2);
  ASSERT_EQ(messages.size(), 2u);
  for (const MessageRef &message : messages) EXPECT_EQ(pixels_of(message), 3u * 80u);
}

TEST(SmallerStream, HasARoiThatIsSetMeanwhile) {
  Rig rig("cudahistogram interval=0 roi=<40,30,10,8>");
  ASSERT_TRUE(rig.caps(video_caps(kSmall)));
  expect_fault(rig, buffer_of(random_picture(kSmall)), "lies outside");
  rig.set("roi", "<0,0,5,5>");
  rig.process(buffer_of(random_picture(kSmall)));
  EXPECT_EQ(rig.histograms(1).size(), 1u);
  rig.set("roi", "<0,0,0,5>");
  expect_error(rig, buffer_of(random_picture(kSmall)), "width and height must be at least 1");
}

TEST(SmallerStream, LeavesTheSlotOfARegionEmpty) {
  const std::string lists[] = {"region-list=<0,0,8,8,40,30,10,8,4,4,8,8>",
                               // One region is too small in the small picture only.
                               "region-units=fractions region-list=<0,0,1,1,0,0,1e-7,1,0,0,1,1>"};
  for (const std::string &list : lists)
    for (const bool pads : {false, true}) {
      SCOPED_TRACE(list);
      if (pads && list.find("fractions") == std::string::npos) continue;  // the slot is all padding
      NormalizeCase params = small_params();
      Rig rig("cudanormalize " + properties_of(params) + " regions=list " + list +
              (pads ? " region-edge=pad" : ""));
      rig.downstream("other/tensors");
      for_streams(rig, [&](bool large, GstBuffer *batch) {
        const auto slots = slots_of(batch);
        ASSERT_EQ(slots.size(), 3u);
        EXPECT_TRUE(slots[0].valid);
        EXPECT_EQ(slots[1].valid, large);
        EXPECT_TRUE(slots[2].valid);
        EXPECT_EQ(left_out_of(batch), 0u);
        const Bytes all = bytes_of(batch), pad = pad_bytes(params);
        const auto begin = all.begin() + static_cast<ptrdiff_t>(pad.size());
        EXPECT_EQ(Bytes(begin, begin + static_cast<ptrdiff_t>(pad.size())) == pad, !large);
        EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(batch, GST_BUFFER_FLAG_GAP));
      });
      const std::vector<std::string> warnings = rig.messages().warnings();
      ASSERT_EQ(warnings.size(), 2u);
      EXPECT_TRUE(mentions(warnings[0], "a slot has no picture: region 1 of region-list"));
      EXPECT_TRUE(mentions(warnings[0], "picture of 32x24"));
    }
}

TEST(SmallerStream, NamesTheFirstRegionThatIsOutside) {
  Rig rig("cudanormalize " + properties_of(small_params()) +
          " regions=list region-list=<0,0,8,8,40,30,10,8,44,30,10,8>");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(kSmall)));
  rig.process(buffer_of(random_picture(kSmall)));
  const std::vector<std::string> warnings = rig.messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], "region 1 of"));
}

TEST(SmallerStream, GivesAGapWhereNoRegionIsLeft) {
  for (const char *frames : {"1", "3"}) {
    Rig rig("cudanormalize " + properties_of(small_params()) +
            " regions=list region-list=<40,30,10,8> frames-per-tensor=" + frames);
    rig.downstream("other/tensors");
    for (const ImageDesc &desc : {kLarge, kSmall}) {
      forget_caps(rig.harness()->srcpad);
      ASSERT_TRUE(rig.caps(video_caps(desc)));
      for (int i = 0; i < 3; ++i) rig.push(buffer_of(random_picture(desc)));
      while (const BufferRef out = rig.pull())
        EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP), desc.width == 32);
    }
    EXPECT_TRUE(rig.messages().errors().empty());
  }
}

/// Other regions follow the picture, and a crop of the resized frame depends only on the output.
TEST(SmallerStream, ChangesNothingElse) {
  for (const char *description :
       {"cudanormalize width=8 height=8 regions=tiles tile-columns=32 tile-rows=32",
        "cudanormalize width=8 height=8 regions=list region-units=fractions "
        "region-list=<0.8,0.8,0.1,0.1>",
        "cudanormalize width=8 height=8 regions=list region-list=<40,30,10,8> region-edge=pad",
        "cudanv12toyuv444 resize-width=60 resize-height=40 crop-x=50 crop-y=30"}) {
    SCOPED_TRACE(description);
    Rig rig(description);
    for_streams(rig, [](bool, GstBuffer *) {});
    EXPECT_TRUE(rig.messages().warnings().empty());
  }
}

void expect_empty_slots_of_one_camera(const std::string &more) {
  SCOPED_TRACE(more);
  MuxRig rig(
      properties_of(small_params()) + " regions=list region-list=<0,0,8,8,40,30,10,8>" + more, 2);
  GstClockTime time = 0;
  for (const ImageDesc &desc : {kLarge, kSmall, kLarge}) {
    forget_caps(rig.camera(1).source());
    if (time == 0) rig.camera(0).caps(video_caps(kLarge, "framerate=10/1"));
    rig.camera(1).caps(video_caps(desc, "framerate=10/1"));
    for (int i = 0; i < 3; ++i, time += GST_SECOND / 10) {
      rig.camera(0).push(frame_at(random_picture(kLarge), time, GST_SECOND / 10));
      rig.camera(1).push(frame_at(random_picture(desc), time, GST_SECOND / 10));
      const BufferRef batch = rig.pull();
      const auto slots = slots_of(batch.get());
      ASSERT_EQ(slots.size(), 4u);
      for (size_t slot = 0; slot < 4; ++slot)
        EXPECT_EQ(slots[slot].valid, slot != 3 || desc.width == kLarge.width) << slot;
    }
  }
  EXPECT_TRUE(rig.messages().errors().empty());
  const std::vector<std::string> warnings = rig.messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], "sink_1: "));
  EXPECT_TRUE(mentions(warnings[0], "region 1 of region-list"));
}

TEST(SmallerStream, LeavesTheSlotsOfItsCameraEmpty) {
  expect_empty_slots_of_one_camera("");
  expect_empty_slots_of_one_camera(" resize-mode=torchvision shortest-edge=12");
}

}  // namespace
}  // namespace cudatensor
