// SPDX-License-Identifier: LGPL-2.1-or-later
// cudanormalize and cudatensormux in front of a network: they know it by the field `layout` of its
// caps, and take size, type and layout from it where these are not set.
#include "muxrig.h"
#include "rig.h"
#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

const ImageDesc kFrame = {PixelFormat::NV12, 64, 48};

std::string network(const std::string &fields) {
  return "other/tensors,format=static,num_tensors=1,framerate=[0/1,2147483647/1]," + fields;
}

const std::string kBytes =
    network("types=uint8,layout=nhwc,dimensions=(string){3:32:24:2,3:32:24:1}");
const char *const kExplicit = "cudanormalize width=32 height=24 dtype=uint8 layout=nhwc";

BufferRef frame() { return buffer_of(Picture(kFrame, 7)); }

/// Returns the output of cudanormalize for a frame in front of an element with these caps.
Bytes tensor_for(const std::string &description, const std::string &downstream) {
  Rig rig(description);
  rig.downstream(downstream);
  EXPECT_TRUE(rig.caps(video_caps(kFrame)));
  return bytes_of(rig.process(frame()).get());
}

/// Expects that cudanormalize does not negotiate with these caps, with an error that mentions `cause`.
void expect_no_tensor(const std::string &description, const std::string &downstream,
                      const std::string &cause) {
  Rig rig(description);
  rig.downstream(downstream);
  EXPECT_TRUE(mentions(expect_refusal(rig, video_caps(kFrame), frame()), cause));
}

TEST(NetworkInput, IsTakenWhereNothingIsSet) {
  const Bytes expected = tensor_for(kExplicit, "other/tensors");
  Rig rig("cudanormalize");
  rig.downstream(kBytes);
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  EXPECT_EQ(bytes_of(rig.process(frame()).get()), expected);
  EXPECT_EQ(rig.output("types"), "uint8");
  EXPECT_EQ(rig.output("dimensions"), "3:32:24:1");
  EXPECT_EQ(rig.output("layout"), "nhwc");
  // The properties are as they were.
  EXPECT_EQ(rig.get("dtype"), "float32");
  EXPECT_EQ(rig.get("layout"), "nchw");
}

TEST(NetworkInput, IsTakenByPart) {
  const Bytes expected = tensor_for(kExplicit, "other/tensors");
  for (const char *set : {"layout=nhwc", "dtype=uint8", "width=32", "height=24",
                          "dtype=uint8 layout=nhwc width=32 height=24"})
    EXPECT_EQ(tensor_for(std::string("cudanormalize ") + set, kBytes), expected) << set;
}

TEST(NetworkInput, EveryTypeIsTaken) {
  for (const char *type : {"float32", "float16", "uint8", "int8", "bfloat16"}) {
    const std::string caps = std::string("types=") + type + ",dimensions=(string)32:24:3:1";
    EXPECT_EQ(
        tensor_for("cudanormalize", network(caps + ",layout=nchw")),
        tensor_for(std::string("cudanormalize width=32 height=24 dtype=") + type, "other/tensors"))
        << type;
  }
}

TEST(NetworkInput, OpenSizeIsThePictures) {
  EXPECT_EQ(tensor_for("cudanormalize", network("types=float16,layout=nhwc")),
            tensor_for("cudanormalize dtype=float16 layout=nhwc", "other/tensors"));
}

TEST(NetworkInput, WhatIsSetWins) {
  expect_no_tensor("cudanormalize dtype=float32", kBytes, "types=(string)uint8");
  expect_no_tensor("cudanormalize layout=nchw", kBytes, "3:32:24:1");
  expect_no_tensor("cudanormalize width=31", kBytes, "width=31");
  // Also where the dimensions fit both layouts.
  const std::string square = network("types=float32,layout=nhwc,dimensions=(string)3:3:3:1");
  expect_no_tensor("cudanormalize layout=nchw", square, "layout=nchw");
  EXPECT_EQ(tensor_for("cudanormalize", square),
            tensor_for("cudanormalize layout=nhwc width=3 height=3", "other/tensors"));
}

TEST(NetworkInput, CapsWithoutALayoutAreNoNetworks) {
  expect_no_tensor("cudanormalize", network("types=uint8,dimensions=(string)32:24:3:1"),
                   "types=(string)uint8");
  expect_no_tensor("cudanormalize", network("types=float32,dimensions=(string)3:32:24:1"),
                   "3:32:24:1");
}

TEST(NetworkInput, TypesThatNoTensorHasAreRefused) {
  expect_no_tensor("cudanormalize", network("types=int64,layout=nchw,dimensions=(string)32:24:3:1"),
                   "int64");
}

/// The model's file says uint8 and nhwc.
TEST(NetworkInput, FileOfAModelWins) {
  const Folder folder;
  const std::string path = folder.write(
      "a.modelinfo",
      "[modelinfo]\nversion=1.0\n[in]\ndir=input\ntype=uint8\ndims=1,24,32,3\nranges=0,255\n");
  const std::string element = "cudanormalize model-config=" + path;
  EXPECT_EQ(tensor_for(element, kBytes), tensor_for(element, "other/tensors"));
  expect_no_tensor(element, network("types=float32,layout=nhwc,dimensions=(string)3:32:24:1"),
                   "types=(string)float32");
  expect_no_tensor(element, network("types=uint8,layout=nchw,dimensions=(string)32:24:3:1"),
                   "32:24:3:1");
}

TEST(NetworkInput, RegionsAreABatchOfTheNetwork) {
  Rig rig("cudanormalize regions=tiles tile-columns=2 tile-rows=1");
  rig.downstream(kBytes);
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  EXPECT_EQ(bytes_of(rig.process(frame()).get()),
            tensor_for(std::string(kExplicit) + " regions=tiles tile-columns=2 tile-rows=1",
                       "other/tensors"));
  EXPECT_EQ(rig.output("dimensions"), "3:32:24:2");
  expect_no_tensor("cudanormalize regions=tiles tile-columns=3 tile-rows=1", kBytes, "3:32:24:2");
}

TEST(NetworkInput, PropertiesMayChangeInTheStream) {
  Rig rig("cudanormalize");
  rig.downstream(kBytes);
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  rig.process(frame());
  // Settings that do not negotiate caps keep what the network needs.
  rig.set("mean", "<10.0>");
  EXPECT_EQ(bytes_of(rig.process(frame()).get()),
            tensor_for(std::string(kExplicit) + " mean=<10.0>", "other/tensors"));
  rig.set("dtype", "float16");
  EXPECT_EQ(rig.push(frame()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(rig.messages().errors().size(), 1u);
  rig.set("dtype", "uint8");
  EXPECT_EQ(bytes_of(rig.process(frame()).get()).size(), 3u * 32 * 24);
}

TEST(NetworkInput, NetworkMayChangeInTheStream) {
  Rig rig("cudanormalize");
  rig.downstream(kBytes);
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  rig.process(frame());
  rig.downstream(network("types=float16,layout=nchw,dimensions=(string)16:16:3:1"));
  EXPECT_EQ(bytes_of(rig.process(frame()).get()),
            tensor_for("cudanormalize width=16 height=16 dtype=float16", "other/tensors"));
  rig.downstream("other/tensors");
  EXPECT_EQ(bytes_of(rig.process(frame()).get()), tensor_for("cudanormalize", "other/tensors"));
}

TEST(NetworkInput, BatchOfCamerasIsTheNetworks) {
  const auto batch_of = [](const std::string &properties, const std::string &downstream) {
    MuxRig rig(properties, 2);
    rig.downstream(downstream);
    for (size_t i = 0; i < 2; ++i) {
      rig.camera(i).caps(video_caps(kFrame));
      BufferRef picture = frame();
      GST_BUFFER_PTS(picture.get()) = 0;
      rig.camera(i).push(std::move(picture));
    }
    const BufferRef batch = rig.pull();
    return std::make_pair(rig.output("dimensions") + " " + rig.output("types"),
                          bytes_of(batch.get()));
  };
  const auto expected = batch_of("width=32 height=24 dtype=uint8 layout=nhwc", "other/tensors");
  EXPECT_EQ(expected.first, "3:32:24:2 uint8");
  EXPECT_EQ(batch_of("", kBytes), expected);
  EXPECT_EQ(batch_of("layout=nhwc", kBytes), expected);
}

TEST(NetworkInput, CamerasNeedCapsWithALayout) {
  for (const auto &[properties, caps] : std::vector<std::pair<std::string, std::string>>{
           {"", network("types=uint8,dimensions=(string)32:24:3:1")},
           {"dtype=float32", kBytes},
           {"layout=nchw", kBytes}}) {
    MuxRig rig(properties, 1);
    rig.downstream(caps);
    rig.camera(0).caps(video_caps(kFrame));
    BufferRef picture = frame();
    GST_BUFFER_PTS(picture.get()) = 0;
    rig.camera(0).push(std::move(picture));
    EXPECT_TRUE(mentions(rig.wait_for_error(), "not negotiated")) << properties;
  }
}

}  // namespace
}  // namespace cudatensor
