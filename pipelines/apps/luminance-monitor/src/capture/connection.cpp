// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/connection.h"

#include <gst/app/gstappsrc.h>

#include <mutex>
#include <utility>

#include "capture/failure.h"
#include "capture/frameclock.h"
#include "capture/inflow.h"
#include "capture/picture.h"
#include "capture/picturetap.h"
#include "capture/pipeline.h"
#include "capture/regioncounter.h"

namespace luminance {
namespace {

constexpr int kMaxRedirects = 5;

/// Returns a header of an HTTP response, whose name may be in any case; empty if there is none.
std::string header_of(const GstStructure *headers, const char *name) {
  for (gint i = 0; i < gst_structure_n_fields(headers); ++i) {
    const gchar *field = gst_structure_nth_field_name(headers, static_cast<guint>(i));
    if (g_ascii_strcasecmp(field, name) != 0) continue;
    const GValue *value = gst_structure_get_value(headers, field);
    if (GST_VALUE_HOLDS_ARRAY(value) && gst_value_array_get_size(value) > 0)
      value = gst_value_array_get_value(value, 0);
    if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value) != nullptr)
      return g_value_get_string(value);
  }
  return "";
}

bool is_http_answer(GstMessage *message) {
  const GstStructure *s = gst_message_get_structure(message);
  return s != nullptr && gst_structure_has_name(s, "http-headers");
}

/// Returns the Location header of an HTTP response; empty if there is none.
std::string location_of(GstMessage *message) {
  const GstStructure *s = gst_message_get_structure(message);
  GstStructure *headers = nullptr;
  if (!gst_structure_get(s, "response-headers", GST_TYPE_STRUCTURE, &headers, nullptr)) return "";
  const std::string location = header_of(headers, "Location");
  gst_structure_free(headers);
  return location;
}

}  // namespace

/// State that the pipeline's threads share. It may outlive the connection a little.
struct Connection::Feed {
  Inbox &inbox;
  const Begin begin;
  FrameClock clock;
  std::atomic<bool> closed{false};
  std::atomic<unsigned> decoded{0};  // number of pictures
  std::shared_ptr<PictureTap> tap{};
  std::shared_ptr<RegionCounter> counter{};
  std::shared_ptr<Inflow> inflow{};
  std::mutex mutex{};  // on a GPU, each element has a thread that sends messages

  /// Puts the measurement that the message completes into the inbox. Waits while the inbox is full.
  void take(GstMessage *message) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::optional<Measurement> frame = counter->take(message);
    if (!frame) return;
    frame->time = time_of(*frame);
    const PictureTap::Pictures pictures = tap->take(frame->timestamp);
    frame->blocks = pictures.blocks;
    frame->thumbnail = pictures.thumbnail;
    inbox.put({begin.camera, begin.number, *frame}, closed);
  }

  Time time_of(const Measurement &frame) {
    std::optional<Time> running_time;
    if (GST_CLOCK_TIME_IS_VALID(frame.running_time))
      running_time = static_cast<Time>(frame.running_time / GST_USECOND);
    return clock.time_of(g_get_monotonic_time(), running_time);
  }
};

Connection::Connection(const CameraSettings &camera, const Settings &settings, Inbox &inbox,
                       const Begin &begin, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      settings_(settings),
      own_(camera),
      camera_(camera),
      inbox_(inbox),
      begin_(begin) {
  if (camera_.snapshot_interval == 0)
    open(pipeline_of(camera_, settings_));
  else
    polling_ = std::make_unique<Polling>(camera_, settings_.timeouts,
                                         [this](const Fetched &fetched) { take(fetched); });
}

Connection::~Connection() { close(); }

/// Starts the pipeline, of which it takes ownership.
void Connection::open(GstElement *pipeline) {
  player_ = std::make_unique<Player>(pipeline);
  feed_.reset(new Feed{inbox_, begin_, {settings_.fast, feed_ != nullptr ? end() : begin_.time}});
  g_autoptr(GstElement) histogram = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "histogram");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(histogram, "sink");
  feed_->tap = PictureTap::on(pad, own_.region);
  feed_->counter = RegionCounter::in(player_->pipeline(), own_.region);
  feed_->inflow = Inflow::of(player_->pipeline());
  opened_ = g_get_monotonic_time();
  g_autoptr(GstBus) bus = gst_element_get_bus(player_->pipeline());
  const auto destroy = [](gpointer feed) { delete static_cast<std::shared_ptr<Feed> *>(feed); };
  gst_bus_set_sync_handler(bus, on_any_thread, new std::shared_ptr<Feed>(feed_), destroy);
  gst_bus_add_watch(bus, on_main_loop, this);
  player_->play();
}

void Connection::close() {
  if (patience_ != 0) g_source_remove(std::exchange(patience_, 0));
  if (player_ == nullptr) return;
  g_autoptr(GstBus) bus = gst_element_get_bus(player_->pipeline());
  gst_bus_remove_watch(bus);
  feed_->closed = true;
  inbox_.wake();
  player_.reset();
}

void Connection::tick() {
  if (player_ == nullptr) return;
  if (const std::string error = feed_->inflow->check(); !error.empty()) fail(error);
}

unsigned Connection::number() const { return begin_.number; }
Time Connection::end() const { return feed_->clock.end(); }

GstSample *Connection::sample() const {
  if (player_ == nullptr) return nullptr;
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "sink");
  GstSample *sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  return sample;
}

GstBusSyncReply Connection::on_any_thread(GstBus *, GstMessage *message, gpointer data) {
  Feed &feed = **static_cast<std::shared_ptr<Feed> *>(data);
  // rtspsrc posts it on the thread that is about to connect.
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS) feed.inflow->begin_here();
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
  if (!gst_cuda_tensor_is_histogram(message)) return GST_BUS_PASS;
  feed.take(message);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

gboolean Connection::on_main_loop(GstBus *, GstMessage *message, gpointer data) {
  auto *self = static_cast<Connection *>(data);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT:
      if (is_http_answer(message)) self->take_answer(message);
      break;
    case GST_MESSAGE_ERROR: self->fail(message); break;  // may delete self, as may the next
    case GST_MESSAGE_EOS: self->leave([](const Callbacks &callbacks) { callbacks.ended(); }); break;
    default: break;
  }
  return G_SOURCE_CONTINUE;
}

void Connection::take_answer(GstMessage *message) {
  guint code = 0;  // the message comes even without a response
  gst_structure_get_uint(gst_message_get_structure(message), "http-status-code", &code);
  has_answered_ = code >= 200 && code < 300;
  location_ = location_of(message);
}

/// Handles the result of a request for a picture.
void Connection::take(const Fetched &fetched) {
  if (fetched.unreachable) return diagnose(*fetched.unreachable);
  if (!fetched.error.empty()) return fail(fetched.error);
  const PictureFormat format = format_of(fetched.picture);
  if (!format.error.empty()) return fail(format.error);
  // While a picture is being decoded, later ones are dropped rather than queued.
  if (player_ != nullptr && feed_->decoded < shown_) return;
  if (format.type != format_) {
    format_ = format.type;
    close();
    try {
      open(picture_pipeline_of(format_, camera_, settings_));
    } catch (const std::exception &error) {  // GStreamer lacks an element
      return fail(error.what());
    }
    shown_ = 0;
    count_decoded();
  }
  show(fetched.picture);
}

void Connection::count_decoded() {
  g_autoptr(GstElement) decoder = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "decoder");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(decoder, "src");
  const auto count = [](GstPad *, GstPadProbeInfo *, gpointer feed) {
    ++(*static_cast<std::shared_ptr<Feed> *>(feed))->decoded;
    return GST_PAD_PROBE_OK;
  };
  const auto destroy = [](gpointer feed) { delete static_cast<std::shared_ptr<Feed> *>(feed); };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, new std::shared_ptr<Feed>(feed_),
                    destroy);
}

/// Gives the player a picture, and starts a timer: a decoder that cannot decode it may wait for
/// more data without an error.
void Connection::show(const std::string &picture) {
  g_autoptr(GstElement) pictures = gst_bin_get_by_name(GST_BIN(player_->pipeline()), "pictures");
  GstBuffer *const buffer = gst_buffer_new_memdup(picture.data(), picture.size());
  ++shown_;
  if (gst_app_src_push_buffer(GST_APP_SRC(pictures), buffer) != GST_FLOW_OK)
    return;  // the pipeline has failed, and reports why
  if (patience_ != 0) g_source_remove(patience_);
  const auto is_over = [](gpointer data) -> gboolean {
    auto *self = static_cast<Connection *>(data);
    self->patience_ = 0;
    if (self->feed_->decoded < self->shown_) self->fail(kUndecoded);  // may delete self
    return G_SOURCE_REMOVE;
  };
  patience_ = g_timeout_add(static_cast<guint>(1000 * settings_.timeouts.answer), is_over, this);
}

/// Makes the last callback, which may delete the connection.
void Connection::leave(const std::function<void(const Callbacks &)> &tell) {
  const Callbacks callbacks = callbacks_;  // a copy, as they may delete the connection
  inbox_.drain();                          // delivers earlier frames first
  tell(callbacks);
}

void Connection::fail(const std::string &why) {
  leave([&why](const Callbacks &callbacks) { callbacks.failed(why); });
}

void Connection::fail(GstMessage *message) {
  const Failure failure = failure_of(message, camera_.credentials.has_value());
  const bool had_stream = feed_->clock.began() || has_answered_;
  const std::string location = failure.location.empty() ? location_ : failure.location;
  if (failure.is_redirect && !location.empty()) return follow(location);
  const std::optional<Peer> peer = peer_of(camera_.uri);
  if (polling_ != nullptr) return fail(failure.is_vague ? kUndecoded : failure.text);
  if (!failure.is_vague || !peer) return fail(failure.text);
  if (had_stream) return fail("the stream was interrupted");
  const double timeout = settings_.timeouts.answer;
  if (g_get_monotonic_time() - opened_ >= seconds(timeout)) return fail(no_answer_within(timeout));
  diagnose(*peer);
}

void Connection::diagnose(const Peer &peer) {
  close();
  diagnosis_ = std::make_unique<Diagnosis>(peer, settings_.timeouts.answer,
                                           [this](const std::string &why) { fail(why); });
}

/// Opens the target of a redirect, if it is allowed. Only the camera itself gets the user and
/// password.
void Connection::follow(const std::string &location) {
  if (++redirects_ > kMaxRedirects) return fail("too many redirects");
  const Redirect redirect = redirect_of(own_, camera_.uri, location);
  if (redirect.uri.empty()) return fail(redirect.refusal);
  close();
  camera_.uri = redirect.uri;
  camera_.credentials = redirect.to_the_camera ? own_.credentials : std::nullopt;
  location_.clear();
  has_answered_ = false;
  try {
    open(pipeline_of(camera_, settings_));
  } catch (const std::exception &error) {  // GStreamer lacks an element
    fail(error.what());
  }
}

}  // namespace luminance
