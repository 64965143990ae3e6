// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/inflow.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace luminance {
namespace {

constexpr uint64_t kMaxKept = 32 << 20;
constexpr uint64_t kMessages = 16 << 10;  // bytes per second that messages may have without video

thread_local std::weak_ptr<Inflow> of_thread;

/// Returns the bytes received since the socket was connected; 0 if the kernel does not tell.
uint64_t received_by(GSocket *socket) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (getsockopt(g_socket_get_fd(socket), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  const size_t end = offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  return size >= end ? info.tcpi_bytes_received : 0;
}

}  // namespace

std::shared_ptr<Inflow> Inflow::of(GstElement *pipeline) {
  static std::once_flag once;
  std::call_once(once, [] {
    g_type_class_ref(G_TYPE_SOCKET_CLIENT);  // the class registers its signal
    g_signal_add_emission_hook(g_signal_lookup("event", G_TYPE_SOCKET_CLIENT), 0, on_event, nullptr,
                               nullptr);
  });
  const std::shared_ptr<Inflow> made(new Inflow);
  g_signal_connect_data(
      pipeline, "deep-element-added", G_CALLBACK(on_element), new std::shared_ptr<Inflow>(made),
      [](gpointer kept, GClosure *) { delete static_cast<std::shared_ptr<Inflow> *>(kept); },
      static_cast<GConnectFlags>(0));
  return made;
}

Inflow::~Inflow() {
  for (const Connection &connection : connections_) g_object_unref(connection.socket);
}

void Inflow::begin_here() { of_thread = weak_from_this(); }

/// Called for every socket client of the process, on the thread that connects.
gboolean Inflow::on_event(GSignalInvocationHint *, guint, const GValue *values, gpointer) {
  const std::shared_ptr<Inflow> own = of_thread.lock();
  if (own == nullptr || g_value_get_enum(&values[1]) != G_SOCKET_CLIENT_CONNECTED) return TRUE;
  gpointer stream = g_value_get_object(&values[3]);
  if (G_IS_SOCKET_CONNECTION(stream))
    own->add(g_socket_connection_get_socket(G_SOCKET_CONNECTION(stream)));
  return TRUE;
}

void Inflow::add(GSocket *socket) {
  const std::lock_guard lock(mutex_);
  connections_.push_back({G_SOCKET(g_object_ref(socket)), 0});
}

void Inflow::on_element(GstBin *, GstBin *, GstElement *element, gpointer data) {
  const auto &self = *static_cast<std::shared_ptr<Inflow> *>(data);
  GstElementFactory *factory = gst_element_get_factory(element);
  const gchar *name = factory != nullptr ? GST_OBJECT_NAME(factory) : "";
  if (std::strcmp(name, "udpsrc") == 0) self->has_udp_ = true;
  if (std::strcmp(name, "rtpjitterbuffer") != 0) return;
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  constexpr int kData = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  gst_pad_add_probe(pad, static_cast<GstPadProbeType>(kData), on_packet,
                    new std::shared_ptr<Inflow>(self),
                    [](gpointer kept) { delete static_cast<std::shared_ptr<Inflow> *>(kept); });
}

GstPadProbeReturn Inflow::on_packet(GstPad *, GstPadProbeInfo *info, gpointer data) {
  const bool is_list = (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0;
  (*static_cast<std::shared_ptr<Inflow> *>(data))->video_ +=
      is_list ? gst_buffer_list_calculate_size(GST_PAD_PROBE_INFO_BUFFER_LIST(info))
              : gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

/// Shuts the sockets down at once: gigabytes may arrive until the pipeline has stopped.
void Inflow::stop() {
  const std::lock_guard lock(mutex_);
  for (const Connection &connection : connections_)
    g_socket_shutdown(connection.socket, TRUE, TRUE, nullptr);
}

/// While a connection receives a message, it carries no video. Video that arrives by UDP says
/// nothing about the connection.
std::string Inflow::check() {
  const Time now = g_get_monotonic_time();
  const Time gone = checked_ != 0 ? now - checked_ : 0;
  checked_ = now;
  uint64_t came = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Connection &connection : connections_) {
      if (g_socket_is_closed(connection.socket)) continue;
      const uint64_t received = received_by(connection.socket);
      came += received - std::min(received, connection.received);
      connection.received = received;
    }
  }
  const uint64_t video = video_, grown = has_udp_ ? 0 : video - video_before_;
  video_before_ = video;
  // Twice the video, because packets come with headers and reports.
  const uint64_t passed = 2 * grown + kMessages * static_cast<uint64_t>(gone) / kSecond;
  kept_ = kept_ + came > passed ? kept_ + came - passed : 0;
  if (kept_ <= kMaxKept) return "";
  stop();
  return "the camera sends more than " + std::to_string(kMaxKept >> 20) + " MiB without video";
}

}  // namespace luminance
