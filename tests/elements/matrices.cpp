// SPDX-License-Identifier: LGPL-2.1-or-later
// regions=matrices: slots by a matrix of cudanormalize and cudatensormux, their metas and refusals.
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr const char *kElement =
    "cudanormalize width=12 height=10 regions=matrices region-matrices=";

/// A quarter turn about the middle of 20 × 14, and a shear with another scale.
const Matrix kTurn = {0.0, -0.7, 10.9, 0.7, 0.0, -2.0};
const Matrix kShear = {0.6, 0.15, -0.5, -0.2, 0.8, 1.25};

std::string text_of(const std::vector<Matrix> &matrices) {
  std::string text;
  for (const Matrix &matrix : matrices)
    for (const double number : matrix) text += (text.empty() ? "<" : ",") + std::to_string(number);
  return text + ">";
}

/// Returns the content of a slot, without elements.
Bytes slot_of(const Picture &picture, const Matrix &matrix, bool repeats = false,
              Direction direction = Direction::identity) {
  NormalizeCase params =
      normalize_params(source_of(picture.desc()), Color::rgb, DType::float32, Layout::nchw, 12, 10);
  params.source.direction = direction;
  params.matrix = matrix;
  params.repeat_edge = repeats;
  return normalized(picture, params);
}

TEST(Matrices, EqualTheKernels) {
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::P010_10LE}) {
    const Picture picture = random_picture({format, 20, 14});
    const std::string element = kElement + text_of({kTurn, kShear});
    for (const bool repeats : {false, true})
      EXPECT_TRUE(
          same_bytes(output_bytes(element + (repeats ? " region-edge=repeat" : ""),
                                  video_caps(picture.desc()), buffer_of(picture), "ANY"),
                     joined({slot_of(picture, kTurn, repeats), slot_of(picture, kShear, repeats)})))
          << name_of(format);
  }
}

/// One matrix makes a tensor of one slot, with a batch meta; max-batch adds slots that are pad.
TEST(Matrices, MakeAsManySlotsAsThereAre) {
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  for (const auto &[more, dimensions] :
       {std::pair("", "12:10:3:1"), {" max-batch=3", "12:10:3:3"}}) {
    Rig rig(kElement + text_of({kTurn}) + more);
    rig.caps(video_caps(picture.desc()));
    const BufferRef out = rig.process(buffer_of(picture));
    EXPECT_EQ(rig.output("dimensions"), dimensions);
    gboolean valid = FALSE;
    gst_structure_get_boolean(cudatensor::slot_of(out.get(), 0), "valid", &valid);
    EXPECT_TRUE(valid);
  }
}

/// The matrix maps the stored picture, whatever its direction.
TEST(Matrices, IgnoreDirectionAndResize) {
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  EXPECT_TRUE(same_bytes(
      output_bytes(kElement + text_of({kShear}) + " video-direction=90r resize-mode=ultralytics",
                   video_caps(picture.desc()), buffer_of(picture), "ANY"),
      slot_of(picture, kShear)));
}

TEST(Matrices, AreInTheMetas) {
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  Rig rig(kElement + text_of({{0.5, 0.0, 1.0, 0.0, 0.5, 2.0}, kTurn}));
  rig.caps(video_caps(picture.desc()));
  const BufferRef out = rig.process(buffer_of(picture));
  const GstStructure *scaled = cudatensor::slot_of(out.get(), 0);
  EXPECT_EQ(doubles_of<6>(scaled, "matrix"), (Matrix{0.5, 0.0, 1.0, 0.0, 0.5, 2.0}));
  EXPECT_EQ(doubles_of<6>(scaled, "inverse"), (Matrix{2.0, 0.0, -2.0, 0.0, 2.0, -4.0}));
  EXPECT_EQ(cudatensor::region_of(out.get(), 0), (std::array<double, 4>{-2.0, -4.0, 24.0, 20.0}));
  int left = 0, top = 0, width = 0, height = 0;
  gst_structure_get(scaled, "pad-left", G_TYPE_INT, &left, "pad-top", G_TYPE_INT, &top,
                    "content-width", G_TYPE_INT, &width, "content-height", G_TYPE_INT, &height,
                    nullptr);
  EXPECT_EQ((std::array<int, 4>{left, top, width, height}), (std::array<int, 4>{1, 2, 10, 7}));
  EXPECT_EQ(doubles_of<6>(cudatensor::slot_of(out.get(), 1), "matrix"), kTurn);
}

TEST(Matrices, ChangeFromFrameToFrame) {
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  Rig rig(kElement + text_of({kTurn}));
  rig.caps(video_caps(picture.desc()));
  EXPECT_TRUE(same_bytes(bytes_of(rig.process(buffer_of(picture)).get()), slot_of(picture, kTurn)));
  rig.set("region-matrices", text_of({kShear}));
  EXPECT_TRUE(
      same_bytes(bytes_of(rig.process(buffer_of(picture)).get()), slot_of(picture, kShear)));
  rig.set("region-matrices", text_of({kShear, kTurn}));
  EXPECT_TRUE(same_bytes(bytes_of(rig.process(buffer_of(picture)).get()),
                         joined({slot_of(picture, kShear), slot_of(picture, kTurn)})));
  EXPECT_EQ(rig.output("dimensions"), "12:10:3:2");
}

TEST(Matrices, WhatCannotBeIsRefused) {
  const Picture picture = random_picture({PixelFormat::NV12, 20, 14});
  const std::string good = text_of({kTurn});
  for (const auto &[properties, cause] :
       {std::pair<std::string, std::string>("<>", "region-matrices has 0 values"),
        {"<1,0,0,0,1>", "region-matrices has 5 values"},
        {text_of({kTurn, kTurn}) + " max-batch=1", "max-batch"},
        {text_of({kTurn, {1, 2, 0, 2, 4, 0}}), "slot 1: "},
        {"<1,0,4e9,0,1,0>", "slot 0: "},
        {good + " antialias=true resize-mode=stretch", "antialias"},
        {good + " pad-normalized=true", "pad-normalized"}}) {
    Rig rig(kElement + properties);
    rig.caps(video_caps(picture.desc()));
    expect_error(rig, buffer_of(picture), cause);
  }
  for (const char *source : {"list region-list=<0.0,0.0,5.0,5.0>", "tiles"}) {
    Rig rig("cudanormalize backend=cpu width=12 height=10 region-edge=repeat regions=" +
            std::string(source));
    rig.caps(video_caps(picture.desc()));
    expect_error(rig, buffer_of(picture), "region-edge=repeat");
  }
}

TEST(Matrices, OfEachCameraOfTheMux) {
  MuxRig rig(
      "backend=cpu width=12 height=10 regions=matrices region-matrices=" + text_of({kTurn, kShear}),
      2);
  const Picture first = random_picture({PixelFormat::NV12, 20, 14}, 1);
  const Picture second = random_picture({PixelFormat::RGB, 33, 21}, 2);
  rig.camera(0).caps(video_caps(first.desc()));
  rig.camera(1).caps(video_caps(second.desc()));
  rig.camera(0).push(frame_at(first, 0, GST_SECOND / 30));
  rig.camera(1).push(frame_at(second, 0, GST_SECOND / 30));
  EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()),
                         joined({slot_of(first, kTurn), slot_of(first, kShear),
                                 slot_of(second, kTurn), slot_of(second, kShear)})));
}

}  // namespace
}  // namespace cudatensor
