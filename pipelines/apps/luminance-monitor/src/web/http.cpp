// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/http.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "web/tls.h"

namespace luminance {
namespace {

// Bytes of a connection's memory: the head, the parsed headers and the data to send.
constexpr size_t kMemory = 32768;
// Bytes in the kernel. Data that waits there reaches a slow reader of the stream too late.
constexpr int kSendBuffer = 65536;
// Only key exchanges with forward secrecy, so that a stolen key does not decrypt recorded
// connections, and only authenticated ciphers.
constexpr const char *kPriorities =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:%"
    "SERVER_PRECEDENCE";

/// A GLib source that runs libmicrohttpd when its epoll is ready, when it asks for that itself, or
/// when an exchange continues.
struct Loop {
  GSource source;
  MHD_Daemon *daemon;
  gpointer epoll;
};

gboolean prepare(GSource *source, gint *timeout) {
  MHD_UNSIGNED_LONG_LONG wait = 0;
  *timeout = -1;
  return MHD_get_timeout(reinterpret_cast<Loop *>(source)->daemon, &wait) == MHD_YES && wait == 0;
}

gboolean check(GSource *source) {
  return g_source_query_unix_fd(source, reinterpret_cast<Loop *>(source)->epoll) != 0;
}

gboolean dispatch(GSource *source, GSourceFunc, gpointer) {
  g_source_set_ready_time(source, -1);
  MHD_run(reinterpret_cast<Loop *>(source)->daemon);
  return G_SOURCE_CONTINUE;
}

GSourceFuncs functions = {prepare, check, dispatch, nullptr, nullptr, nullptr};

/// Returns whether the peer sends no more, even if data that it sent before have not been read.
bool peer_closed(int socket) {
  pollfd look = {socket, POLLRDHUP, 0};
  return poll(&look, 1, 0) == 1;
}

/// Returns whether the peer sends no more and all its data have been read. libmicrohttpd misses a
/// shutdown that arrives together with a request.
bool peer_shut_down(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// Hides the query from libmicrohttpd: the exchange parses a copy of it. libmicrohttpd 0.9.75 never
/// answers if the parsed parameters do not fit into the connection's memory. It modifies this text
/// itself, so writing to it is safe.
void hide_query(const char *target) {
  if (char *query = const_cast<char *>(std::strchr(target, '?'))) query[1] = '\0';
}

int socket_of(MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

}  // namespace

Http::Http(const WebSettings &settings, Handler handler)
    : handler_(std::move(handler)),
      limiter_(settings.max_connections),
      has_tls_(!settings.certificate.empty()) {
  const auto accepted = [this](int socket, const sockaddr *peer, socklen_t length) {
    accept(socket, peer, length);
  };
  listener_ = std::make_unique<Listener>(settings.address, settings.port, accepted);
  start(settings);
  attach();
  address_ = (has_tls_ ? "https://" : "http://") + listener_->host() + "/";
}

Http::~Http() {
  listener_.reset();
  g_source_remove(sweep_);
  for (const auto &[socket, held] : exchanges_)  // MHD_stop_daemon() needs all resumed
    if (const auto exchange = held.lock()) exchange->wake();
  MHD_stop_daemon(daemon_);
  g_source_destroy(source_);
  g_source_unref(source_);
}

void Http::start(const WebSettings &settings) {
  unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
  std::vector<MHD_OptionItem> options;
  if (!settings.certificate.empty()) {
    set_identity(std::make_unique<Identity>(settings));
    flags |= MHD_USE_TLS;
    options.push_back(
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, reinterpret_cast<void *>(retrieve_function())});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char *>(kPriorities)});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  daemon_ = MHD_start_daemon(
      flags, 0, nullptr, nullptr, on_request, this, MHD_OPTION_ARRAY, options.data(),
      MHD_OPTION_CONNECTION_LIMIT, settings.max_connections + ConnectionLimiter::kRejectReserve,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMemory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, begin, this, MHD_OPTION_NOTIFY_COMPLETED, on_completed, this,
      MHD_OPTION_NOTIFY_CONNECTION, on_connection, this, MHD_OPTION_END);
  if (daemon_ == nullptr) throw SettingsError("web: cannot start libmicrohttpd");
}

void Http::attach() {
  const int epoll = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  source_ = g_source_new(&functions, sizeof(Loop));
  auto *loop = reinterpret_cast<Loop *>(source_);
  loop->daemon = daemon_;
  loop->epoll = g_source_add_unix_fd(source_, epoll, G_IO_IN);
  g_source_attach(source_, nullptr);
  const auto sweep = [](gpointer self) -> gboolean {
    static_cast<Http *>(self)->sweep();
    return G_SOURCE_CONTINUE;
  };
  sweep_ = g_timeout_add_seconds(1, sweep, this);
}

void Http::accept(int socket, const sockaddr *peer, socklen_t length) {
  if (!limiter_.enter(socket, peer, g_get_monotonic_time())) {
    close(socket);
    return;
  }
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  // If this fails, libmicrohttpd has closed the socket.
  if (MHD_add_connection(daemon_, socket, peer, length) != MHD_YES) limiter_.leave(socket);
}

void Http::sweep() {
  const gint64 now = g_get_monotonic_time();
  for (const int socket : limiter_.sockets()) check_deadline(socket, now);
}

void Http::check_deadline(int socket, gint64 now) {
  const auto found = exchanges_.find(socket);
  const Held exchange = found != exchanges_.end() ? found->second.lock() : nullptr;
  const bool is_overdue = limiter_.is_overdue(socket, now);
  if (exchange != nullptr && exchange->is_streaming()) {
    if (peer_shut_down(socket)) exchange->drop();
  } else if (exchange != nullptr && exchange->waits()) {
    if (peer_closed(socket))
      exchange->drop();
    else if (is_overdue)
      exchange->answer(failure(503, "no response in time"));
  } else if (is_overdue ||
             (peer_shut_down(socket) && !(exchange != nullptr && exchange->is_checked()))) {
    shutdown(socket, SHUT_RDWR);
  }
}

MHD_Result Http::proceed(const Held &exchange, const char *method, const char *version,
                         const char *body, size_t *size) {
  if (exchange->is_dropped()) return MHD_NO;
  if (exchange->is_answered()) return exchange->send(false);
  if (!exchange->is_checked()) {
    const std::optional<Answer> wrong = exchange->check(method, version);
    if (!wrong) return MHD_YES;  // libmicrohttpd reads the body next, if there is one
    exchange->answer(*wrong);
    return exchange->send(true);
  }
  if (*size > 0) {
    exchange->add_body(body, std::exchange(*size, 0));
    return MHD_YES;
  }
  call(exchange);
  if (exchange->is_answered()) return exchange->send(false);
  exchange->wait();
  return MHD_YES;
}

void Http::call(const Held &exchange) try {
  handler_(exchange);
} catch (const std::exception &error) {
  exchange->answer(failure(500, error.what()));
}

void *Http::begin(void *self, const char *target, MHD_Connection *connection) {
  auto *http = static_cast<Http *>(self);
  auto *held =
      new Held(std::make_shared<Exchange>(connection, http->limiter_, http->source_, target));
  http->exchanges_[socket_of(connection)] = *held;
  hide_query(target);
  return held;
}

MHD_Result Http::on_request(void *self, MHD_Connection *, const char *, const char *method,
                            const char *version, const char *body, size_t *size, void **exchange) {
  return static_cast<Http *>(self)->proceed(*static_cast<Held *>(*exchange), method, version, body,
                                            size);
}

void Http::on_completed(void *self, MHD_Connection *connection, void **exchange,
                        MHD_RequestTerminationCode) {
  auto *http = static_cast<Http *>(self);
  const auto *held = static_cast<Held *>(std::exchange(*exchange, nullptr));
  if (held == nullptr) return;
  (*held)->finish();
  delete held;
  const int socket = socket_of(connection);
  http->exchanges_.erase(socket);
  http->limiter_.set_deadline(socket, g_get_monotonic_time() + ConnectionLimiter::kRequest);
}

void Http::on_connection(void *self, MHD_Connection *connection, void **,
                         MHD_ConnectionNotificationCode code) {
  if (code == MHD_CONNECTION_NOTIFY_CLOSED)
    static_cast<Http *>(self)->limiter_.leave(socket_of(connection));
}

}  // namespace luminance
