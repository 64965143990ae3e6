// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/muxcamera.h"

#include <algorithm>

#include "gst/util/ref.h"
#include "kernels/error.h"

struct GstCudaTensorMuxPad {
  GstAggregatorPad parent;
  cudatensor::Camera *camera;
};
struct GstCudaTensorMuxPadClass {
  GstAggregatorPadClass parent_class;
};
G_DEFINE_TYPE_WITH_CODE(GstCudaTensorMuxPad, gst_cuda_tensor_mux_pad, GST_TYPE_AGGREGATOR_PAD,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_VIDEO_DIRECTION, nullptr))

static constexpr guint kVideoDirection = 1;

static cudatensor::Camera &camera_of(gpointer pad) {
  return cudatensor::camera_of(static_cast<GstAggregatorPad *>(pad));
}

/// The next batch is negotiated anew, because its size may follow the picture's.
static void gst_cuda_tensor_mux_pad_set_property(GObject *object, guint, const GValue *value,
                                                 GParamSpec *) {
  const auto method = static_cast<GstVideoOrientationMethod>(g_value_get_enum(value));
  cudatensor::locked(object, [&] { camera_of(object).method = method; });
  const cudatensor::Ref<GstElement> mux(gst_pad_get_parent_element(GST_PAD(object)));
  if (mux != nullptr) gst_pad_mark_reconfigure(GST_AGGREGATOR(mux.get())->srcpad);
}

static void gst_cuda_tensor_mux_pad_get_property(GObject *object, guint, GValue *value,
                                                 GParamSpec *) {
  cudatensor::locked(object, [&] { g_value_set_enum(value, camera_of(object).method); });
}

static void gst_cuda_tensor_mux_pad_finalize(GObject *object) {
  delete reinterpret_cast<GstCudaTensorMuxPad *>(object)->camera;
  G_OBJECT_CLASS(gst_cuda_tensor_mux_pad_parent_class)->finalize(object);
}

static void gst_cuda_tensor_mux_pad_class_init(GstCudaTensorMuxPadClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = gst_cuda_tensor_mux_pad_set_property;
  object->get_property = gst_cuda_tensor_mux_pad_get_property;
  object->finalize = gst_cuda_tensor_mux_pad_finalize;
  g_object_class_install_property(object, kVideoDirection, cudatensor::direction_property());
}

static void gst_cuda_tensor_mux_pad_init(GstCudaTensorMuxPad *self) {
  self->camera = new cudatensor::Camera;
}

namespace cudatensor {

Camera &camera_of(GstAggregatorPad *pad) {
  return *reinterpret_cast<GstCudaTensorMuxPad *>(pad)->camera;
}

bool latch_direction(GstAggregatorPad *pad) {
  DirectionSettings &direction = camera_of(pad).direction;
  const bool transposed = direction.is_transposed();
  direction.method = locked(pad, [&] { return camera_of(pad).method; });
  return direction.is_transposed() != transposed;
}

Source seen_source(GstAggregatorPad *pad) {
  const Camera &camera = camera_of(pad);
  Source source = camera.input.source;
  try {
    source.direction = camera.direction.direction();
  } catch (const Error &error) {
    throw Error(error.code(), GST_PAD_NAME(pad) + std::string(": ") + error.what());
  }
  return source;
}

std::vector<Ref<GstAggregatorPad>> sorted_sink_pads(GstAggregator *aggregator) {
  std::vector<Ref<GstAggregatorPad>> pads;
  locked(aggregator, [&] {
    for (GList *l = GST_ELEMENT(aggregator)->sinkpads; l != nullptr; l = l->next)
      pads.emplace_back(GST_AGGREGATOR_PAD(gst_object_ref(l->data)));
  });
  std::sort(pads.begin(), pads.end(),
            [](const Ref<GstAggregatorPad> &a, const Ref<GstAggregatorPad> &b) {
              return camera_of(a.get()).index < camera_of(b.get()).index;
            });
  return pads;
}

SlotPads assign_slots(const std::vector<Ref<GstAggregatorPad>> &pads, guint batch_size) {
  if (batch_size != 0 && pads.size() > batch_size)
    throw Error(Error::Code::settings, "batch-size " + std::to_string(batch_size) +
                                           " is too small for " + std::to_string(pads.size()) +
                                           " sink pads");
  SlotPads slots(batch_size != 0 ? batch_size : pads.size());
  std::vector<GstAggregatorPad *> others;
  for (const Ref<GstAggregatorPad> &pad : pads) {
    const auto index = static_cast<size_t>(camera_of(pad.get()).index);
    if (batch_size != 0 && index < slots.size())
      slots[index] = pad.get();
    else
      others.push_back(pad.get());
  }
  auto slot = slots.begin();
  for (GstAggregatorPad *pad : others) {
    slot = std::find(slot, slots.end(), nullptr);
    *slot = pad;
  }
  return slots;
}

GstClockTime running_time_of(GstAggregatorPad *pad, GstBuffer *buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return GST_CLOCK_TIME_NONE;
  const ObjectLock lock(pad);
  const GstSegment &segment = pad->segment;
  if (segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&segment, GST_FORMAT_TIME,
                                     std::max(GST_BUFFER_PTS(buffer), segment.start));
}

const StreamEvents &stream_events_of(GstAggregatorPad *pad) {
  Camera &camera = camera_of(pad);
  const GstSegment segment = locked(pad, [&] { return pad->segment; });
  camera.events.update(camera.stream_id, camera.caps.get(), segment);
  return camera.events;
}

namespace {

/// Frame durations outside this range come from caps that hold a timescale, such as the 90000/1 of
/// RTP and the 1000/1 of some containers. For a very fast camera, the times of the frames confirm
/// the rate.
constexpr GstClockTime kShortest = GST_SECOND / 240, kLongest = 60 * GST_SECOND;

GstClockTime duration_in_caps(const Camera &camera) {
  const GstVideoInfo &info = camera.input.info;
  if (!camera.has_caps || info.fps_n == 0) return 0;
  return gst_util_uint64_scale(GST_SECOND, info.fps_d, info.fps_n);
}

bool is_plausible(GstClockTime duration) { return duration >= kShortest && duration <= kLongest; }

}  // namespace

GstClockTime announced_duration_of(const Camera &camera) {
  const GstClockTime duration = duration_in_caps(camera);
  return is_plausible(duration) ? duration : 0;
}

GstClockTime frame_duration_of(const Camera &camera) {
  const GstClockTime announced = announced_duration_of(camera);
  return announced != 0 ? announced : camera.rate.duration();
}

std::string framerate_warning(const Camera &camera) {
  const GstClockTime announced = duration_in_caps(camera), measured = camera.rate.duration();
  const GstVideoInfo &info = camera.input.info;
  if (!camera.has_caps || info.fps_n == 0 || is_plausible(announced) || measured == 0) return "";
  if (measured / 2 < announced && announced / 2 < measured) return "";
  return "the caps announce " + std::to_string(info.fps_n) + "/" + std::to_string(info.fps_d) +
         " frames per second, which the times of the frames contradict; the rate of the frames is "
         "used";
}

Ref<GstBuffer> first_frame(GstAggregatorPad *pad) {
  Ref<GstBuffer> head(gst_aggregator_pad_peek_buffer(pad));
  const bool flushed = locked(pad, [&] { return pad->segment.format == GST_FORMAT_UNDEFINED; });
  if (head == nullptr || !flushed) return head;
  gst_aggregator_pad_drop_buffer(pad);
  return nullptr;
}

bool all_pads_eos(const std::vector<Ref<GstAggregatorPad>> &pads) {
  return !pads.empty() &&
         std::all_of(pads.begin(), pads.end(), [](const Ref<GstAggregatorPad> &pad) {
           return gst_aggregator_pad_is_eos(pad.get());
         });
}

bool is_gap(GstBuffer *buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(buffer) == 0;
}

GstBuffer *clip_to_segment(GstAggregator *, GstAggregatorPad *pad, GstBuffer *buffer) {
  const GstClockTime begin = GST_BUFFER_PTS(buffer);
  if (!GST_CLOCK_TIME_IS_VALID(begin)) return buffer;
  const GstClockTime end =
      begin + (GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer)
                                                    : announced_duration_of(camera_of(pad)));
  const bool inside = locked(pad, [&] {
    return pad->segment.format != GST_FORMAT_TIME ||
           gst_segment_clip(&pad->segment, GST_FORMAT_TIME, begin, end, nullptr, nullptr);
  });
  if (inside) return buffer;
  gst_buffer_unref(buffer);
  return nullptr;
}

}  // namespace cudatensor
