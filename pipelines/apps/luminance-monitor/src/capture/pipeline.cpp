// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/pipeline.h"

#include <gstcudatensor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "capture/autoplug.h"
#include "capture/framelimit.h"
#include "capture/intake.h"
#include "capture/regioncounter.h"
#include "capture/rtspguard.h"
#include "capture/surfaces.h"
#include "capture/uri.h"

namespace luminance {
namespace {

constexpr guint kRtspLatency = 200;  // milliseconds; the video need not be smooth

/// Properties for the user and the password on elements that open URIs.
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
  GST_ELEMENT_ERROR(source, RESOURCE, SETTINGS,
                    ("this protocol does not support a user and a password"), (nullptr));
}

/// Returns whether to request a stream from an RTSP server. Sound need not even be sent.
gboolean on_rtsp_stream(GstElement *, guint, GstCaps *caps, gpointer) {
  const gchar *media = gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  return media == nullptr || std::strcmp(media, "video") == 0;
}

/// Sets up an HTTP source, which would follow redirects and try again by itself.
void set_http(GstElement *source, double timeout) {
  if (!has_property(source, "automatic-redirect")) {
    GST_ELEMENT_ERROR(source, RESOURCE, SETTINGS,
                      ("HTTP requires souphttpsrc from GStreamer's good plug-ins"), (nullptr));
    return;
  }
  g_object_set(source, "automatic-redirect", FALSE, "retries", 0, "timeout",
               static_cast<guint>(std::max(1.0, std::ceil(timeout))), nullptr);
}

void set_rtsp(GstElement *source, double timeout) {
  g_signal_connect(source, "select-stream", G_CALLBACK(on_rtsp_stream), nullptr);
  // Frames that come faster than they are decoded are dropped, not kept for later.
  g_object_set(source, "latency", kRtspLatency, "drop-on-latency", TRUE, "tcp-timeout",
               static_cast<guint64>(seconds(timeout)), nullptr);
  guard_rtsp_source(source);
}

bool is_by_http(const std::string &uri) {
  const std::optional<Peer> peer = peer_of(uri);
  return peer && (peer->scheme == "http" || peer->scheme == "https");
}

struct Opening {
  Credentials credentials;
  double timeout;  // seconds until it answers
  bool is_http;
};

/// Sets up the element that uridecodebin has created to open the URI.
void on_source(GstElement *, GstElement *source, gpointer data) {
  const auto *opening = static_cast<const Opening *>(data);
  if (!opening->credentials.user.empty()) set_user(source, opening->credentials);
  if (opening->is_http) set_http(source, opening->timeout);
  if (g_signal_lookup("on-sdp", G_OBJECT_TYPE(source)) != 0) set_rtsp(source, opening->timeout);
}

/// Returns whether to decode a stream further. Sound and text are not decoded.
gboolean on_caps(GstElement *decoder, GstPad *, GstCaps *caps, gpointer) {
  if (const std::string refusal = autoplug_error(caps); !refusal.empty()) {
    GST_ELEMENT_ERROR(decoder, STREAM, WRONG_TYPE, ("%s", refusal.c_str()), (nullptr));
    return FALSE;
  }
  const gchar *name = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  return !g_str_has_prefix(name, "audio/") && !g_str_has_prefix(name, "text/") &&
         !g_str_has_prefix(name, "subpicture/");
}

/// GstAutoplugSelectResult, which no header declares.
enum Choice { kTry, kExpose, kSkip };
Choice on_factory(GstElement *, GstPad *, GstCaps *, GstElementFactory *factory,
                  gpointer histogram) {
  return may_autoplug(factory, takes_surfaces(GST_ELEMENT(histogram))) ? kTry : kSkip;
}

/// Sets up an element that decodebin has created. Otherwise, multipartdemux waits for more streams
/// until queues of megabytes are full.
void on_element(GstBin *, GstBin *, GstElement *element, gpointer) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "single-stream") != nullptr)
    g_object_set(element, "single-stream", TRUE, nullptr);
}

/// Drops decoded frames above the limit. videorate is not used, because it ends the program if
/// frames have no duration.
GstPadProbeReturn on_frame(GstPad *, GstPadProbeInfo *info, gpointer limit) {
  const bool is_taken =
      static_cast<FrameLimit *>(limit)->takes(time_of(GST_PAD_PROBE_INFO_BUFFER(info)));
  return is_taken ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

void limit_frames(GstElement *pipeline, unsigned rate) {
  g_autoptr(GstElement) convert = gst_bin_get_by_name(GST_BIN(pipeline), "convert");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(convert, "sink");
  const auto destroy = [](gpointer limit) { delete static_cast<FrameLimit *>(limit); };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, new FrameLimit(rate), destroy);
}

// uridecodebin3 is not used, because that of GStreamer 1.22 does not always start.
constexpr const char *kUriDecoder = "uridecodebin name=decoder caps=video/x-raw(ANY) ! ";

/// The caps have a frame rate, so that pngdec, too, takes each buffer for a whole picture.
std::string picture_decoder(const std::string &format) {
  return "appsrc name=pictures is-live=true do-timestamp=true format=time caps=" + format +
         ",framerate=1/1 ! " + (format == "image/png" ? "pngdec" : "jpegdec") + " name=decoder ! ";
}

std::string description_of(const std::string &decoder, const Region &region,
                           const Settings &settings) {
  std::string text = decoder;
  // videoconvert does not change what cudahistogram takes, or what is on a GPU.
  text += "videoconvert name=convert ! ";
  if (!settings.fast) text += "clocksync ! ";
  // Cameras share the cores; each camera needs only a part of one.
  return text +
         RegionCounter::elements(region, "interval=0 n-threads=1 backend=" + settings.backend) +
         " ! fakesink name=sink sync=false";
}

GstElement *parse(const std::string &description) {
  g_autoptr(GError) error = nullptr;
  GstElement *pipeline = gst_parse_launch(description.c_str(), &error);
  if (error == nullptr) return pipeline;
  const std::string why = error->message;
  g_clear_object(&pipeline);
  throw std::runtime_error(why);
}

GstElement *make_pipeline(const std::string &decoder_text, const CameraSettings &camera,
                          const Settings &settings) {
  GstElement *pipeline = parse(description_of(decoder_text, camera.region, settings));
  // All cameras share one context. If this fails, there is no CUDA.
  if (settings.backend != "cpu") gst_cuda_tensor_share_primary_context(pipeline, 0, nullptr);
  if (camera.max_fps > 0) limit_frames(pipeline, camera.max_fps);
  return pipeline;
}

}  // namespace

void check_elements(const Settings &settings) {
  GstElement *pipeline = pipeline_of(CameraSettings(), settings);
  gst_object_unref(pipeline);
}

GstElement *pipeline_of(const CameraSettings &camera, const Settings &settings) {
  guard_rtsp();
  GstElement *pipeline = make_pipeline(kUriDecoder, camera, settings);
  g_autoptr(GstElement) decoder = gst_bin_get_by_name(GST_BIN(pipeline), "decoder");
  g_object_set(decoder, "uri", camera.uri.c_str(), nullptr);
  const auto destroy = [](gpointer data, GClosure *) { delete static_cast<Opening *>(data); };
  g_signal_connect_data(decoder, "source-setup", G_CALLBACK(on_source),
                        new Opening{camera.credentials.value_or(Credentials()),
                                    settings.timeouts.answer, is_by_http(camera.uri)},
                        destroy, static_cast<GConnectFlags>(0));
  g_signal_connect(decoder, "autoplug-continue", G_CALLBACK(on_caps), nullptr);
  // The closure keeps the element alive, because the decoder may be taken down after it.
  g_signal_connect_data(
      decoder, "autoplug-select", G_CALLBACK(on_factory),
      gst_bin_get_by_name(GST_BIN(pipeline), "histogram"),
      [](gpointer histogram, GClosure *) { gst_object_unref(histogram); },
      static_cast<GConnectFlags>(0));
  g_signal_connect(decoder, "deep-element-added", G_CALLBACK(on_element), nullptr);
  limit_intake(decoder);
  return pipeline;
}

GstElement *picture_pipeline_of(const std::string &format, const CameraSettings &camera,
                                const Settings &settings) {
  return make_pipeline(picture_decoder(format), camera, settings);
}

}  // namespace luminance
