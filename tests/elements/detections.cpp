// SPDX-License-Identifier: LGPL-2.1-or-later
// cudadetections: which objects it attaches to tensors, as which metas, and what it refuses.
#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "../kernels/detectionoracle.h"
#include "analytics.h"
#include "gpu.h"
#include "gst/caps/flexibletensor.h"
#include "gst/util/values.h"
#include "kernels/detectiondecoder.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr const char *kMeta = "GstCudaTensorDetectionsMeta";

GstMemory *memory_of(const Bytes &bytes) {
  GstMemory *memory = gst_allocator_alloc(nullptr, bytes.size(), nullptr);
  GstMapInfo map;
  gst_memory_map(memory, &map, GST_MAP_WRITE);
  std::copy(bytes.begin(), bytes.end(), map.data);
  gst_memory_unmap(memory, &map);
  return memory;
}

BufferRef buffer_of(const std::vector<Bytes> &tensors) {
  BufferRef buffer(gst_buffer_new());
  for (const Bytes &bytes : tensors) gst_buffer_append_memory(buffer.get(), memory_of(bytes));
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

const GstStructure *meta_of(GstBuffer *buffer, const char *name = kMeta) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, name);
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}

template <class T, class Get>
std::vector<T> array_of(const GstStructure *s, const char *field, GType type, Get get) {
  const GValue *array = gst_structure_get_value(s, field);
  std::vector<T> values;
  EXPECT_TRUE(array != nullptr && GST_VALUE_HOLDS_ARRAY(array)) << field;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    const GValue *item = gst_value_array_get_value(array, i);
    EXPECT_TRUE(G_VALUE_HOLDS(item, type)) << field;
    values.push_back(get(item));
  }
  return values;
}

/// Returns the objects of the meta, a line each: "slot stream label(class) confidence <box>".
std::string found_in(GstBuffer *buffer) {
  const GstStructure *s = meta_of(buffer);
  if (s == nullptr) return "no meta";
  EXPECT_EQ(gst_structure_n_fields(s), 6);
  const auto slots = array_of<int>(s, "slots", G_TYPE_INT, g_value_get_int);
  const auto ids = array_of<int>(s, "class-ids", G_TYPE_INT, g_value_get_int);
  const auto streams = array_of<std::string>(s, "stream-ids", G_TYPE_STRING, g_value_get_string);
  const auto labels = array_of<std::string>(s, "labels", G_TYPE_STRING, g_value_get_string);
  const auto confidences = array_of<double>(s, "confidences", G_TYPE_DOUBLE, g_value_get_double);
  const auto boxes = array_of<double>(s, "boxes", G_TYPE_DOUBLE, g_value_get_double);
  EXPECT_TRUE(ids.size() == slots.size() && streams.size() == slots.size() &&
              labels.size() == slots.size() && confidences.size() == slots.size() &&
              boxes.size() == 4 * slots.size());
  std::string text;
  for (size_t i = 0; i < slots.size(); ++i) {
    char line[300];
    const double *box = &boxes[4 * i];
    std::snprintf(line, sizeof(line), "%d %s%s(%d) %.9g <%.9g %.9g %.9g %.9g>\n", slots[i],
                  streams[i].c_str(), labels[i].c_str(), ids[i], confidences[i], box[0], box[1],
                  box[2], box[3]);
    text += line;
  }
  return text;
}

/// Returns the regions of interest: "label(class) confidence x,y,width,height".
std::string regions_in(GstBuffer *buffer) {
  std::string text;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *roi = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    const GstStructure *s = gst_video_region_of_interest_meta_get_param(roi, "detection");
    double confidence = 0.0;
    int id = 0;
    EXPECT_TRUE(s != nullptr && gst_structure_get_double(s, "confidence", &confidence) &&
                gst_structure_get_int(s, "label_id", &id));
    char line[300];
    std::snprintf(line, sizeof(line), "%s(%d) %.9g %u,%u,%u,%u\n", g_quark_to_string(roi->roi_type),
                  id, confidence, roi->x, roi->y, roi->w, roi->h);
    text += line;
  }
  return text;
}

const char *type_name(OutputType type) {
  constexpr const char *kNames[] = {"float32", "float16", "uint8", "int8",   "uint16",
                                    "int16",   "uint32",  "int32", "uint64", "int64"};
  return kNames[static_cast<int>(type)];
}

TensorShape shape_of(const OutputDesc &desc) {
  return {*parse_element_type(type_name(desc.type)), {desc.shape.rbegin(), desc.shape.rend()}};
}

/// Returns static caps with as many tensors.
std::string caps_of(const std::vector<OutputDesc> &outputs, const std::string &names = "") {
  std::string types, dimensions;
  for (const OutputDesc &output : outputs) {
    types += (types.empty() ? "" : "\\,") + std::string(type_name(output.type));
    dimensions += (dimensions.empty() ? "" : "\\,") + dimensions_text(shape_of(output));
  }
  return "other/tensors,format=(string)static,num_tensors=(int)" + std::to_string(outputs.size()) +
         ",types=(string)\"" + types + "\",dimensions=(string)\"" + dimensions +
         "\",framerate=(fraction)30/1" + (names.empty() ? "" : ",names=(string)\"" + names + "\"");
}

std::vector<Bytes> tensors_of(const NetworkCase &network) {
  std::vector<Bytes> tensors;
  for (size_t i = 0; i < network.values.size(); ++i) tensors.push_back(bytes_of(network, i));
  return tensors;
}

Bytes with_header(const OutputDesc &desc, const Bytes &bytes) {
  Bytes all(kFlexibleHeader);
  write_flexible_header(shape_of(desc), all.data());
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

void add_geometry(GstBuffer *buffer, int width, int height) {
  GstStructure *s = gst_custom_meta_get_structure(
      gst_buffer_add_custom_meta(buffer, "GstCudaTensorGeometryMeta"));
  gst_structure_set(s, "dst-width", G_TYPE_INT, width, "dst-height", G_TYPE_INT, height, nullptr);
}

struct TestSlot {
  bool valid;
  const char *stream_id;
  int width, height;
};

void add_batch(GstBuffer *buffer, const std::vector<TestSlot> &slots) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (const TestSlot &slot : slots) {
    GstStructure *s = gst_structure_new("slot", "valid", G_TYPE_BOOLEAN, slot.valid, nullptr);
    if (slot.stream_id != nullptr)
      gst_structure_set(s, "stream-id", G_TYPE_STRING, slot.stream_id, nullptr);
    if (slot.width > 0)
      gst_structure_set(s, "dst-width", G_TYPE_INT, slot.width, "dst-height", G_TYPE_INT,
                        slot.height, nullptr);
    GValue item = G_VALUE_INIT;
    g_value_init(&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&item, s);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, "GstCudaTensorBatchMeta")),
      "slots", &array);
}

/// A YOLO network of two classes and eight anchors, of which three have found something, two of
/// them the same.
const OutputDesc kYolo = {OutputType::float32, {1, 6, 8}};

std::vector<float> yolo_values() {
  const std::vector<std::array<float, 3>> rows = {{20, 21, 60},        {30, 30, 10.25F},
                                                  {16, 16, 8},         {8, 8, 40},
                                                  {0.0F, 0.0F, 0.75F}, {0.5F, 0.625F, 0}};
  std::vector<float> values(6 * 8);
  for (size_t row = 0; row < rows.size(); ++row)
    std::copy(rows[row].begin(), rows[row].end(), values.begin() + static_cast<ptrdiff_t>(8 * row));
  return values;
}

constexpr const char *kYoloFound = "0 0(0) 0.75 <56 -9.75 64 30.25>\n0 1(1) 0.625 <13 26 29 34>\n";

class Detections : public testing::Test {
 protected:
  void start(const std::string &properties, const std::string &caps) {
    rig_ = std::make_unique<Rig>("cudadetections name=cudadetections " + properties);
    rig_->downstream("other/tensors");
    EXPECT_TRUE(rig_->caps(caps));
  }
  BufferRef yolo() const { return buffer_of({bytes_of(yolo_values())}); }

  std::unique_ptr<Rig> rig_;
};

TEST_F(Detections, AreAttachedInAllForms) {
  start("width=64 height=48", caps_of({kYolo}));
  const BufferRef out = rig_->process(yolo());
  EXPECT_EQ(found_in(out.get()), kYoloFound);
  EXPECT_EQ(regions_in(out.get()), "0(0) 0.75 56,0,8,30\n1(1) 0.625 13,26,16,8\n");
  EXPECT_TRUE(rig_->messages().warnings().empty());
}

TEST_F(Detections, AreAnalyticsResults) {
  SKIP_WITHOUT_ANALYTICS();
  start("width=64 height=48", caps_of({kYolo}));
  const BufferRef out = rig_->process(yolo());
  EXPECT_EQ(objects_of(out.get()),
            (std::vector<Object>{{"0", 56, 0, 8, 30, 0.75F}, {"1", 13, 26, 16, 8, 0.625F}}));
}

TEST_F(Detections, LeaveTheTensorsAlone) {
  start("width=64 height=48", caps_of({kYolo}));
  const BufferRef in = yolo();
  const BufferRef shared(gst_buffer_ref(in.get()));
  const BufferRef out = rig_->process(BufferRef(gst_buffer_ref(in.get())));
  EXPECT_NE(out.get(), shared.get()) << "a buffer of others was changed";
  EXPECT_EQ(found_in(shared.get()), "no meta");
  EXPECT_EQ(found_in(out.get()), kYoloFound);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(shared.get(), 0));
  EXPECT_EQ(rig_->output("dimensions"), "8:6:1");
}

TEST_F(Detections, AreThereAlsoIfThereIsNone) {
  start("width=64 height=48 confidence=1", caps_of({kYolo}));
  EXPECT_EQ(found_in(rig_->process(yolo()).get()), "");
}

TEST_F(Detections, TakeTheSizeFromTheGeometry) {
  start("", caps_of({kYolo}));
  BufferRef in = yolo();
  add_geometry(in.get(), 60, 20);
  EXPECT_EQ(regions_in(rig_->process(std::move(in)).get()), "0(0) 0.75 56,0,4,20\n");
  rig_->set("width", "58");
  in = yolo();
  add_geometry(in.get(), 60, 20);
  EXPECT_EQ(regions_in(rig_->process(std::move(in)).get()), "0(0) 0.75 56,0,2,20\n");
}

TEST_F(Detections, OfABatchNameTheirSlot) {
  const OutputDesc desc = {OutputType::float32, {3, 6, 8}};
  start("", caps_of({desc}));
  Bytes three;
  for (int i = 0; i < 3; ++i) {
    const Bytes one = bytes_of(yolo_values());
    three.insert(three.end(), one.begin(), one.end());
  }
  BufferRef in = buffer_of({three});
  add_batch(in.get(), {{true, "front-", 64, 48}, {false, "rear-", 0, 0}, {true, nullptr, 64, 48}});
  const BufferRef out = rig_->process(std::move(in));
  EXPECT_EQ(found_in(out.get()),
            "0 front-0(0) 0.75 <56 -9.75 64 30.25>\n0 front-1(1) 0.625 <13 26 29 34>\n"
            "2 0(0) 0.75 <56 -9.75 64 30.25>\n2 1(1) 0.625 <13 26 29 34>\n");
  EXPECT_EQ(regions_in(out.get()), "");
}

TEST_F(Detections, FollowLiveChanges) {
  start("width=64 height=48", caps_of({kYolo}));
  rig_->set("classes", "<1>");
  EXPECT_EQ(found_in(rig_->process(yolo()).get()), "0 1(1) 0.625 <13 26 29 34>\n");
  rig_->set("iou", "1");
  EXPECT_EQ(found_in(rig_->process(yolo()).get()),
            "0 1(1) 0.625 <13 26 29 34>\n0 1(1) 0.5 <12 26 28 34>\n");
  rig_->set("max-objects", "1");
  EXPECT_EQ(found_in(rig_->process(yolo()).get()), "0 1(1) 0.625 <13 26 29 34>\n");
}

TEST_F(Detections, OfAClassifierAreThoseOfThePicture) {
  start("decoder=probabilities width=64 height=48 confidence=0.2",
        caps_of({{OutputType::float32, {1, 3}}}));
  const BufferRef out = rig_->process(buffer_of({bytes_of<float>({0.25F, 0.125F, 0.625F})}));
  EXPECT_EQ(found_in(out.get()), "0 2(2) 0.625 <0 0 64 48>\n0 0(0) 0.25 <0 0 64 48>\n");
  EXPECT_EQ(regions_in(out.get()), "2(2) 0.625 0,0,64,48\n0(0) 0.25 0,0,64,48\n");
  if (gstanalytics::library() == nullptr) return;
  EXPECT_TRUE(objects_of(out.get()).empty());
  EXPECT_EQ(gstanalytics::library()->relation_get_length(relations_of(out.get())), 1u);
}

TEST_F(Detections, OfClassesWithoutANumberShareAQuark) {
  start("decoder=end2end width=64 height=48", caps_of({{OutputType::float32, {1, 1, 6}}}));
  const BufferRef out =
      rig_->process(buffer_of({bytes_of<float>({1, 2, 11, 12, 0.5F, 123456789.0F})}));
  EXPECT_EQ(found_in(out.get()), "0 123456792(123456792) 0.5 <1 2 11 12>\n");
  EXPECT_EQ(regions_in(out.get()), "object(123456792) 0.5 1,2,10,10\n");
}

// -------------------------------------------------------------------------------------- labels

/// A file that is removed at the end.
class TestFile {
 public:
  TestFile(const std::string &name, const std::string &text)
      : path_(std::string(g_get_tmp_dir()) + "/" + std::to_string(getpid()) + "-" + name) {
    std::ofstream(path_) << text;
  }
  ~TestFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

TEST_F(Detections, HaveTheLabelsOfAFile) {
  const TestFile file("labels.txt", "person\r\n rider's bag \nunused\n");
  start("width=64 height=48 labels=" + file.path(), caps_of({kYolo}));
  EXPECT_EQ(found_in(rig_->process(yolo()).get()),
            "0 person(0) 0.75 <56 -9.75 64 30.25>\n0 rider's bag(1) 0.625 <13 26 29 34>\n");
  rig_->set("labels", "");
  EXPECT_EQ(found_in(rig_->process(yolo()).get()), kYoloFound);
}

TEST_F(Detections, HaveTheLabelsOfTheModelUnlessAFileHasThem) {
  const TestFile model("metadata.yaml", "task: detect\nnames:\n  0: cat\n  1: dog\n");
  const TestFile file("labels.txt", "\nrabbit\n");
  start("width=64 height=48 model=" + model.path(), caps_of({kYolo}));
  const BufferRef out = rig_->process(yolo());
#ifdef HAVE_LIBYAML
  EXPECT_EQ(regions_in(out.get()), "cat(0) 0.75 56,0,8,30\ndog(1) 0.625 13,26,16,8\n");
#endif
  rig_->set("labels", file.path());
  EXPECT_EQ(regions_in(rig_->process(yolo()).get()),
            "0(0) 0.75 56,0,8,30\nrabbit(1) 0.625 13,26,16,8\n");
}

TEST_F(Detections, ReadAFileAgainThatWasReplaced) {
  const TestFile file("labels.txt", "person\nbag\n");
  start("width=64 height=48 labels=" + file.path(), caps_of({kYolo}));
  EXPECT_EQ(regions_in(rig_->process(yolo()).get()),
            "person(0) 0.75 56,0,8,30\nbag(1) 0.625 13,26,16,8\n");
  ASSERT_TRUE(g_file_set_contents(file.path().c_str(), "hare\nhedgehog\n", -1, nullptr));
  rig_->set("labels", "");
  rig_->set("labels", file.path());
  EXPECT_EQ(regions_in(rig_->process(yolo()).get()),
            "hare(0) 0.75 56,0,8,30\nhedgehog(1) 0.625 13,26,16,8\n");
}

// ------------------------------------------------------------------------------------- tensors

TEST_F(Detections, KnowTheirTensorsByName) {
  const OutputDesc boxes = {OutputType::float32, {1, 2, 4}}, rows = {OutputType::float32, {1, 2}},
                   count = {OutputType::int32, {1}};
  start("width=100 height=100",
        caps_of({count, rows, boxes, rows}, "num\\,scores\\,boxes\\,classes"));
  const Bytes corners = bytes_of<float>({0.25F, 0.5F, 0.5F, 0.75F, 0, 0, 1, 1});
  EXPECT_EQ(found_in(rig_->process(buffer_of({bytes_of<int32_t>({1}), bytes_of<float>({0.5F, 0.5F}),
                                              corners, bytes_of<float>({7, 8})}))
                         .get()),
            "0 7(7) 0.5 <50 25 75 50>\n");
}

/// Moves each memory of a buffer to the GPU.
BufferRef on_gpu(const std::vector<Bytes> &tensors) {
  BufferRef all(gst_buffer_new());
  for (const Bytes &bytes : tensors) {
    const BufferRef one = to_cuda(buffer_of({bytes}));
    gst_buffer_append_memory(all.get(), gst_buffer_get_memory(one.get(), 0));
  }
  return all;
}

std::string properties_for(const NetworkCase &network) {
  const ObjectParams &p = network.objects;
  std::string text = "decoder=" + std::string(name_of(network.params.decoder)) +
                     " width=" + std::to_string(p.width) + " height=" + std::to_string(p.height) +
                     " max-objects=" + std::to_string(p.max_objects) +
                     " class-agnostic=" + (p.class_agnostic ? "true" : "false");
  return p.classes.empty() ? text : text + " classes=<1,3>";
}

/// Returns what the oracle finds in the valid slots of a batch, or in all if it is empty.
std::string expected_of(const NetworkCase &network, const std::vector<TestSlot> &batch) {
  std::string text;
  for (int64_t slot = 0; slot < network.params.outputs[0].shape[0]; ++slot) {
    if (!batch.empty() && !batch[slot].valid) continue;
    for (const FoundObject &o : oracle::objects_of(network, slot)) {
      char line[300];
      std::snprintf(line, sizeof(line), "%d %s%d(%d) %.9g <%.9g %.9g %.9g %.9g>\n",
                    static_cast<int>(slot), batch.empty() ? "" : "s-", o.type, o.type, o.score,
                    o.box[0], o.box[1], o.box[2], o.box[3]);
      text += line;
    }
  }
  return text;
}

/// Compares what a random network finds, in static and flexible tensors, with and without a batch.
void expect_as_the_oracle(Random &random, bool in_cuda_memory) {
  const NetworkCase network =
      random_network(random, kDecoders[random.bits() % std::size(kDecoders)]);
  SCOPED_TRACE(text_of(network));
  const auto &outputs = network.params.outputs;
  std::vector<Bytes> tensors = tensors_of(network);
  const bool has_none =
      std::any_of(tensors.begin(), tensors.end(), [](const Bytes &bytes) { return bytes.empty(); });
  const bool is_flexible = has_none || random.chance(50);
  for (size_t i = 0; is_flexible && i < tensors.size(); ++i)
    tensors[i] = with_header(outputs[i], tensors[i]);
  const std::string caps =
      is_flexible ? "other/tensors,format=flexible,num_tensors=" + std::to_string(tensors.size()) +
                        ",framerate=30/1"
                  : caps_of(outputs);
  Rig rig("cudadetections " + properties_for(network));
  rig.downstream("other/tensors(ANY)");
  EXPECT_TRUE(rig.caps(in_cuda_memory ? in_cuda(caps) : caps));
  g_object_set(rig.element(), "confidence", network.objects.confidence, "iou", network.objects.iou,
               nullptr);
  BufferRef in = in_cuda_memory ? on_gpu(tensors) : buffer_of(tensors);
  std::vector<TestSlot> batch;
  if (random.chance(50)) batch.assign(outputs[0].shape[0], {true, "s-", 0, 0});
  for (TestSlot &slot : batch) slot.valid = random.chance(70);
  if (!batch.empty()) add_batch(in.get(), batch);
  EXPECT_EQ(found_in(rig.process(std::move(in)).get()), expected_of(network, batch));
  EXPECT_TRUE(rig.messages().warnings().empty());
}

TEST_F(Detections, OfRandomNetworks) {
  for_cases(300, [](Random &random) { expect_as_the_oracle(random, false); });
}

class CudaDetections : public GpuTest {};

TEST_F(CudaDetections, OfRandomNetworks) {
  for_cases(300, [](Random &random) { expect_as_the_oracle(random, random.chance(70)); });
}

TEST_F(Detections, FollowTheShapesOfFlexibleTensors) {
  start("decoder=auto width=100 height=100",
        "other/tensors,format=flexible,num_tensors=1,framerate=30/1");
  const std::vector<float> box = {1, 2, 11, 12, 0.5F, 3};
  for (const int64_t count : {2, 0, 1, 1200}) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.insert(values.end(), box.begin(), box.end());
    const OutputDesc desc = {OutputType::float32, {1, count, 6}};
    const BufferRef out = rig_->process(buffer_of({with_header(desc, bytes_of(values))}));
    std::string expected;
    for (int64_t i = 0; i < std::min<int64_t>(count, 300); ++i)
      expected += "0 3(3) 0.5 <1 2 11 12>\n";
    EXPECT_EQ(found_in(out.get()), expected) << count;
  }
}

// -------------------------------------------------------------------------------------- faults

/// Pushes a buffer that is passed on without objects, with a warning that mentions `cause`.
void expect_undecoded(Rig &rig, BufferRef buffer, const std::string &cause) {
  const BufferRef out = rig.process(std::move(buffer));
  EXPECT_EQ(found_in(out.get()), "no meta");
  const auto warnings = rig.messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], "not decoded: "));
  EXPECT_TRUE(mentions(warnings[0], cause));
}

TEST_F(Detections, PassFaultyTensorsOn) {
  start("width=64 height=48", caps_of({kYolo}));
  Bytes bytes = bytes_of(yolo_values());
  bytes.pop_back();
  expect_undecoded(*rig_, buffer_of({bytes}), "191 bytes");
  EXPECT_EQ(found_in(rig_->process(yolo()).get()), kYoloFound);
  start("width=64 height=48", caps_of({kYolo}));
  BufferRef in = yolo();
  add_batch(in.get(), {{true, nullptr, 0, 0}, {true, nullptr, 0, 0}});
  expect_undecoded(*rig_, std::move(in), "1 slots");
}

TEST_F(Detections, PassOnBuffersWithoutTheirTensors) {
  const OutputDesc boxes = {OutputType::float32, {1, 2, 4}},
                   logits = {OutputType::float32, {1, 2, 3}};
  start("width=64 height=48", caps_of({logits, boxes}));
  expect_undecoded(*rig_, buffer_of({Bytes(24)}), "1 memories");
  start("width=64 height=48", caps_of({logits, boxes}));
  expect_undecoded(*rig_, buffer_of({Bytes(24), Bytes(28)}), "28 bytes");
}

TEST_F(Detections, PassDamagedFlexibleTensorsOn) {
  start("width=64 height=48", "other/tensors,format=flexible,framerate=30/1");
  expect_undecoded(*rig_, buffer_of({Bytes(10)}), "without a header");
  start("width=64 height=48", "other/tensors,format=flexible,framerate=30/1");
  EXPECT_EQ(found_in(rig_->process(buffer_of({with_header(kYolo, bytes_of(yolo_values()))})).get()),
            kYoloFound);
  // The decoder stays: these shapes are not its own.
  const OutputDesc other = {OutputType::float32, {1, 4, 9}};
  expect_undecoded(*rig_, buffer_of({with_header(other, Bytes(144))}), "decoder=yolo");
}

TEST_F(Detections, RefuseNetworksThatTheyDoNotKnow) {
  const OutputDesc four = {OutputType::float32, {1, 4, 9}};
  start("width=64 height=48", caps_of({four}));
  expect_error(*rig_, buffer_of({Bytes(144)}), "set decoder");
  start("width=64 height=48 decoder=yolo", caps_of({four}));
  expect_error(*rig_, buffer_of({Bytes(144)}), "(1, 4, 9)");
  start("width=64 height=48 decoder=yolo", caps_of({{OutputType::int32, {1, 6, 9}}}));
  expect_error(*rig_, buffer_of({Bytes(216)}), "float16");
}

TEST_F(Detections, NeedTheSizeOfTheInput) {
  start("", caps_of({kYolo}));
  expect_error(*rig_, yolo(), "set width and height");
}

TEST_F(Detections, NameFilesThatCannotBeRead) {
  start("width=64 height=48 labels=/nowhere/labels.txt", caps_of({kYolo}));
  expect_error(*rig_, yolo(), "labels=/nowhere/labels.txt");
  start("width=64 height=48 model=/nowhere/yolo.onnx", caps_of({kYolo}));
  expect_error(*rig_, yolo(), "model=/nowhere/yolo.onnx");
}

#ifdef HAVE_LIBYAML
TEST_F(Detections, RefuseTasksThatTheyDoNotDecode) {
  const TestFile model("metadata.yaml", "task: pose\nnames:\n  0: person\n");
  start("width=64 height=48 model=" + model.path(), caps_of({kYolo}));
  expect_error(*rig_, yolo(), "task pose");
}
#endif

}  // namespace
}  // namespace cudatensor
