// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/diagnosis.h"

#include <cmath>
#include <utility>

#include "capture/failure.h"

namespace luminance {
namespace {

bool speaks_tls(const Peer &peer) { return peer.scheme.back() == 's'; }

std::string name_of_protocol(const Peer &peer) {
  return peer.scheme.rfind("http", 0) == 0 ? "HTTP" : "RTSP";
}

std::string flaws_of(GTlsCertificateFlags flags) {
  constexpr std::pair<GTlsCertificateFlags, const char *> kFlaws[] = {
      {G_TLS_CERTIFICATE_UNKNOWN_CA, "unknown issuer"},
      {G_TLS_CERTIFICATE_BAD_IDENTITY, "issued for another host"},
      {G_TLS_CERTIFICATE_NOT_ACTIVATED, "not yet valid"},
      {G_TLS_CERTIFICATE_EXPIRED, "expired"},
      {G_TLS_CERTIFICATE_REVOKED, "revoked"},
      {G_TLS_CERTIFICATE_INSECURE, "insecure algorithm"},
  };
  std::string text;
  for (const auto &[flag, what] : kFlaws)
    if ((flags & flag) != 0) text += (text.empty() ? "" : ", ") + std::string(what);
  return text.empty() ? "" : ": " + text;
}

std::string message_for_tls(const GError *error, const Peer &peer, GTlsCertificateFlags flaws) {
  if (error->code == G_TLS_ERROR_BAD_CERTIFICATE)
    return "the TLS certificate of " + peer.text() + " is not trusted" + flaws_of(flaws);
  if (error->code == G_TLS_ERROR_CERTIFICATE_REQUIRED)
    return peer.text() + " requires a client certificate";
  return "the TLS handshake with " + peer.text() + " failed";
}

std::string message_for(const GError *error, const Peer &peer, double seconds,
                        GTlsCertificateFlags flaws) {
  if (error == nullptr)
    return peer.text() + " sent no valid " + name_of_protocol(peer) + " response";
  if (error->domain == G_TLS_ERROR) return message_for_tls(error, peer, flaws);
  if (error->domain == G_RESOLVER_ERROR)
    return error->code == G_RESOLVER_ERROR_NOT_FOUND ? "host not found: " + peer.host
                                                     : "the name lookup failed for " + peer.host;
  if (error->domain != G_IO_ERROR) return peer.text() + ": " + error->message;
  switch (error->code) {
    case G_IO_ERROR_CONNECTION_REFUSED: return peer.text() + " refused the connection";
    case G_IO_ERROR_TIMED_OUT: return no_answer_within(seconds);
    case G_IO_ERROR_HOST_UNREACHABLE:
    case G_IO_ERROR_NETWORK_UNREACHABLE: return "no route to " + peer.host;
    case G_IO_ERROR_CONNECTION_CLOSED: return peer.text() + " closed the connection";
    default: return peer.text() + ": " + error->message;
  }
}

}  // namespace

/// An attempt to connect. It lives until it is over, even if the diagnosis is destroyed before.
struct Diagnosis::Try {
  const Peer peer;
  const double seconds;
  std::function<void(const std::string &)> done;
  GCancellable *const cancellable = g_cancellable_new();
  GTlsCertificateFlags flaws = static_cast<GTlsCertificateFlags>(0);

  ~Try() { g_object_unref(cancellable); }

  static gboolean on_certificate(GTlsConnection *, GTlsCertificate *, GTlsCertificateFlags flags,
                                 gpointer data) {
    static_cast<Try *>(data)->flaws = flags;
    return FALSE;
  }
  static void on_event(GSocketClient *, GSocketClientEvent event, GSocketConnectable *,
                       GIOStream *stream, gpointer data) {
    if (event == G_SOCKET_CLIENT_TLS_HANDSHAKING)
      g_signal_connect(stream, "accept-certificate", G_CALLBACK(on_certificate), data);
  }
  static void on_connected(GObject *client, GAsyncResult *result, gpointer data) {
    const std::unique_ptr<std::shared_ptr<Try>> self(static_cast<std::shared_ptr<Try> *>(data));
    g_autoptr(GError) error = nullptr;
    g_autoptr(GSocketConnection) connection =
        g_socket_client_connect_finish(G_SOCKET_CLIENT(client), result, &error);
    Try &made = **self;
    if (g_cancellable_is_cancelled(made.cancellable)) return;
    const auto done = std::exchange(made.done, nullptr);  // may destroy the diagnosis
    done(message_for(error, made.peer, made.seconds, made.flaws));
  }
};

Diagnosis::Diagnosis(const Peer &peer, double seconds,
                     std::function<void(const std::string &)> done)
    : try_(new Try{peer, seconds, std::move(done)}) {
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_socket_client_set_timeout(client, static_cast<guint>(std::max(1.0, std::ceil(seconds))));
  if (speaks_tls(peer)) {
    g_socket_client_set_tls(client, TRUE);
    g_signal_connect(client, "event", G_CALLBACK(Try::on_event), try_.get());
  }
  g_socket_client_connect_to_host_async(client, peer.host.c_str(), peer.port, try_->cancellable,
                                        Try::on_connected, new std::shared_ptr<Try>(try_));
}

Diagnosis::~Diagnosis() { g_cancellable_cancel(try_->cancellable); }

}  // namespace luminance
