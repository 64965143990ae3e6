// SPDX-License-Identifier: LGPL-2.1-or-later
#include "camera.h"

#include <gst/base/gstaggregator.h>

#include <cstdio>
#include <utility>

#include "background.h"
#include "batches/failure.h"
#include "sources.h"

namespace {

constexpr guint kPause = 2;  // seconds
constexpr const char *kEnd = "multicam-camera-ended";
constexpr gint64 kPatience = G_USEC_PER_SEC;  // how long to wait for a source to close
constexpr gint64 kSilence = 5 * G_USEC_PER_SEC;

}  // namespace

Camera::Camera(Pipeline &pipeline, guint index, const std::string &uri, bool loops)
    : pipeline_(pipeline),
      index_(index),
      uri_(uri),
      is_file_(uri.rfind("file:", 0) == 0),
      loops_(loops) {
  connect();
}

Camera::~Camera() { stop(); }

void Camera::stop() {
  stopped_ = true;
  if (retry_ != 0) g_source_remove(std::exchange(retry_, 0));
  if (bin_ != nullptr) disconnect();
}

bool Camera::owns(GstObject *object) const {
  return bin_ != nullptr && gst_object_has_as_ancestor(object, GST_OBJECT(bin_));
}

bool Camera::is_blocked() const {
  return (start_.valid() && !ends_within(start_, 0)) || (stop_.valid() && !ends_within(stop_, 0));
}

void Camera::fail(const GError *error) {
  const std::string why = "'" + shown(uri_) + "': " + cause_of(error, missing_, uri_);
  if (!is_permanent(uri_, error)) return lose(why);
  failure_ = "camera " + std::to_string(index_) + ": " + why;
  std::printf("camera %u: given up: %s\n", index_, why.c_str());
  disconnect();
}

void Camera::lose(const std::string &why) {
  std::printf("camera %u: lost: %s; reconnecting in %u s\n", index_, why.c_str(), kPause);
  disconnect();
  *ended_ = false;
  try_again();
}

/// Reconnects after a pause, and not before the last connection has been closed.
void Camera::try_again() {
  const auto again = [](gpointer data) -> gboolean {
    auto *self = static_cast<Camera *>(data);
    self->retry_ = 0;
    self->is_blocked() ? self->try_again() : self->connect();
    return G_SOURCE_REMOVE;
  };
  retry_ = g_timeout_add_seconds(kPause, again, this);
}

void Camera::tend() {
  if (bin_ == nullptr) return;
  if (*ended_ && !is_file_) return lose("the stream of '" + shown(uri_) + "' ended");
  if (*ended_) {
    disconnect();
    if (loops_) connect();
    return;
  }
  if (ending_ || has_waiting_frame()) return;
  if (g_get_monotonic_time() - heard_ > kSilence) lose("no frames from '" + shown(uri_) + "'");
}

void Camera::count(GstClockTime age, float result) {
  ++frames_;
  age_ += age;
  result_ = result;
}

guint Camera::report(double seconds) {
  const guint frames = frames_.exchange(0);
  const double age = 1e-6 * static_cast<double>(age_.exchange(0));
  std::printf("camera %u: %.1f frames/s", index_, frames / seconds);
  if (frames > 0) std::printf(", %.1f ms old, center pixel %+.3f", age / frames, result_.load());
  std::puts(*ended_ && !loops_             ? ", ended"
            : !failure_.empty()            ? ", given up"
            : bin_ == nullptr && !stopped_ ? ", lost"
                                           : "");
  return frames;
}

void Camera::connect() {
  // videoconvert passes formats that the mux accepts, and frames in GPU memory. deinterlace passes
  // progressive frames, and interlaced ones in GPU memory or in formats that it does not take.
  bin_ = gst_parse_bin_from_description(
      "uridecodebin name=decoder caps=video/x-raw(ANY) expose-all-streams=false ! "
      "videoconvert name=convert ! deinterlace name=deinterlace fields=top",
      FALSE, nullptr);
  if (bin_ == nullptr)
    ::fail(
        "cannot create uridecodebin, videoconvert and deinterlace: GStreamer's base or good "
        "plugins are missing");
  // The state of the pipeline does not wait for the camera.
  g_object_set(bin_, "async-handling", TRUE, nullptr);
  g_signal_connect(bin_, "deep-element-added", G_CALLBACK(set_up), &pipeline_);
  gst_child_proxy_set(GST_CHILD_PROXY(bin_), "decoder::uri", uri_.c_str(), nullptr);
  g_autoptr(GstElement) convert = gst_bin_get_by_name(GST_BIN(bin_), "convert");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(convert, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM, on_data, this, nullptr);
  g_autoptr(GstElement) last = gst_bin_get_by_name(GST_BIN(bin_), "deinterlace");
  g_autoptr(GstPad) out = gst_element_get_static_pad(last, "src");
  gst_pad_add_probe(out, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
  gst_element_add_pad(bin_, gst_ghost_pad_new("src", out));
  gst_bin_add(GST_BIN(pipeline_.pipeline), bin_);
  ending_ = false;
  ended_ = std::make_shared<std::atomic<bool>>(false);
  missing_.clear();
  heard_ = g_get_monotonic_time();
  start_ = set_state_in_background(bin_, GST_STATE_PLAYING);  // errors are posted on the bus
}

void Camera::disconnect() {
  GstElement *bin = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    bin = std::exchange(bin_, nullptr);  // take_slot() then does nothing
  }
  // Releases the slot first, because the camera's thread may be blocked there.
  if (slot_ != nullptr) gst_element_release_request_pad(pipeline_.mux, slot_);
  g_clear_object(&slot_);
  // Removed even if it does not stop, because a state change of the pipeline would wait for it.
  stop_ = set_state_in_background(bin, GST_STATE_NULL);
  ends_within(stop_, kPatience);
  gst_bin_remove(GST_BIN(pipeline_.pipeline), bin);
}

bool Camera::has_waiting_frame() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return slot_ != nullptr && gst_aggregator_pad_has_buffer(GST_AGGREGATOR_PAD(slot_));
}

/// Returns false for a connection that was closed while its source was being opened.
bool Camera::is_current(GstPad *pad) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return owns(GST_OBJECT(pad));
}

/// Called when caps arrive, so that other cameras do not wait for one that never sends a frame.
void Camera::take_slot() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bin_ == nullptr || slot_ != nullptr) return;
  g_autoptr(GstPad) out = gst_element_get_static_pad(bin_, "src");
  g_autoptr(GstQuery) query = gst_query_new_latency();
  gboolean live = FALSE;
  if (gst_pad_query(out, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
  // A source that is not live starts at 0, and is shifted to the position of the others.
  if (!live) gst_pad_set_offset(out, static_cast<gint64>(pipeline_.position.load()));
  // The number of the pad determines the slot.
  slot_ = gst_element_request_pad_simple(pipeline_.mux, ("sink_" + std::to_string(index_)).c_str());
  gst_util_set_object_arg(G_OBJECT(slot_), "video-direction", "auto");
  gst_pad_link(out, slot_);
}

void Camera::set_up(GstBin *, GstBin *, GstElement *element, gpointer data) {
  GstElementFactory *factory = gst_element_get_factory(element);
  const std::string name = factory != nullptr ? GST_OBJECT_NAME(factory) : "";
  // A camera that sends JPEG over HTTP has one stream. Without this property, multipartdemux
  // searches megabytes of data for other streams before decoding starts.
  if (name == "multipartdemux") g_object_set(element, "single-stream", TRUE, nullptr);
  // A batch waits this long for a camera that sends nothing, which delays the other cameras.
  const auto *pipeline = static_cast<const Pipeline *>(data);
  if (name == "rtspsrc") g_object_set(element, "latency", pipeline->rtsp_latency, nullptr);
}

GstPadProbeReturn Camera::on_data(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  auto *self = static_cast<Camera *>(data);
  if (!self->is_current(pad)) return GST_PAD_PROBE_DROP;
  self->heard_ = g_get_monotonic_time();
  if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) == 0) return GST_PAD_PROBE_OK;
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) self->take_slot();
  return GST_PAD_PROBE_OK;
}

void Camera::absorb_ends(GstElement *mux) {
  const auto drop = [](GstPad *, GstPadProbeInfo *info, gpointer) {
    return gst_event_has_name(GST_PAD_PROBE_INFO_EVENT(info), kEnd) ? GST_PAD_PROBE_DROP
                                                                    : GST_PAD_PROBE_OK;
  };
  g_autoptr(GstPad) pad = gst_element_get_static_pad(mux, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, drop, nullptr, nullptr);
}

/// Sends an event after the last frame. The mux forwards it once it has taken all frames before it,
/// and absorb_ends() frees it; so does the release of the slot.
void Camera::send_end() {
  using Flag = std::shared_ptr<std::atomic<bool>>;
  GstEvent *end = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(kEnd));
  const auto set = [](gpointer flag) {
    **static_cast<Flag *>(flag) = true;
    delete static_cast<Flag *>(flag);
  };
  gst_mini_object_set_qdata(GST_MINI_OBJECT(end), g_quark_from_static_string("multicam-flag"),
                            new Flag(ended_), set);
  g_autoptr(GstPad) slot = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (slot_ != nullptr) slot = GST_PAD(gst_object_ref(slot_));
  }
  if (slot != nullptr)
    gst_pad_send_event(slot, end);
  else
    gst_event_unref(end);
}

/// Drops EOS, because without other cameras it would also end the batches. It is dropped after
/// deinterlace, which pushes its last frame at EOS.
GstPadProbeReturn Camera::on_event(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
  auto *self = static_cast<Camera *>(data);
  if (!self->is_current(pad)) return GST_PAD_PROBE_DROP;
  self->ending_ = true;
  self->send_end();
  return GST_PAD_PROBE_DROP;
}
