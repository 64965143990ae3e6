// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connection.h"

#include <gstcudatensor.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "blocks.h"
#include "framelimit.h"
#include "message.h"

namespace luminance {
namespace {

// Where timestamps and the clock part by more than this, the video has begun anew.
constexpr Time kJump = kSecond / 2;
constexpr guint kRtspLatency = 200;  // milliseconds; nobody has to see this smoothly

/// What sets the user on elements that open URIs.
constexpr const char *kUserProperties[][2] = {{"user-id", "user-pw"}, {"username", "password"}};

bool has_property(GstElement *element, const char *name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) != nullptr;
}

void set_user(GstElement *source, const Credentials &credentials) {
  for (const auto &[user, password] : kUserProperties) {
    if (!has_property(source, user) || !has_property(source, password)) continue;
    g_object_set(source, user, credentials.user.c_str(), password, credentials.password.c_str(),
                 nullptr);
    return;
  }
  GST_ELEMENT_ERROR(source, RESOURCE, SETTINGS, ("This kind of source takes no user"), (nullptr));
}

/// Whether an RTSP server is asked for a stream. Sound need not even be sent.
gboolean on_rtsp_stream(GstElement *, guint, GstCaps *caps, gpointer) {
  const gchar *media = gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  return media == nullptr || std::strcmp(media, "video") == 0;
}

/// uridecodebin has made the element that opens the URI.
void on_source(GstElement *, GstElement *source, gpointer data) {
  const auto *credentials = static_cast<const Credentials *>(data);
  if (!credentials->user.empty()) set_user(source, *credentials);
  if (g_signal_lookup("select-stream", G_OBJECT_TYPE(source)) == 0) return;
  g_signal_connect(source, "select-stream", G_CALLBACK(on_rtsp_stream), nullptr);
  // Where frames come faster than they are decoded, they are not kept for later.
  g_object_set(source, "latency", kRtspLatency, "drop-on-latency", TRUE, nullptr);
}

/// Whether decoding goes on. That of sound and text does not.
gboolean on_caps(GstElement *, GstPad *, GstCaps *caps, gpointer) {
  const gchar *name = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  return !g_str_has_prefix(name, "audio/") && !g_str_has_prefix(name, "text/") &&
         !g_str_has_prefix(name, "subpicture/");
}

/// A frame was decoded. Not videorate: it ends the program where frames have no duration.
GstPadProbeReturn on_frame(GstPad *, GstPadProbeInfo *info, gpointer limit) {
  const GstClockTime pts = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
  const Time time =
      GST_CLOCK_TIME_IS_VALID(pts) ? static_cast<Time>(pts / GST_USECOND) : g_get_monotonic_time();
  return static_cast<FrameLimit *>(limit)->takes(time) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

void limit_frames(GstElement *pipeline, unsigned rate) {
  g_autoptr(GstElement) convert = gst_bin_get_by_name(GST_BIN(pipeline), "convert");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(convert, "sink");
  const auto forget = [](gpointer limit) { delete static_cast<FrameLimit *>(limit); };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, new FrameLimit(rate), forget);
}

std::string description_of(const Settings &settings) {
  // Not uridecodebin3: that of GStreamer 1.22 does not always begin.
  std::string text = "uridecodebin name=decoder caps=video/x-raw(ANY) ! ";
  // It leaves alone what cudahistogram takes, and what is on a GPU.
  text += "videoconvert name=convert ! ";
  if (!settings.fast) text += "clocksync ! ";
  // Cameras share the cores; each of them needs but a part of one.
  return text + "cudahistogram interval=0 n-threads=1 backend=" + settings.backend +
         " name=histogram ! fakesink name=sink sync=false";
}

GstElement *pipeline_of(const CameraSettings &camera, const Settings &settings) {
  g_autoptr(GError) error = nullptr;
  GstElement *pipeline = gst_parse_launch(description_of(settings).c_str(), &error);
  if (error != nullptr) {
    const std::string why = error->message;
    g_clear_object(&pipeline);
    throw std::runtime_error(why);
  }
  // One context for all cameras. Where this fails, there is no CUDA.
  if (settings.backend != "cpu") gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  g_autoptr(GstElement) decoder = gst_bin_get_by_name(GST_BIN(pipeline), "decoder");
  g_object_set(decoder, "uri", camera.uri.c_str(), nullptr);
  if (camera.max_fps > 0) limit_frames(pipeline, camera.max_fps);
  const auto forget = [](gpointer data, GClosure *) { delete static_cast<Credentials *>(data); };
  g_signal_connect_data(decoder, "source-setup", G_CALLBACK(on_source),
                        new Credentials(camera.credentials.value_or(Credentials())), forget,
                        static_cast<GConnectFlags>(0));
  g_signal_connect(decoder, "autoplug-continue", G_CALLBACK(on_caps), nullptr);
  return pipeline;
}

}  // namespace

void check_elements(const Settings &settings) {
  GstElement *pipeline = pipeline_of(CameraSettings(), settings);
  gst_object_unref(pipeline);
}

/// What the pipeline's threads have, perhaps a little longer than the connection is there.
struct Connection::Feed {
  Inbox &inbox;
  const bool fast;
  const Begin begin;
  std::atomic<bool> over{false};
  std::atomic<Time> end;  // of the latest frame
  std::shared_ptr<BlockTap> tap{};
  // From the video's time to the monitor's. The thread that has the frame has these.
  Time offset = 0, last = 0;
  bool began = false;

  Time time_of(const Frame &frame) {
    const Time now = g_get_monotonic_time();
    const Time time = frame.running_time.value_or(fast ? last + 1 : now);
    if (!began) offset = (fast ? begin.time : now) - time;
    if (!fast && std::abs(time + offset - now) > kJump) offset = now - time;
    end = time + offset + (began ? time - last : kSecond);
    began = true;
    last = time;
    return time + offset;
  }
};

Connection::Connection(const CameraSettings &camera, const Settings &settings, Inbox &inbox,
                       const Begin &begin, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      feed_(new Feed{inbox, settings.fast, begin, {false}, {begin.time}}),
      player_(std::make_unique<Player>(pipeline_of(camera, settings))) {
  g_autoptr(GstElement) histogram = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "histogram");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(histogram, "sink");
  feed_->tap = BlockTap::on(pad);
  g_autoptr(GstBus) bus = gst_element_get_bus(player_->pipeline());
  const auto forget = [](gpointer feed) { delete static_cast<std::shared_ptr<Feed> *>(feed); };
  gst_bus_set_sync_handler(bus, on_any_thread, new std::shared_ptr<Feed>(feed_), forget);
  gst_bus_add_watch(bus, on_main_loop, this);
  player_->play();
}

Connection::~Connection() {
  g_autoptr(GstBus) bus = gst_element_get_bus(player_->pipeline());
  gst_bus_remove_watch(bus);
  feed_->over = true;
  feed_->inbox.wake();
}

unsigned Connection::number() const { return feed_->begin.number; }
Time Connection::end() const { return feed_->end; }

GstSample *Connection::sample() const {
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "sink");
  GstSample *sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  return sample;
}

GstBusSyncReply Connection::on_any_thread(GstBus *, GstMessage *message, gpointer data) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
  Feed &feed = **static_cast<std::shared_ptr<Feed> *>(data);
  std::optional<Frame> frame = frame_of(message);
  if (!frame) return GST_BUS_PASS;
  frame->measurement.time = feed.time_of(*frame);
  frame->measurement.blocks = feed.tap->take(frame->timestamp);
  feed.inbox.put({feed.begin.camera, feed.begin.number, frame->measurement}, feed.over);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

gboolean Connection::on_main_loop(GstBus *, GstMessage *message, gpointer data) {
  auto *self = static_cast<Connection *>(data);
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  if (type != GST_MESSAGE_ERROR && type != GST_MESSAGE_EOS) return G_SOURCE_CONTINUE;
  const Callbacks callbacks = self->callbacks_;  // which delete it
  self->feed_->inbox.drain();                    // what came before this
  if (type == GST_MESSAGE_EOS)
    callbacks.ended();
  else
    callbacks.failed(error_of(message));
  return G_SOURCE_CONTINUE;
}

}  // namespace luminance
