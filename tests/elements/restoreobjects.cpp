// SPDX-License-Identifier: LGPL-2.1-or-later
// cudarestore behind cudadetections: the boxes of a network that sees a small tensor are those in
// the camera's frame, not only their rounded places in the tensor.
#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../kernels/random.h"
#include "analytics.h"
#include "inferencerig.h"

namespace cudatensor {
namespace {

constexpr ImageDesc kCamera = {PixelFormat::NV12, 1920, 1080};
constexpr int kSide = 48;

/// What a network makes of a frame: its input, which carries the frame, and its output.
class Camera {
 public:
  explicit Camera(const std::string &letterbox) {
    Rig rig("cudaletterbox keep-input=true " + letterbox + " ! video/x-raw,format=RGB,width=" +
            std::to_string(kSide) + ",height=" + std::to_string(kSide) + " ! cudanormalize");
    rig.downstream("other/tensors");
    EXPECT_TRUE(rig.caps(video_caps(kCamera)));
    tensor_ = rig.process(buffer_of(random_picture(kCamera, 1)));
    const GValue *matrix =
        gst_structure_get_value(gst_custom_meta_get_structure(gst_buffer_get_custom_meta(
                                    tensor_.get(), "GstCudaTensorGeometryMeta")),
                                "matrix");
    for (guint i = 0; i < matrix_.size(); ++i)
      matrix_[i] = g_value_get_double(gst_value_array_get_value(matrix, i));
  }

  /// Returns x0, y0, x1, y1 in the tensor of a box in the frame.
  std::array<double, 4> seen(const std::array<int, 4> &box) const {
    const auto at = [&](int row, int x, int y) {
      return matrix_[3 * row] * x + matrix_[3 * row + 1] * y + matrix_[3 * row + 2];
    };
    const auto [x0, x1] = std::minmax({at(0, box[0], box[1]), at(0, box[2], box[3])});
    const auto [y0, y1] = std::minmax({at(1, box[0], box[1]), at(1, box[2], box[3])});
    return {x0, y0, x1, y1};
  }

  /// Returns the output of an end-to-end network, with the metas of its input.
  BufferRef output(const std::vector<std::array<int, 4>> &boxes) const {
    std::vector<float> values;
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (const double side : seen(boxes[i])) values.push_back(static_cast<float>(side));
      values.push_back(0.5F);
      values.push_back(static_cast<float>(i));
    }
    BufferRef out(gst_buffer_new_memdup(values.data(), values.size() * sizeof(float)));
    gst_buffer_copy_into(out.get(), tensor_.get(),
                         static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA), 0,
                         static_cast<gsize>(-1));
    return out;
  }

 private:
  BufferRef tensor_;
  std::array<double, 6> matrix_ = {};
};

std::string network_caps(size_t boxes) {
  return "other/tensors,format=static,num_tensors=1,types=float32,dimensions=(string)6:" +
         std::to_string(boxes) + ":1,framerate=30/1";
}

BufferRef restored(const Camera &camera, const std::vector<std::array<int, 4>> &boxes,
                   const std::string &between = "") {
  Rig rig("cudadetections decoder=end2end ! " + between + "cudarestore");
  rig.downstream("video/x-raw(ANY)");
  EXPECT_TRUE(rig.caps(network_caps(boxes.size())));
  BufferRef frame = rig.process(camera.output(boxes));
  EXPECT_EQ(rig.output("width"), "1920");
  EXPECT_EQ(gst_buffer_get_size(frame.get()), 1920u * 1080 * 3 / 2);
  return frame;
}

/// Returns the places of the regions as "0: 1,2,3,4".
std::string regions_in(GstBuffer *frame) {
  std::string text;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    EXPECT_NE(gst_video_region_of_interest_meta_get_param(roi, "detection"), nullptr);
    text += std::string(g_quark_to_string(roi->roi_type)) + ": " + std::to_string(roi->x) + "," +
            std::to_string(roi->y) + "," + std::to_string(roi->w) + "," + std::to_string(roi->h) +
            "\n";
  }
  return text;
}

std::string text_of(const std::vector<std::array<int, 4>> &boxes) {
  std::string text;
  for (size_t i = 0; i < boxes.size(); ++i)
    text += std::to_string(i) + ": " + std::to_string(boxes[i][0]) + "," +
            std::to_string(boxes[i][1]) + "," + std::to_string(boxes[i][2] - boxes[i][0]) + "," +
            std::to_string(boxes[i][3] - boxes[i][1]) + "\n";
  return text;
}

std::vector<std::string> modes() {
  return {"resize-mode=affine",
          "resize-mode=ultralytics",
          "resize-mode=top-left",
          "resize-mode=torchvision shortest-edge=48",
          "resize-mode=transformers shortest-edge=50",
          "resize-mode=affine video-direction=90r",
          "resize-mode=affine video-direction=horiz",
          "resize-mode=ultralytics video-direction=ul-lr"};
}

/// A pixel of the tensor is 40 of the frame.
TEST(RestoredObjects, AreWhereTheyAreInTheFrame) {
  for (const std::string &mode : modes()) {
    const Camera camera(mode);
    for_cases(20, [&](Random &random) {
      SCOPED_TRACE(mode);
      std::vector<std::array<int, 4>> boxes;
      for (int i = random.integer(1, 8); i > 0; --i) {
        const int x = random.integer(430, 1300), y = random.integer(0, 900);
        boxes.push_back({x, y, x + random.integer(45, 180), y + random.integer(45, 180)});
      }
      const BufferRef frame = restored(camera, boxes);
      EXPECT_EQ(regions_in(frame.get()), text_of(boxes));
      if (gstanalytics::library() == nullptr) return;
      std::vector<Object> objects;
      for (size_t i = 0; i < boxes.size(); ++i)
        objects.push_back({std::to_string(i), boxes[i][0], boxes[i][1], boxes[i][2] - boxes[i][0],
                           boxes[i][3] - boxes[i][1], 0.5F});
      EXPECT_EQ(objects_of(frame.get()), objects);
    });
  }
}

/// Their box in the tensor is empty once it is rounded.
TEST(RestoredObjects, MayBeSmallerThanAPixelOfTheTensor) {
  const Camera camera("resize-mode=affine");
  const std::vector<std::array<int, 4>> boxes = {{1005, 85, 1012, 92}};
  const BufferRef frame = restored(camera, boxes);
  EXPECT_EQ(regions_in(frame.get()), text_of(boxes));
  if (gstanalytics::library() == nullptr) return;
  EXPECT_EQ(objects_of(frame.get()), (std::vector<Object>{{"0", 1005, 85, 7, 7, 0.5F}}));
}

/// An element between may have taken a region away, or added one.
void change_regions(GstElement *, GstBuffer *tensor, gpointer) {
  gst_buffer_remove_meta(tensor,
                         gst_buffer_get_meta(tensor, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  auto *added = gst_buffer_add_video_region_of_interest_meta(tensor, "other", 12, 24, 12, 12);
  gst_video_region_of_interest_meta_add_param(added, gst_structure_new_empty("detection"));
}

TEST(RestoredObjects, FollowWhatElementsBetweenHaveChanged) {
  const Camera camera("resize-mode=affine");
  Rig rig(
      "cudadetections decoder=end2end ! identity name=tracker signal-handoffs=true ! cudarestore");
  const ElementRef tracker(gst_bin_get_by_name(GST_BIN(rig.element()), "tracker"));
  g_signal_connect(tracker.get(), "handoff", G_CALLBACK(change_regions), nullptr);
  rig.downstream("video/x-raw(ANY)");
  EXPECT_TRUE(rig.caps(network_caps(2)));
  const BufferRef frame = rig.process(camera.output({{500, 100, 601, 203}, {700, 300, 803, 411}}));
  EXPECT_EQ(regions_in(frame.get()), "1: 700,300,103,111\nother: 480,540,480,480\n");
}

/// A camera, a network of ONNX Runtime that finds the same three boxes in each picture, and back.
class RestoredInference : public InferenceTest {};

TEST_F(RestoredInference, BringsBoxesToTheCamerasFrames) {
  const std::vector<float> zeros(6);
  const std::vector<float> found = {12, 20, 18, 30, 0.75F, 0,   //
                                    4,  10, 44, 40, 0.5F,  1,   //
                                    0,  0,  10, 10, 0.25F, 2};  // not greater than confidence
  const std::string network = OnnxGraph()
                                  .constant("zeros", zeros, {1, 1, 1, 6})
                                  .constant("found", found, {1, 3, 1, 6})
                                  .integers("axis", {2})
                                  .input("images", onnx_float, {"1", "3", "48", "48"})
                                  .node("GlobalAveragePool", {"images"}, {"means"})
                                  .node("Mul", {"means", "zeros"}, {"nothing"})
                                  .node("Add", {"nothing", "found"}, {"boxes"})
                                  .node("Squeeze", {"boxes", "axis"}, {"output"})
                                  .output("output", onnx_float, {"1", "3", "6"})
                                  .model();
  Rig rig(
      "cudaletterbox keep-input=true ! video/x-raw,format=RGB,width=48,height=48 ! "
      "cudanormalize ! " +
      element(network) + " ! queue ! cudadetections ! cudarestore");
  rig.downstream("video/x-raw(ANY)");
  EXPECT_TRUE(rig.caps(video_caps(kCamera)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.push(buffer_of(random_picture(kCamera, 1))), GST_FLOW_OK);
    const BufferRef frame(gst_harness_pull(rig.harness()));
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(gst_buffer_get_size(frame.get()), 1920u * 1080 * 3 / 2);
    EXPECT_EQ(regions_in(frame.get()), "0: 480,380,240,400\n1: 160,0,1600,1080\n");
  }
}

TEST(RestoredObjects, NeedTensorsThatCarryTheirFrame) {
  Rig rig("cudarestore");
  rig.downstream("video/x-raw(ANY)");
  EXPECT_TRUE(rig.caps(network_caps(1)));
  expect_error(rig, BufferRef(gst_buffer_new_allocate(nullptr, 24, nullptr)), "tensor");
}

}  // namespace
}  // namespace cudatensor
