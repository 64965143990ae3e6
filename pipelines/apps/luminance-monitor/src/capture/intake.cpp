// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/intake.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "capture/imagesize.h"

namespace luminance {
namespace {

// Bytes that an element may take without any output. An intra-coded picture of 8K has 10 MB.
constexpr uint64_t kMaxHeld = 32 << 20;
// Memory that a buffer takes beside its data, which may be a single byte.
constexpr uint64_t kBufferOverhead = 512;
// The same limit for decoders, which work on several pictures at once, and for uncoded pictures.
constexpr uint64_t kMaxDecoded = 256 << 20;
constexpr uint64_t kMaxPixels = 40 << 20;  // 8K has 32 Mi
// An RTSP camera with one video stream needs 20 elements, and each further stream as many.
constexpr int kMaxElements = 400;

/// The state of a uridecodebin.
struct Pipeline {
  std::atomic<int> elements{0};
  std::atomic<bool> has_failed{false};
  std::once_flag posted;

  /// Posts an error, but only for the first limit that is exceeded. Other threads see `has_failed`
  /// only after that: they refuse buffers then, and the source's error must not come first.
  void fail(GstElement *element, const std::string &why) {
    std::call_once(posted, [&] {
      GST_ELEMENT_ERROR(element, STREAM, FAILED, ("%s", why.c_str()), (nullptr));
      has_failed = true;
    });
  }
};

struct Meter {
  const std::shared_ptr<Pipeline> pipeline;
  GstElement *const element;  // whose pads have the probes
  const uint64_t max;         // bytes
  std::atomic<uint64_t> held{0};
};
using Shared = std::shared_ptr<Meter>;

template <typename Visit>
void for_each_buffer(GstPadProbeInfo *info, const Visit &visit) {
  if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) == 0)
    return visit(GST_PAD_PROBE_INFO_BUFFER(info));
  GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
  for (guint i = 0; i < gst_buffer_list_length(list); ++i) visit(gst_buffer_list_get(list, i));
}

uint64_t cost_of(GstBuffer *buffer) { return gst_buffer_get_size(buffer) + kBufferOverhead; }

uint64_t cost_of(GstPadProbeInfo *info) {
  uint64_t cost = 0;
  for_each_buffer(info, [&cost](GstBuffer *buffer) { cost += cost_of(buffer); });
  return cost;
}

GstPadProbeReturn refuse(GstPadProbeInfo *info) {
  gst_mini_object_unref(GST_MINI_OBJECT(GST_PAD_PROBE_INFO_DATA(info)));
  GST_PAD_PROBE_INFO_DATA(info) = nullptr;
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

GstPadProbeReturn on_taken(GstPad *, GstPadProbeInfo *info, gpointer data) {
  Meter &meter = **static_cast<Shared *>(data);
  if ((meter.held += cost_of(info)) > meter.max)
    meter.pipeline->fail(meter.element, "the camera sends more than " +
                                            std::to_string(meter.max >> 20) +
                                            " MiB in which no picture ends");
  return meter.pipeline->has_failed ? refuse(info) : GST_PAD_PROBE_OK;
}

GstPadProbeReturn on_given(GstPad *, GstPadProbeInfo *, gpointer meter) {
  (*static_cast<Shared *>(meter))->held = 0;
  return GST_PAD_PROBE_OK;
}

/// A buffer that an element keeps as it is, until it is passed on and used.
struct Kept {
  const Shared meter;
  const uint64_t cost;
};

void on_released(gpointer data, GstMiniObject *) {
  const std::unique_ptr<const Kept> kept(static_cast<Kept *>(data));
  kept->meter->held -= kept->cost;
}

/// Counts each buffer until it is released. For an element that outputs some buffers while it keeps
/// others, so that an output does not mean that it keeps nothing.
GstPadProbeReturn on_queued(GstPad *, GstPadProbeInfo *info, gpointer data) {
  const Shared &meter = *static_cast<Shared *>(data);
  for_each_buffer(info, [&meter](GstBuffer *buffer) {
    meter->held += cost_of(buffer);
    gst_mini_object_weak_ref(GST_MINI_OBJECT(buffer), on_released,
                             new Kept{meter, cost_of(buffer)});
  });
  if (meter->held > meter->max)
    meter->pipeline->fail(meter->element, "the camera sends more than " +
                                              std::to_string(meter->max >> 20) +
                                              " MiB ahead of what is decoded");
  return meter->pipeline->has_failed ? refuse(info) : GST_PAD_PROBE_OK;
}

void check_size(Meter &meter, uint64_t pixels) {
  if (pixels > kMaxPixels)
    meter.pipeline->fail(meter.element, "the picture has more than " +
                                            std::to_string(kMaxPixels >> 20) + " Mi pixels");
}

GstPadProbeReturn on_caps(GstPad *, GstPadProbeInfo *info, gpointer data) {
  Meter &meter = **static_cast<Shared *>(data);
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps *caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gint width = 0, height = 0;
  if (gst_structure_get_int(s, "width", &width) && gst_structure_get_int(s, "height", &height) &&
      width > 0 && height > 0)
    check_size(meter, static_cast<uint64_t>(width) * static_cast<uint64_t>(height));
  return meter.pipeline->has_failed ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/// Checks pictures for a decoder that reads the size from the picture itself, and allocates memory
/// before its caps tell the size.
GstPadProbeReturn on_picture(GstPad *, GstPadProbeInfo *info, gpointer data) {
  Meter &meter = **static_cast<Shared *>(data);
  GstMapInfo map;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) return GST_PAD_PROBE_OK;
  check_size(meter, pixels_of({reinterpret_cast<const char *>(map.data), map.size}));
  gst_buffer_unmap(buffer, &map);
  return meter.pipeline->has_failed ? refuse(info) : GST_PAD_PROBE_OK;
}

void probe(GstPad *pad, int type, GstPadProbeCallback callback, const Shared &meter) {
  gst_pad_add_probe(pad, static_cast<GstPadProbeType>(type), callback, new Shared(meter),
                    [](gpointer data) { delete static_cast<Shared *>(data); });
}

/// Decoders that look for the end of a picture themselves if no parser is installed.
constexpr const char *kPictures[] = {"jpegdec", "pngdec", "webpdec"};
constexpr const char *kVp8[] = {"vp8dec", "avdec_vp8"};
// Elements whose output has a thread of its own, which decoding delays while packets arrive.
constexpr const char *kQueues[] = {"rtpjitterbuffer"};

template <typename Names>
bool is_one_of(GstElement *element, const Names &names) {
  const gchar *name = GST_OBJECT_NAME(gst_element_get_factory(element));
  return std::any_of(std::begin(names), std::end(names),
                     [name](const char *known) { return std::strcmp(name, known) == 0; });
}

/// Adds a meter's probes to a pad. Data that is pulled from a file needs no limit: a file ends.
void watch(GstPad *pad, const Shared &meter) {
  constexpr int kData = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  const bool is_sink = gst_pad_get_direction(pad) == GST_PAD_SINK;
  probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_caps, meter);
  if (is_sink && (is_one_of(meter->element, kPictures) || is_one_of(meter->element, kVp8)))
    probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_picture, meter);
  if (!is_one_of(meter->element, kQueues))
    probe(pad, kData | GST_PAD_PROBE_TYPE_PUSH, is_sink ? on_taken : on_given, meter);
  else if (is_sink)
    probe(pad, kData | GST_PAD_PROBE_TYPE_PUSH, on_queued, meter);
}

/// Returns how many bytes an element may hold; 0 if it collects nothing.
uint64_t max_held(GstElement *element) {
  GstElementFactory *factory = gst_element_get_factory(element);
  if (GST_IS_BIN(element) || factory == nullptr) return 0;
  const gchar *klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
  const auto is_a = [klass](const char *word) {
    return klass != nullptr && std::strstr(klass, word) != nullptr;
  };
  constexpr const char *kRaw[] = {"y4mdec"};
  if (is_one_of(element, kRaw)) return kMaxDecoded;
  if (is_one_of(element, kPictures) || is_one_of(element, kQueues)) return kMaxHeld;
  if (is_a("Demuxer") || is_a("Parser") || is_a("Depayloader")) return kMaxHeld;
  return is_a("Decoder") ? kMaxDecoded : 0;
}

void on_element(GstBin *, GstBin *, GstElement *element, gpointer data) {
  const auto &pipeline = *static_cast<std::shared_ptr<Pipeline> *>(data);
  if (++pipeline->elements > kMaxElements)
    pipeline->fail(element, "the camera sends too many streams");
  const uint64_t max = max_held(element);
  if (max == 0) return;
  const Shared meter(new Meter{pipeline, element, max});
  gst_element_foreach_pad(
      element,
      [](GstElement *, GstPad *pad, gpointer made) -> gboolean {
        watch(pad, *static_cast<const Shared *>(made));
        return TRUE;
      },
      const_cast<Shared *>(&meter));
  const auto on_pad = [](GstElement *, GstPad *pad, gpointer made) {
    watch(pad, *static_cast<Shared *>(made));
  };
  g_signal_connect_data(
      element, "pad-added", G_CALLBACK(+on_pad), new Shared(meter),
      [](gpointer made, GClosure *) { delete static_cast<Shared *>(made); },
      static_cast<GConnectFlags>(0));
}

void on_removed(GstBin *, GstBin *, GstElement *, gpointer data) {
  --(*static_cast<std::shared_ptr<Pipeline> *>(data))->elements;
}

}  // namespace

void limit_intake(GstElement *decoder) {
  const auto pipeline = std::make_shared<Pipeline>();
  const auto connect = [&](const char *signal, auto callback) {
    g_signal_connect_data(
        decoder, signal, G_CALLBACK(callback), new std::shared_ptr<Pipeline>(pipeline),
        [](gpointer kept, GClosure *) { delete static_cast<std::shared_ptr<Pipeline> *>(kept); },
        static_cast<GConnectFlags>(0));
  };
  connect("deep-element-added", on_element);
  connect("deep-element-removed", on_removed);
}

}  // namespace luminance
