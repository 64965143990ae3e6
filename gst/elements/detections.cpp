// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudadetections
 * @title: cudadetections
 *
 * Finds the objects in the output of a detector or a classifier, and attaches them to its tensors,
 * which it passes on unchanged: as GstCudaTensorDetectionsMeta for each slot of a batch, and for a
 * single picture also as GstVideoRegionOfInterestMeta and GstAnalyticsRelationMeta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 fakesrc num-buffers=10 sizetype=fixed sizemax=4000 filltype=zero format=time ! other/tensors,format=static,num_tensors=1,types=float32,dimensions=1000:1:1,framerate=30/1 ! cudadetections decoder=probabilities width=224 height=224 ! fakesink
 * ]|
 * Decodes the probabilities of a classifier.
 *
 * Since: 0.1
 */
#include <glib/gstdio.h>

#include <algorithm>
#include <tuple>

#include "gst/base/metadata.h"
#include "gst/base/transformelement.h"
#include "gst/caps/tensorcaps.h"
#include "gst/elements/elements.h"
#include "gst/elements/networkdecoder.h"
#include "gst/meta/batchmeta.h"
#include "gst/meta/detectionsmeta.h"
#include "gst/meta/geometrymeta.h"
#include "gst/meta/objectmetas.h"
#include "gst/modelconfig/labels.h"
#include "kernels/error.h"

GST_DEBUG_CATEGORY_STATIC(cudadetections_debug);

struct GstCudaDetections {
  GstCudaTensorTransform parent;
};
struct GstCudaDetectionsClass {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE(GstCudaDetections, gst_cuda_detections, GST_TYPE_CUDA_TENSOR_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudadetections, "cudadetections", GST_RANK_NONE,
                            gst_cuda_detections_get_type())

namespace cudatensor {
namespace {

struct Settings {
  DecoderSetting decoder = DecoderSetting::automatic;
  std::string model, labels;
  ObjectParams objects = {};
};

void add_source_properties(Properties<Settings> &t) {
  t.add(enum_property("decoder", "Decoder", "What the outputs of the network mean",
                      decoder_get_type(), static_cast<int>(DecoderSetting::automatic)),
        Effect::next_frame, [](Settings &s) -> DecoderSetting & { return s.decoder; });
  t.add(string_property("model", "Model",
                        "File of the network: an ONNX model or metadata.yaml. The names of its "
                        "classes and its task are taken from the metadata of Ultralytics in it"),
        Effect::next_frame, [](Settings &s) -> std::string & { return s.model; });
  t.add(string_property("labels", "Labels",
                        "Text file with the name of a class in each line, counted from 0; it "
                        "replaces the names in model"),
        Effect::next_frame, [](Settings &s) -> std::string & { return s.labels; });
  t.add(int_property("width", "Width",
                     "Width of a slot of the network's input in pixels; 0 = from the geometry or "
                     "batch meta",
                     0, kMaxImageSize, 0),
        Effect::next_frame, [](Settings &s) -> int & { return s.objects.width; });
  t.add(int_property("height", "Height",
                     "Height of a slot of the network's input in pixels; 0 = from the geometry or "
                     "batch meta",
                     0, kMaxImageSize, 0),
        Effect::next_frame, [](Settings &s) -> int & { return s.objects.height; });
}

void add_selection_properties(Properties<Settings> &t) {
  t.add(double_property("confidence", "Confidence", "Objects have a greater score", 0.25, 0.0, 1.0),
        Effect::next_frame, [](Settings &s) -> double & { return s.objects.confidence; });
  t.add(double_property("iou", "Intersection over union",
                        "A box that overlaps a better one of its class by more is suppressed; only "
                        "yolo, yolov5, and ssd without a count",
                        0.7, 0.0, 1.0),
        Effect::next_frame, [](Settings &s) -> double & { return s.objects.iou; });
  t.add(int_property("max-objects", "Maximum of objects", "Number of objects in a slot at most", 1,
                     G_MAXINT, 300),
        Effect::next_frame, [](Settings &s) -> int & { return s.objects.max_objects; });
  t.add(bool_property("class-agnostic", "Class-agnostic",
                      "Boxes suppress those of other classes, too", false),
        Effect::next_frame, [](Settings &s) -> bool & { return s.objects.class_agnostic; });
  t.add(int_list_property("classes", "Classes",
                          "Numbers of the classes to find, <0,2>; empty = all (default)"),
        Effect::next_frame, [](Settings &s) -> std::vector<int> & { return s.objects.classes; });
}

const Properties<Settings> &properties() {
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    add_source_properties(t);
    add_selection_properties(t);
    return t;
  });
  return table;
}

std::optional<Decoder> decoder_of(DecoderSetting setting) {
  if (setting == DecoderSetting::automatic) return std::nullopt;
  return kDecoders[static_cast<int>(setting) - 1];
}

/// The contents of a file that is read again only if another is set, or if it has changed.
template <class T>
class CachedFile {
 public:
  template <class Read>
  const T &get(const std::string &path, const Read &read) {
    const Version version = version_of(path);
    if (version != version_) value_ = path.empty() ? T() : read(path);
    version_ = version;
    return value_;
  }

 private:
  /// The path, size and time of a file, whose content changes with one of them.
  using Version = std::tuple<std::string, gint64, gint64, gint64>;
  static Version version_of(const std::string &path) {
    GStatBuf status = {};
    if (path.empty() || g_stat(path.c_str(), &status) != 0) return {path, 0, 0, 0};
    return {path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  }

  Version version_;
  T value_;
};

class Detections final : public ElementWithSettings<Settings> {
 public:
  explicit Detections(GstBaseTransform *element) : ElementWithSettings(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection, GstCaps *caps) override { return gst_caps_ref(caps); }
  GstCaps *fixate_caps(GstPadDirection, GstCaps *, GstCaps *othercaps) override {
    return gst_caps_fixate(othercaps);
  }
  void set_caps(GstCaps *in, GstCaps *) override {
    list_ = parse_tensor_list(gst_caps_get_structure(in, 0));
  }
  gsize input_size() const override;
  gsize output_size() const override { return input_size(); }

  void prepare(Backend &backend) override;
  void release() override { decoder_.release(); }
  void process(Session &session, GstBuffer *in, GstBuffer *) override;
  const char *undone() const override { return "a tensor is not decoded"; }

 private:
  /// The slots of a buffer.
  struct Slots {
    std::vector<BatchEntry> entries;
    bool is_picture;  ///< one picture, not a batch
  };
  Slots slots_of(GstBuffer *buffer, const CandidatePlan *plan) const;
  void set_size(BatchEntry &entry) const;
  void find(const BatchEntry &entry, int slot);
  void find(const std::vector<BatchEntry> &entries);
  void attach_picture_metas(GstBuffer *buffer, const BatchEntry &entry, Decoder decoder) const;
  std::string label_of(int class_id) const;

  TensorList list_;
  NetworkDecoder decoder_;
  CachedFile<ModelLabels> model_;
  CachedFile<Labels> label_file_;
  Labels labels_;
  std::vector<DetectedObject> found_;  // in the current buffer
};

gsize Detections::input_size() const {
  gsize bytes = 0;
  for (const TensorShape &shape : list_.shapes) bytes += shape.bytes();
  return bytes;
}

void Detections::prepare(Backend &backend) {
  const Settings &s = latched();
  check_object_params(s.objects);
  const ModelLabels &model = model_.get(s.model, read_model_labels);
  labels_ = s.labels.empty() ? model.labels : label_file_.get(s.labels, read_label_file);
  decoder_.set(list_, decoder_of(s.decoder), {model.task, model.end2end}, s.objects.confidence);
  decoder_.set_backend(backend);
}

std::string Detections::label_of(int class_id) const {
  const auto label = labels_.find(class_id);
  return label != labels_.end() ? label->second : std::to_string(class_id);
}

void Detections::set_size(BatchEntry &entry) const {
  const ObjectParams &given = latched().objects;
  if (given.width != 0) entry.width = given.width;
  if (given.height != 0) entry.height = given.height;
  if (entry.is_valid && (entry.width < 1 || entry.height < 1))
    throw Error(Error::Code::settings,
                "the size of the network's input is not known, because the buffer has no geometry: "
                "set width and height");
}

Detections::Slots Detections::slots_of(GstBuffer *buffer, const CandidatePlan *plan) const {
  const auto batch = batch_entries_of(buffer);
  const size_t fallback = batch ? batch->size() : 1;
  const size_t count = plan != nullptr ? static_cast<size_t>(plan->slots) : fallback;
  const GeometrySize size = geometry_size_of(buffer).value_or(GeometrySize{0, 0});
  Slots slots = {{}, !batch && count == 1};
  if (batch)
    slots.entries = *batch;
  else
    slots.entries.assign(count, {true, {}, size.width, size.height});
  if (slots.entries.size() != count)
    throw Error(Error::Code::frame, "the tensors have " + std::to_string(count) +
                                        " slots, but their batch meta has " +
                                        std::to_string(slots.entries.size()));
  for (BatchEntry &entry : slots.entries) set_size(entry);
  return slots;
}

/// Adds the objects of a slot to found_.
void Detections::find(const BatchEntry &entry, int slot) {
  ObjectParams params = latched().objects;
  params.width = entry.width;
  params.height = entry.height;
  for (const FoundObject &each : decoder_.objects(slot, params)) {
    DetectedObject object = {slot, entry.stream_id, each.type, label_of(each.type), each.score, {}};
    std::copy(each.box.begin(), each.box.end(), object.box.begin());
    found_.push_back(std::move(object));
  }
}

/// Collects the objects of all slots.
void Detections::find(const std::vector<BatchEntry> &entries) {
  std::vector<bool> wanted;
  for (const BatchEntry &entry : entries) wanted.push_back(entry.is_valid);
  decoder_.gather(wanted);
  for (size_t i = 0; i < entries.size(); ++i)
    if (wanted[i]) find(entries[i], static_cast<int>(i));
}

/// Attaches the objects in whole pixels.
void Detections::attach_picture_metas(GstBuffer *buffer, const BatchEntry &entry,
                                      Decoder decoder) const {
  std::vector<ObjectMeta> metas;
  for (const DetectedObject &each : found_) {
    std::array<float, 4> box = {};
    for (size_t i = 0; i < box.size(); ++i) box[i] = static_cast<float>(each.box[i]);
    if (const auto rect = pixels_of(box, entry.width, entry.height))
      metas.push_back({{rect->x, rect->y, rect->width, rect->height},
                       each.label,
                       each.class_id,
                       each.confidence});
  }
  if (decoder == Decoder::scores || decoder == Decoder::probabilities)
    add_class_metas(buffer, metas);
  else
    add_object_metas(buffer, metas);
}

void Detections::process(Session &session, GstBuffer *in, GstBuffer *) {
  const NetworkDecoder::Closing closing(decoder_);
  const CandidatePlan *plan = decoder_.open(session, in);
  const Slots slots = slots_of(in, plan);
  found_.clear();
  if (plan != nullptr) find(slots.entries);
  attach_detections(in, found_);
  if (slots.is_picture && plan != nullptr)
    attach_picture_metas(in, slots.entries[0], plan->decoder);
}

TransformElement *create(GstBaseTransform *element) { return new Detections(element); }

/// The metas need a writable buffer; its memory is not copied.
GstFlowReturn submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input) {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_detections_parent_class)
      ->submit_input_buffer(trans, is_discont, gst_buffer_make_writable(input));
}

GstCaps *template_caps() {
  return gst_caps_from_string("other/tensors, format=(string){ static, flexible }");
}

}  // namespace
}  // namespace cudatensor

static void gst_cuda_detections_class_init(GstCudaDetectionsClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudadetections_debug, "cudadetections", 0, "cudadetections");
  cudatensor::set_metadata(GST_ELEMENT_CLASS(klass),
                           {"cudadetections", "CUDA detections", "Filter/Analyzer/Video",
                            "Attaches the objects in the output of a detector or a classifier"});
  cudatensor::install_analyzer(&klass->parent_class, cudadetections_debug,
                               cudatensor::template_caps(), cudatensor::create);
  GST_BASE_TRANSFORM_CLASS(klass)->submit_input_buffer = cudatensor::submit_input_buffer;
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_detections_init(GstCudaDetections *) {}
