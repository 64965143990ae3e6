// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors in system memory, handed to consumers: their description, write access and lifetime.
#include <algorithm>
#include <random>
#include <thread>

#include "backend.h"
#include "handed.h"
#include "kernels/device.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr const char *kFilter = "video/x-raw,format=RGB,width=20,height=12 ! ";
constexpr const char *kSystem = " ! other/tensors";  // even if it could use the GPU's memory

std::string normalize(const std::string &properties) {
  return kFilter + ("cudanormalize " + properties) + kSystem;
}

std::vector<gint64> list(const gint64 *numbers, guint count) { return {numbers, numbers + count}; }

std::vector<gint64> shape_of(GstCudaTensor *tensor) {
  return list(gst_cuda_tensor_get_shape(tensor), gst_cuda_tensor_get_n_dims(tensor));
}
std::vector<gint64> strides_of(GstCudaTensor *tensor) {
  return list(gst_cuda_tensor_get_strides(tensor), gst_cuda_tensor_get_n_dims(tensor));
}

/// Returns the address of a sample's bytes.
const void *address_of(GstSample *sample) {
  GstMapInfo map;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  const void *address = map.data;
  gst_buffer_unmap(buffer, &map);  // clears the map since GStreamer 1.28
  return address;
}

Bytes bytes_at(const DLTensor &dl) {
  size_t size = dl.dtype.bits / 8;
  for (int i = 0; i < dl.ndim; ++i) size *= static_cast<size_t>(dl.shape[i]);
  const auto *begin = static_cast<const uint8_t *>(dl.data) + dl.byte_offset;
  return Bytes(begin, begin + size);
}

const std::string kCaps =
    "other/tensors,format=static,num_tensors=1,types=uint8,dimensions=4:3:2:1,framerate=0/1";

BufferRef small_buffer() { return buffer_of(noise(24, 1)); }

// ------------------------------------------------------------------------------ what they say

struct Form {
  const char *properties, *filter;
  GstCudaTensorDataType type;
  std::vector<gint64> shape, strides;
  uint8_t code, bits;
};

void PrintTo(const Form &form, std::ostream *os) { *os << form.properties << form.filter; }

class Forms : public testing::TestWithParam<Form> {};

INSTANTIATE_TEST_SUITE_P(Interop, Forms,
                         testing::Values(Form{"",
                                              "",
                                              GST_CUDA_TENSOR_DATA_TYPE_FLOAT32,
                                              {1, 3, 12, 20},
                                              {720, 240, 20, 1},
                                              kDLFloat,
                                              32},
                                         Form{"dtype=float16 layout=nhwc width=5 height=7",
                                              "",
                                              GST_CUDA_TENSOR_DATA_TYPE_FLOAT16,
                                              {1, 7, 5, 3},
                                              {105, 15, 3, 1},
                                              kDLFloat,
                                              16},
                                         Form{"dtype=uint8 color=gray width=5 height=7",
                                              ",dimensions=5:7:1",
                                              GST_CUDA_TENSOR_DATA_TYPE_UINT8,
                                              {1, 7, 5},
                                              {35, 5, 1},
                                              kDLUInt,
                                              8},
                                         Form{"dtype=int8",
                                              ",dimensions=20:12:3",
                                              GST_CUDA_TENSOR_DATA_TYPE_INT8,
                                              {3, 12, 20},
                                              {240, 20, 1},
                                              kDLInt,
                                              8},
                                         Form{"dtype=bfloat16 width=6 height=5",
                                              "",
                                              GST_CUDA_TENSOR_DATA_TYPE_BFLOAT16,
                                              {1, 3, 5, 6},
                                              {90, 30, 6, 1},
                                              kDLBfloat,
                                              16}),
                         [](const auto &info) { return "form" + std::to_string(info.index); });

TEST_P(Forms, AreThoseOfTheCaps) {
  const Form &form = GetParam();
  Camera camera(normalize(form.properties) + form.filter);
  camera.pipeline().start();
  const SampleRef sample = camera.pull();
  ASSERT_NE(sample, nullptr);
  const TensorRef tensor = tensor_of(sample.get());
  EXPECT_EQ(gst_cuda_tensor_get_data_type(tensor.get()), form.type);
  EXPECT_EQ(gst_cuda_tensor_data_type_get_size(form.type), form.bits / 8);
  EXPECT_STREQ(gst_cuda_tensor_data_type_get_name(form.type),
               gst_structure_get_string(
                   gst_caps_get_structure(gst_sample_get_caps(sample.get()), 0), "types"));
  EXPECT_EQ(shape_of(tensor.get()), form.shape);
  EXPECT_EQ(strides_of(tensor.get()), form.strides);
  GstBuffer *buffer = gst_sample_get_buffer(sample.get());
  EXPECT_EQ(gst_cuda_tensor_get_buffer(tensor.get()), buffer);
  EXPECT_EQ(gst_cuda_tensor_get_size(tensor.get()), gst_buffer_get_size(buffer));
  EXPECT_EQ(gst_cuda_tensor_get_device_type(tensor.get()), GST_CUDA_TENSOR_DEVICE_TYPE_CPU);
  EXPECT_EQ(gst_cuda_tensor_get_device_id(tensor.get()), 0);
  EXPECT_EQ(gst_cuda_tensor_get_context(tensor.get()), nullptr);
  EXPECT_EQ(gst_cuda_tensor_get_stream(tensor.get()), nullptr);
}

TEST_P(Forms, AreDlpacksWithoutACopy) {
  const Form &form = GetParam();
  Camera camera(normalize(form.properties) + form.filter);
  camera.pipeline().start();
  const SampleRef sample = camera.pull();
  ASSERT_NE(sample, nullptr);
  const Bytes expected = bytes_of(gst_sample_get_buffer(sample.get()));
  const TensorRef tensor = tensor_of(sample.get());
  EXPECT_EQ(gst_cuda_tensor_get_data(tensor.get()), address_of(sample.get()));
  const Legacy legacy = to_dlpack(tensor.get());
  const Versioned versioned = to_versioned(tensor.get());
  EXPECT_EQ(versioned->version.major, 1u);
  for (const DLTensor *dl : {&legacy->dl_tensor, &versioned->dl_tensor}) {
    EXPECT_EQ(dl->data, address_of(sample.get()));
    EXPECT_EQ(dl->byte_offset, 0u);
    EXPECT_EQ(dl->device.device_type, kDLCPU);
    EXPECT_EQ(dl->device.device_id, 0);
    EXPECT_EQ(dl->dtype.code, form.code);
    EXPECT_EQ(dl->dtype.bits, form.bits);
    EXPECT_EQ(dl->dtype.lanes, 1);
    EXPECT_EQ(list(dl->shape, static_cast<guint>(dl->ndim)), form.shape);
    EXPECT_EQ(list(dl->strides, static_cast<guint>(dl->ndim)), form.strides);
    EXPECT_TRUE(same_bytes(bytes_at(*dl), expected));
  }
}

TEST(Interop, TakesEveryTypeOfNnstreamer) {
  for (const auto &[name, code, bits] : {std::tuple("float64", kDLFloat, 64),
                                         {"int16", kDLInt, 16},
                                         {"uint16", kDLUInt, 16},
                                         {"int32", kDLInt, 32},
                                         {"uint32", kDLUInt, 32},
                                         {"int64", kDLInt, 64},
                                         {"uint64", kDLUInt, 64}}) {
    const BufferRef buffer = buffer_of(noise(static_cast<size_t>(bits) / 8 * 6, 1));
    const TensorRef tensor = tensor_of(
        buffer.get(),
        std::string("other/tensors,format=static,num_tensors=1,dimensions=(string)3:2,types=") +
            name);
    ASSERT_NE(tensor, nullptr) << name;
    const Legacy legacy = to_dlpack(tensor.get());
    EXPECT_EQ(legacy->dl_tensor.dtype.code, code) << name;
    EXPECT_EQ(legacy->dl_tensor.dtype.bits, bits) << name;
    const GstCudaTensorDataType type = gst_cuda_tensor_get_data_type(tensor.get());
    EXPECT_STREQ(gst_cuda_tensor_data_type_get_name(type), name);
    EXPECT_EQ(gst_cuda_tensor_data_type_get_size(type), static_cast<gsize>(bits) / 8);
  }
}

TEST(Interop, IsABoxedType) {
  EXPECT_STREQ(g_type_name(GST_TYPE_CUDA_TENSOR), "GstCudaTensor");
  const BufferRef buffer = small_buffer();
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_CUDA_TENSOR);
  g_value_set_boxed(&value, tensor.get());
  EXPECT_EQ(g_value_get_boxed(&value), tensor.get());
  EXPECT_TRUE(gst_cuda_tensor_is_read_only(tensor.get()));
  g_value_unset(&value);
}

// ------------------------------------------------------------------------------------ geometry

TEST(Interop, TellsTheGeometryOfAPicture) {
  Camera camera(
      "video/x-raw,width=1280,height=720 ! cudanormalize width=640 height=640 "
      "resize-mode=ultralytics" +
      std::string(kSystem));
  camera.pipeline().start();
  const SampleRef sample = camera.pull();
  ASSERT_NE(sample, nullptr);
  const TensorRef tensor = tensor_of(sample.get());
  EXPECT_EQ(gst_cuda_tensor_get_n_slots(tensor.get()), 0u);
  GstCudaTensorGeometry g = {};
  ASSERT_TRUE(gst_cuda_tensor_get_geometry(tensor.get(), &g));
  EXPECT_EQ(std::vector<int>({g.src_width, g.src_height, g.dst_width, g.dst_height, g.pad_left,
                              g.pad_top, g.content_width, g.content_height}),
            std::vector<int>({1280, 720, 640, 640, 0, 140, 640, 360}));
  const double matrix[] = {0.5, 0, 0, 0, 0.5, 140}, inverse[] = {2, 0, 0, 0, 2, -280};
  EXPECT_TRUE(std::equal(matrix, matrix + 6, g.matrix));
  EXPECT_TRUE(std::equal(inverse, inverse + 6, g.inverse));
  double box[] = {0, 140, 640, 500};
  gst_cuda_tensor_geometry_map_box(&g, box, box);
  EXPECT_EQ(std::vector<double>(box, box + 4), std::vector<double>({0, 0, 1280, 720}));
}

/// The tensor shows every other pixel of the middle 720x720 pixels of 1280x720.
TEST(Interop, MapsBoxesOfACrop) {
  Camera camera(
      "video/x-raw,width=1280,height=720 ! cudanormalize width=360 height=360 "
      "resize-mode=transformers antialias=true" +
      std::string(kSystem));
  camera.pipeline().start();
  const SampleRef sample = camera.pull();
  ASSERT_NE(sample, nullptr);
  GstCudaTensorGeometry g = {};
  ASSERT_TRUE(gst_cuda_tensor_get_geometry(tensor_of(sample.get()).get(), &g));
  EXPECT_EQ(std::vector<int>({g.pad_left, g.pad_top, g.content_width, g.content_height}),
            std::vector<int>({0, 0, 360, 360}));
  double box[] = {0, 0, 360, 360}, beyond[] = {-20, 10, 380, 370};
  gst_cuda_tensor_geometry_map_box(&g, box, box);
  EXPECT_EQ(std::vector<double>(box, box + 4), std::vector<double>({280, 0, 1000, 720}));
  // A network's box may reach beyond its input, where the picture continues.
  gst_cuda_tensor_geometry_map_box(&g, beyond, beyond);
  EXPECT_EQ(std::vector<double>(beyond, beyond + 4), std::vector<double>({240, 20, 1040, 740}));
}

TEST(Interop, MapsBoxesThroughAnyMatrix) {
  GstCudaTensorGeometry g = {};
  const double inverse[] = {1, 2, 3, 4, 5, 6};
  std::copy_n(inverse, 6, g.inverse);
  const double box[] = {1, 10, 100, 1000};
  double mapped[4];
  gst_cuda_tensor_geometry_map_box(&g, box, mapped);
  EXPECT_EQ(std::vector<double>(mapped, mapped + 4), std::vector<double>({24, 60, 2103, 5406}));
}

/// The matrix of a picture that was turned by 90° mirrors one axis.
TEST(Interop, MapsToTheBoxAroundATurnedBox) {
  GstCudaTensorGeometry g = {};
  const double inverse[] = {0, 0.5, 0, -0.5, 0, 30};
  std::copy_n(inverse, 6, g.inverse);
  double box[] = {40, 20, 52, 60};
  gst_cuda_tensor_geometry_map_box(&g, box, box);
  EXPECT_EQ(std::vector<double>(box, box + 4), std::vector<double>({10, 4, 30, 10}));
}

TEST(Interop, HasNoGeometryWhereTheBufferHasNone) {
  const BufferRef buffer = small_buffer();
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  GstCudaTensorGeometry geometry;
  GstCudaTensorSlot slot;
  EXPECT_FALSE(gst_cuda_tensor_get_geometry(tensor.get(), &geometry));
  EXPECT_FALSE(gst_cuda_tensor_get_slot(tensor.get(), 0, &slot));
}

TEST(Interop, TellsTheSlotsOfABatch) {
  Pipeline pipeline(
      "cudatensormux name=mux batch-size=3 width=64 height=64 resize-mode=ultralytics dtype=uint8"
      " ! other/tensors ! appsink name=sink sync=false "
      "videotestsrc num-buffers=2 ! video/x-raw,width=128,height=64,framerate=10/1 ! mux.sink_0 "
      "videotestsrc num-buffers=2 ! video/x-raw,width=32,height=64,framerate=10/1 ! mux.sink_2");
  pipeline.start();
  GstSample *pulled = nullptr;
  const ElementRef sink = pipeline.find("sink");
  for (int i = 0; i < 2; ++i) {
    g_signal_emit_by_name(sink.get(), "try-pull-sample", 20 * GST_SECOND, &pulled);
    const SampleRef sample(pulled);
    ASSERT_NE(sample, nullptr);
    const TensorRef tensor = tensor_of(sample.get());
    EXPECT_EQ(shape_of(tensor.get()), (std::vector<gint64>{3, 3, 64, 64}));
    ASSERT_EQ(gst_cuda_tensor_get_n_slots(tensor.get()), 3u);
    GstCudaTensorSlot slots[3];
    for (guint k = 0; k < 3; ++k) ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), k, &slots[k]));
    EXPECT_TRUE(slots[0].valid && slots[2].valid);
    EXPECT_FALSE(slots[1].valid);
    EXPECT_EQ(slots[1].pad_index, -1);
    EXPECT_EQ(slots[1].pts, GST_CLOCK_TIME_NONE);
    EXPECT_FALSE(slots[1].has_geometry);
    for (const int k : {0, 2}) {
      EXPECT_EQ(slots[k].pad_index, k);
      EXPECT_NE(slots[k].stream_id, nullptr);
      EXPECT_EQ(slots[k].pts, i * 100 * GST_MSECOND);
      EXPECT_EQ(slots[k].running_time, slots[k].pts);
      EXPECT_EQ(slots[k].duration, 100 * GST_MSECOND);
      EXPECT_FALSE(slots[k].has_region);
      ASSERT_TRUE(slots[k].has_geometry);
    }
    EXPECT_STRNE(slots[0].stream_id, slots[2].stream_id);
    const double half[] = {0, 16, 64, 48}, narrow[] = {16, 0, 48, 64};
    double box[4];
    gst_cuda_tensor_geometry_map_box(&slots[0].geometry, half, box);
    EXPECT_EQ(std::vector<double>(box, box + 4), std::vector<double>({0, 0, 128, 64}));
    gst_cuda_tensor_geometry_map_box(&slots[2].geometry, narrow, box);
    EXPECT_EQ(std::vector<double>(box, box + 4), std::vector<double>({0, 0, 32, 64}));
  }
}

/// Returns a buffer with a batch meta that is parsed from the text of its slots.
BufferRef buffer_with_slots(const std::string &slots) {
  BufferRef buffer = small_buffer();
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer.get(), "GstCudaTensorBatchMeta");
  GstStructure *parsed = gst_structure_from_string(("s,slots=" + slots).c_str(), nullptr);
  EXPECT_NE(parsed, nullptr) << slots;
  gst_structure_set_value(gst_custom_meta_get_structure(meta), "slots",
                          gst_structure_get_value(parsed, "slots"));
  gst_structure_free(parsed);
  return buffer;
}

TEST(Interop, TellsTheRegionOfASlot) {
  make_element("cudanormalize");  // registers the meta
  const BufferRef buffer = buffer_with_slots(
      "<(structure)\"slot,valid=true,pad-index=0,region=<1.5,2.0,3.0,4.0>,roi-type=face,roi-id=7,"
      "parent-id=3;\","
      "(structure)\"slot,valid=true,region=<1.0,2.0>,roi-id=1,parent-id=2;\","
      "(structure)\"slot,valid=false;\","
      "(structure)\"slot,valid=true,region=<1.0,2.0,3.0,4.0>,roi-type=face,roi-id=7;\">");
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  ASSERT_EQ(gst_cuda_tensor_get_n_slots(tensor.get()), 4u);
  EXPECT_EQ(gst_cuda_tensor_get_left_out(tensor.get()), 0u);
  GstCudaTensorSlot slot;
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), 0, &slot));
  EXPECT_TRUE(slot.valid && slot.has_region && slot.has_roi);
  EXPECT_EQ(std::vector<double>(slot.region, slot.region + 4), std::vector<double>({1.5, 2, 3, 4}));
  EXPECT_STREQ(slot.roi_type, "face");
  EXPECT_EQ(slot.roi_id, 7);
  EXPECT_EQ(slot.parent_id, 3);
  EXPECT_FALSE(slot.has_geometry);
  // Incomplete fields are treated as missing.
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), 1, &slot));
  EXPECT_TRUE(slot.valid);
  EXPECT_FALSE(slot.has_region || slot.has_roi);
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), 3, &slot));
  EXPECT_TRUE(slot.has_region);
  EXPECT_FALSE(slot.has_roi);
  EXPECT_EQ(slot.roi_type, nullptr);
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), 2, &slot));
  EXPECT_FALSE(slot.valid);
  EXPECT_EQ(slot.pad_index, -1);
  EXPECT_FALSE(gst_cuda_tensor_get_slot(tensor.get(), 4, &slot));
}

/// An empty slot has the number of its camera, but no picture.
TEST(Interop, TellsTheCameraAndTimeOfEachPicture) {
  make_element("cudanormalize");
  const BufferRef buffer = buffer_with_slots(
      "<(structure)\"slot,valid=true,pad-index=2,pts=(guint64)7;\","
      "(structure)\"slot,valid=false,pad-index=3,pts=(guint64)8;\","
      "(structure)\"slot,valid=true,pts=(guint64)9;\",(structure)\"slot,valid=true,pad-index=5;\","
      "(structure)\"slot,valid=false;\">");
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  GstCudaTensorSlot slot;
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor.get(), 1, &slot));
  EXPECT_EQ(slot.pad_index, 3);
  std::vector<gint64> pts(7, 77);
  std::vector<gint> pads(7, 77);
  EXPECT_EQ(gst_cuda_tensor_get_slot_times(tensor.get(), 7, pts.data(), pads.data()), 5u);
  EXPECT_EQ(pts, (std::vector<gint64>{7, -1, 9, -1, -1, 77, 77}));
  EXPECT_EQ(pads, (std::vector<gint>{2, -1, 0, 5, -1, 77, 77}));
  pts.assign(7, 77);
  pads.assign(7, 77);
  EXPECT_EQ(gst_cuda_tensor_get_slot_times(tensor.get(), 1, pts.data(), pads.data()), 1u);
  EXPECT_EQ(pts, (std::vector<gint64>{7, 77, 77, 77, 77, 77, 77}));
  EXPECT_EQ(pads, (std::vector<gint>{2, 77, 77, 77, 77, 77, 77}));
}

/// Others than the plugin may write integers as coordinates, or too few of them.
TEST(Interop, TakesCoordinatesOnlyAsTheyAreDocumented) {
  make_element("cudanormalize");  // registers the metas
  const std::string sizes =
      "src-width=1,src-height=1,dst-width=1,dst-height=1,pad-left=0,pad-top=0,content-width=1,"
      "content-height=1";
  const std::string right = "<1.0,0.0,0.0,0.0,1.0,0.0>";
  for (const std::string wrong : {"<1,0,0,0,1,0>", "<1.0,0.0,0.0,0.0,1.0>", "1.0"})
    for (const bool first : {true, false}) {
      const BufferRef buffer = buffer_with_slots(
          "<(structure)\"slot,valid=true,region=<1,2,3,4>,matrix=" + (first ? wrong : right) +
          ",inverse=" + (first ? right : wrong) + "," + sizes + ";\">");
      GstCudaTensorSlot slot;
      ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor_of(buffer.get(), kCaps).get(), 0, &slot));
      EXPECT_FALSE(slot.has_region || slot.has_geometry) << wrong;
    }
  const BufferRef buffer = buffer_with_slots("<(structure)\"slot,valid=true,matrix=" + right +
                                             ",inverse=" + right + "," + sizes + ";\">");
  GstCudaTensorSlot slot;
  ASSERT_TRUE(gst_cuda_tensor_get_slot(tensor_of(buffer.get(), kCaps).get(), 0, &slot));
  EXPECT_TRUE(slot.has_geometry);
}

std::vector<GstCudaTensorSlot> slots_of(GstCudaTensor *tensor) {
  std::vector<GstCudaTensorSlot> slots(gst_cuda_tensor_get_n_slots(tensor));
  for (guint i = 0; i < slots.size(); ++i)
    EXPECT_TRUE(gst_cuda_tensor_get_slot(tensor, i, &slots[i]));
  return slots;
}

std::vector<double> region_of(const GstCudaTensorSlot &slot) {
  EXPECT_TRUE(slot.valid && slot.has_region && slot.has_geometry);
  return {slot.region, slot.region + 4};
}

TEST(Interop, TellsRegionsThatAreNotOfInterest) {
  for (const auto &[properties, first, last] :
       {std::tuple<const char *, std::vector<double>, std::vector<double>>(
            "regions=list region-list=<2,4,10,8,12,6,8,5>", {2, 4, 10, 8}, {12, 6, 8, 5}),
        {"regions=tiles tile-columns=2 tile-rows=1", {0, 0, 10, 12}, {10, 0, 10, 12}}}) {
    Camera camera(normalize(std::string("width=8 height=8 ") + properties));
    camera.pipeline().start();
    const SampleRef sample = camera.pull();
    ASSERT_NE(sample, nullptr);
    const TensorRef tensor = tensor_of(sample.get());
    const auto slots = slots_of(tensor.get());
    ASSERT_EQ(slots.size(), 2u) << properties;
    EXPECT_EQ(region_of(slots[0]), first) << properties;
    EXPECT_EQ(region_of(slots[1]), last) << properties;
    for (const GstCudaTensorSlot &slot : slots) {
      EXPECT_FALSE(slot.has_roi) << properties;
      EXPECT_EQ(slot.roi_type, nullptr) << properties;
    }
    EXPECT_EQ(gst_cuda_tensor_get_left_out(tensor.get()), 0u);
  }
}

TEST(Interop, TellsWhoWasInterestedInARegion) {
  const ImageDesc frame = {PixelFormat::NV12, 40, 30};
  Rig rig("cudanormalize width=8 height=8 regions=meta max-batch=2");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(frame)));
  BufferRef picture = buffer_of(random_picture(frame));
  for (guint i = 0; i < 5; ++i) {
    auto *meta =
        gst_buffer_add_video_region_of_interest_meta(picture.get(), "face", 2 * i, 4, 8, 6);
    meta->id = static_cast<gint>(i) + 7;
    meta->parent_id = static_cast<gint>(i) + 70;
  }
  const BufferRef batch = rig.process(std::move(picture));
  const CapsRef caps = rig.output_caps();
  const TensorRef tensor(gst_cuda_tensor_new(batch.get(), caps.get(), nullptr));
  ASSERT_NE(tensor, nullptr);
  const auto slots = slots_of(tensor.get());
  ASSERT_EQ(slots.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(region_of(slots[i]), (std::vector<double>{2.0 * i, 4, 8, 6}));
    EXPECT_TRUE(slots[i].has_roi);
    EXPECT_STREQ(slots[i].roi_type, "face");
    EXPECT_EQ(slots[i].roi_id, i + 7);
    EXPECT_EQ(slots[i].parent_id, i + 70);
  }
  EXPECT_EQ(gst_cuda_tensor_get_left_out(tensor.get()), 3u);
}

/// One call has what the others have one by one.
TEST(Interop, DescribesATensorInOneCall) {
  const ImageDesc frame = {PixelFormat::RGB, 32, 16};
  Rig rig("cudanormalize width=8 height=8 regions=tiles tile-columns=2 tile-rows=1");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(frame)));
  const BufferRef batch = rig.process(buffer_of(random_picture(frame)));
  const CapsRef caps = rig.output_caps();
  const TensorRef tensor(gst_cuda_tensor_new(batch.get(), caps.get(), nullptr));
  ASSERT_NE(tensor, nullptr);
  GstCudaTensorInfo info;
  gst_cuda_tensor_get_info(tensor.get(), &info);
  EXPECT_EQ(info.data_type, gst_cuda_tensor_get_data_type(tensor.get()));
  EXPECT_EQ(info.n_dims, 4u);
  EXPECT_EQ(info.shape, gst_cuda_tensor_get_shape(tensor.get()));
  EXPECT_EQ(info.strides, gst_cuda_tensor_get_strides(tensor.get()));
  EXPECT_EQ(info.size, gst_cuda_tensor_get_size(tensor.get()));
  EXPECT_EQ(info.device_type, gst_cuda_tensor_get_device_type(tensor.get()));
  EXPECT_EQ(info.device_id, gst_cuda_tensor_get_device_id(tensor.get()));
  EXPECT_EQ(info.n_slots, 2u);
  EXPECT_EQ(info.left_out, 0u);
  EXPECT_FALSE(info.has_geometry) << "each slot has its own";
}

TEST(Interop, DoesNotTripOverAForeignBatchMeta) {
  make_element("cudanormalize");
  for (const char *slots : {"(int)1", "<1,2>", "<(structure)\"slot;\",3>"}) {
    const BufferRef buffer = buffer_with_slots(slots);
    EXPECT_EQ(gst_cuda_tensor_get_n_slots(tensor_of(buffer.get(), kCaps).get()), 0u) << slots;
  }
}

// ------------------------------------------------------------------------------- who may write

bool is_read_only(GstCudaTensor *tensor) {
  const bool flag = (to_versioned(tensor)->flags & kDLReadOnly) != 0;
  EXPECT_EQ(gst_cuda_tensor_is_read_only(tensor), flag);
  return flag;
}

TEST(Interop, IsReadOnlyWhereOthersMaySee) {
  Camera camera(normalize(""));
  camera.pipeline().start();
  SampleRef sample = camera.pull();
  ASSERT_NE(sample, nullptr);
  const TensorRef tensor = tensor_of(sample.get());
  EXPECT_TRUE(is_read_only(tensor.get()));
  sample.reset();
  for (int i = 0; i < 2; ++i) camera.pull();  // the sink keeps the last one
  EXPECT_FALSE(is_read_only(tensor.get()));

  const TensorRef second(gst_cuda_tensor_ref(tensor.get()));
  EXPECT_TRUE(gst_cuda_tensor_is_read_only(tensor.get()));
}

TEST(Interop, IsReadOnlyWhereAnotherConsumerIs) {
  BufferRef buffer = small_buffer();
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  buffer.reset();
  const Versioned first = to_versioned(tensor.get());
  EXPECT_EQ(first->flags, 0u);
  EXPECT_EQ(to_versioned(tensor.get())->flags, kDLReadOnly);
}

TEST(Interop, IsReadOnlyWhereTheMemoryIs) {
  const auto flags_of = [](GstMemory *memory) {
    GstBuffer *buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, memory);
    const TensorRef tensor = tensor_of(buffer, kCaps);
    gst_buffer_unref(buffer);
    return to_versioned(tensor.get())->flags;
  };
  const auto wrapped = [](GstMemoryFlags flags) {
    gpointer bytes = g_malloc0(24);
    return gst_memory_new_wrapped(flags, bytes, 24, 0, 24, bytes, g_free);
  };
  EXPECT_EQ(flags_of(wrapped(static_cast<GstMemoryFlags>(0))), 0u);
  EXPECT_EQ(flags_of(wrapped(GST_MEMORY_FLAG_READONLY)), kDLReadOnly);
  GstMemory *held = gst_memory_ref(wrapped(static_cast<GstMemoryFlags>(0)));
  EXPECT_EQ(flags_of(held), kDLReadOnly);
  EXPECT_EQ(flags_of(gst_memory_share(held, 0, 24)), kDLReadOnly);
  gst_memory_unref(held);
}

// -------------------------------------------------------------------------------- how long

TEST(Interop, HoldsTheBufferUntilTheLastDeleterRuns) {
  BufferRef buffer = small_buffer();
  const Bytes expected = bytes_of(buffer.get());
  const Watch watch(buffer.get());
  TensorRef tensor = tensor_of(buffer.get(), kCaps);
  buffer.reset();
  Legacy legacy = to_dlpack(tensor.get());
  Versioned versioned = to_versioned(tensor.get());
  tensor.reset();
  EXPECT_TRUE(same_bytes(bytes_at(legacy->dl_tensor), expected));
  legacy.reset();
  EXPECT_FALSE(watch.is_gone());
  EXPECT_TRUE(same_bytes(bytes_at(versioned->dl_tensor), expected));
  versioned.reset();
  EXPECT_TRUE(watch.is_gone());
}

TEST(Interop, IsAcquiredAndReleased) {
  BufferRef buffer = small_buffer();
  const Watch watch(buffer.get());
  TensorRef tensor = tensor_of(buffer.get(), kCaps);
  buffer.reset();
  for (gpointer stream : {gpointer{nullptr}, GST_CUDA_TENSOR_NO_STREAM, gpointer{&buffer}}) {
    ASSERT_TRUE(
        gst_cuda_tensor_acquire(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, stream, nullptr));
    EXPECT_TRUE(gst_cuda_tensor_is_read_only(tensor.get()));
    gst_cuda_tensor_release(tensor.get(), stream);
    EXPECT_FALSE(gst_cuda_tensor_is_read_only(tensor.get()));
  }
  ASSERT_TRUE(
      gst_cuda_tensor_acquire(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, nullptr, nullptr));
  GstCudaTensor *acquired = tensor.release();
  gst_cuda_tensor_unref(acquired);
  EXPECT_FALSE(watch.is_gone());
  gst_cuda_tensor_release(acquired, nullptr);
  EXPECT_TRUE(watch.is_gone());
}

/// The objects that a consumer keeps of a frame.
struct Kept {
  Versioned tensor;
  Bytes expected;
};

Kept keep_next(Camera &camera) {
  const SampleRef sample = camera.pull();
  EXPECT_NE(sample, nullptr);
  if (!sample) return {};
  return {to_versioned(tensor_of(sample.get()).get()),
          bytes_of(gst_sample_get_buffer(sample.get()))};
}

std::vector<Kept> keep(Camera &camera, int count) {
  std::vector<Kept> kept;
  for (int i = 0; i < count; ++i) kept.push_back(keep_next(camera));
  return kept;
}

/// Releases everything from other threads, in random order, and checks that the contents are
/// unchanged.
void let_go(std::vector<Kept> kept) {
  std::shuffle(kept.begin(), kept.end(), std::mt19937(1));
  std::vector<std::thread> threads;
  for (size_t first = 0; first < 3; ++first)
    threads.emplace_back([&kept, first] {
      for (size_t i = first; i < kept.size(); i += 3) {
        EXPECT_TRUE(same_bytes(bytes_at(kept[i].tensor->dl_tensor), kept[i].expected));
        kept[i].tensor.reset();
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST(Interop, ReleasesAHundredInAnyOrderWhileFramesGoOn) {
  Camera camera(normalize("width=30 height=30"));
  camera.pipeline().start();
  for (int round = 0; round < 3; ++round) {
    std::vector<Kept> kept = keep(camera, 100);
    std::thread consumer(let_go, std::move(kept));
    keep(camera, 50);
    consumer.join();
  }
}

TEST(Interop, OutlivesThePipeline) {
  std::vector<Kept> kept;
  std::vector<Watch> watches;
  {
    Camera camera(normalize("width=30 height=30"));
    camera.pipeline().start();
    kept = keep(camera, 20);
    for (const SampleRef sample = camera.pull(); watches.empty();) {
      watches.emplace_back(gst_sample_get_buffer(sample.get()));
      kept.push_back({to_versioned(tensor_of(sample.get()).get()),
                      bytes_of(gst_sample_get_buffer(sample.get()))});
    }
  }
  EXPECT_FALSE(watches[0].is_gone());
  let_go(std::move(kept));
  EXPECT_TRUE(watches[0].is_gone());
}

TEST(Interop, IsSharedByThreads) {
  BufferRef buffer = small_buffer();
  const Bytes expected = bytes_of(buffer.get());
  const Watch watch(buffer.get());
  TensorRef tensor = tensor_of(buffer.get(), kCaps);
  buffer.reset();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        const TensorRef own(gst_cuda_tensor_ref(tensor.get()));
        const Legacy legacy = to_dlpack(own.get());
        EXPECT_TRUE(same_bytes(bytes_at(legacy->dl_tensor), expected));
      }
    });
  for (std::thread &thread : threads) thread.join();
  tensor.reset();
  EXPECT_TRUE(watch.is_gone());
}

// -------------------------------------------------------------------------------------- refusals

TEST(Interop, RefusesCapsThatDescribeNoTensor) {
  const std::string tensors = "other/tensors,format=static,num_tensors=1,";
  for (const auto &[caps, cause] :
       {std::pair<std::string, const char *>("video/x-raw,format=RGB", "other/tensors"),
        {"other/tensors,format=flexible", "static"},
        {"other/tensors,format=static,num_tensors=2,types=\"uint8,uint8\"", "one tensor"},
        {tensors + "types=uint8", "dimensions"},
        {tensors + "types=uint8,dimensions=(string)0:3", "dimensions"},
        {tensors + "types=uint8,dimensions=a", "dimensions"},
        {tensors + "types=uint8,dimensions=4:3:-2:1", "dimensions"},
        {tensors + "dimensions=4:3:2:1", "type"},
        {tensors + "types=complex64,dimensions=4:3:2:1", "complex64"},
        {tensors + "types=uint8,dimensions={4:3,2:1}", "fixed"},
        {"ANY", "fixed"},
        {tensors + "types=float64,dimensions=2147483647:2147483647:2147483647:1", "overflows"}}) {
    const BufferRef buffer = small_buffer();
    const CapsRef parsed(gst_caps_from_string(caps.c_str()));
    ASSERT_NE(parsed, nullptr) << caps;
    Refusal refusal;
    EXPECT_EQ(gst_cuda_tensor_new(buffer.get(), parsed.get(), refusal.into()), nullptr) << caps;
    EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_CAPS, cause)) << caps;
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(buffer.get()), 1) << caps;
  }
}

void expect_refused(const BufferRef &buffer, const char *cause) {
  const CapsRef caps(gst_caps_from_string(kCaps.c_str()));
  Refusal refusal;
  EXPECT_EQ(gst_cuda_tensor_new(buffer.get(), caps.get(), refusal.into()), nullptr);
  EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_BUFFER, cause));
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(buffer.get()), 1);
  // The error's location may be null.
  EXPECT_EQ(gst_cuda_tensor_new(buffer.get(), caps.get(), nullptr), nullptr);
}

TEST(Interop, RefusesBuffersOfAnotherSize) {
  expect_refused(buffer_of(Bytes(23)), "23 bytes");
  expect_refused(buffer_of(Bytes(25)), "24 bytes");
}

TEST(Interop, RefusesBuffersOfSeveralMemoriesOrNone) {
  expect_refused(buffer_of(Bytes(24), {8, 8, 8}), "3 memories");
  expect_refused(BufferRef(gst_buffer_new()), "0 memories");
}

TEST(Interop, RefusesMemoryThatCannotBeMapped) {
  BufferRef buffer = small_buffer();
  GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), 0), GST_MEMORY_FLAG_NOT_MAPPABLE);
  expect_refused(buffer, "mapped");
  GST_MINI_OBJECT_FLAG_UNSET(gst_buffer_peek_memory(buffer.get(), 0), GST_MEMORY_FLAG_NOT_MAPPABLE);
  // Maps the buffer for writing.
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE));
  expect_refused(buffer, "mapped");
  gst_buffer_unmap(buffer.get(), &map);
  EXPECT_NE(tensor_of(buffer.get(), kCaps), nullptr);
}

TEST(Interop, KeepsWritersOut) {
  const BufferRef buffer = small_buffer();
  TensorRef tensor = tensor_of(buffer.get(), kCaps);
  GstMemory *memory = gst_buffer_peek_memory(buffer.get(), 0);
  GstMapInfo map;
  EXPECT_FALSE(gst_memory_map(memory, &map, GST_MAP_WRITE));
  tensor.reset();
  ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
  gst_memory_unmap(memory, &map);
}

TEST(Interop, RefusesSamplesThatLackSomething) {
  const BufferRef buffer = small_buffer();
  const CapsRef caps(gst_caps_from_string(kCaps.c_str()));
  const SampleRef bare(gst_sample_new(nullptr, caps.get(), nullptr, nullptr));
  const SampleRef open(gst_sample_new(buffer.get(), nullptr, nullptr, nullptr));
  Refusal no_buffer, no_caps;
  EXPECT_EQ(gst_cuda_tensor_new_from_sample(bare.get(), no_buffer.into()), nullptr);
  EXPECT_TRUE(no_buffer.is(GST_CUDA_TENSOR_ERROR_BUFFER, "no buffer"));
  EXPECT_EQ(gst_cuda_tensor_new_from_sample(open.get(), no_caps.into()), nullptr);
  EXPECT_TRUE(no_caps.is(GST_CUDA_TENSOR_ERROR_CAPS, "caps"));
}

/// Returns the result of a call that GLib's checks for programming errors reject.
template <class Call>
auto objected(const char *to, const Call &call) {
  g_test_expect_message(nullptr, G_LOG_LEVEL_CRITICAL, to);
  const auto answer = call();
  g_test_assert_expected_messages();
  return answer;
}

template <class Result, class... More>
void expect_null_is_refused(Result (*function)(const GstCudaTensor *, More...),
                            std::common_type_t<Result> answer, std::common_type_t<More>... more) {
  EXPECT_EQ(objected("*tensor != *", [&] { return function(nullptr, more...); }), answer);
}

TEST(Interop, ObjectsToNull) {
  expect_null_is_refused(gst_cuda_tensor_get_data_type, GST_CUDA_TENSOR_DATA_TYPE_FLOAT32);
  expect_null_is_refused(gst_cuda_tensor_get_n_dims, 0u);
  expect_null_is_refused(gst_cuda_tensor_get_shape, nullptr);
  expect_null_is_refused(gst_cuda_tensor_get_strides, nullptr);
  expect_null_is_refused(gst_cuda_tensor_get_size, 0);
  expect_null_is_refused(gst_cuda_tensor_get_data, nullptr);
  expect_null_is_refused(gst_cuda_tensor_get_device_type, GST_CUDA_TENSOR_DEVICE_TYPE_CPU);
  expect_null_is_refused(gst_cuda_tensor_get_device_id, 0);
  expect_null_is_refused(gst_cuda_tensor_get_context, nullptr);
  expect_null_is_refused(gst_cuda_tensor_get_stream, nullptr);
  expect_null_is_refused(gst_cuda_tensor_is_read_only, TRUE);
  expect_null_is_refused(gst_cuda_tensor_get_buffer, nullptr);
  expect_null_is_refused(gst_cuda_tensor_get_n_slots, 0u);
  expect_null_is_refused(gst_cuda_tensor_get_left_out, 0u);
  GstCudaTensorGeometry geometry = {};
  GstCudaTensorSlot slot;
  expect_null_is_refused(gst_cuda_tensor_get_geometry, FALSE, &geometry);
  expect_null_is_refused(gst_cuda_tensor_get_slot, FALSE, 0u, &slot);
  GstCudaTensorInfo info;
  objected("*tensor != *", [&] { return gst_cuda_tensor_get_info(nullptr, &info), true; });

  const BufferRef buffer = small_buffer();
  const TensorRef tensor = tensor_of(buffer.get(), kCaps);
  EXPECT_FALSE(objected("*geometry != *",
                        [&] { return gst_cuda_tensor_get_geometry(tensor.get(), nullptr); }));
  EXPECT_FALSE(
      objected("*slot != *", [&] { return gst_cuda_tensor_get_slot(tensor.get(), 0, nullptr); }));
  double box[4] = {};
  const auto map = [&](const GstCudaTensorGeometry *from, const double *in, double *out) {
    return [=] { return gst_cuda_tensor_geometry_map_box(from, in, out), true; };
  };
  objected("*geometry != *", map(nullptr, box, box));
  objected("*'box != *", map(&geometry, nullptr, box));
  objected("*source_box != *", map(&geometry, box, nullptr));
}

TEST(Interop, SharesNoContextWithoutCuda) {
  if (gpu_is_there()) GTEST_SKIP() << "needs a machine without a GPU";
  const ElementRef element = make_element("cudanormalize");
  Refusal refusal;
  EXPECT_FALSE(gst_cuda_tensor_share_primary_context(element.get(), 0, refusal.into()));
  EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_NO_CUDA, cuda_is_built() ? "cuda" : "without CUDA"));
}

}  // namespace
}  // namespace cudatensor
