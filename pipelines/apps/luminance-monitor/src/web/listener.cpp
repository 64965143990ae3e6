// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/listener.h"

#include <glib-unix.h>

#include <cerrno>
#include <utility>

#include "settings/settings.h"

namespace luminance {
namespace {

constexpr int kBacklog = 512;
constexpr int kPorts = 20;     // that are tried if any port will do
constexpr int kBatch = 64;     // connections accepted before other sources run
constexpr guint kPause = 100;  // milliseconds, when no file descriptors are left

using Addresses = std::unique_ptr<GList, decltype(&g_resolver_free_addresses)>;

Addresses addresses_of(const std::string &name) {
  if (GInetAddress *address = g_inet_address_new_from_string(name.c_str()))
    return {g_list_append(nullptr, address), g_resolver_free_addresses};
  g_autoptr(GResolver) resolver = g_resolver_get_default();
  g_autoptr(GError) error = nullptr;
  GList *found = g_resolver_lookup_by_name(resolver, name.c_str(), nullptr, &error);
  if (error != nullptr) throw ListenError("web: address '" + name + "': " + error->message);
  return {found, g_resolver_free_addresses};
}

/// Returns whether this machine does not have the address or its protocol, which a name may have.
bool is_not_here(const GError *error) {
  return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED) ||
         g_error_matches(error, G_IO_ERROR, g_io_error_from_errno(EADDRNOTAVAIL));
}

}  // namespace

Listener::Listener(const std::string &address, uint16_t port, Accept accept)
    : address_(address), port_(port), accept_(std::move(accept)) {
  const Addresses addresses = addresses_of(address);
  for (int tries = 0;; ++tries) try {
      for (GList *each = addresses.get(); each != nullptr; each = each->next) {
        auto *inet = G_INET_ADDRESS(each->data);
        if (listen(inet)) is_loopback_ = is_loopback_ && g_inet_address_get_is_loopback(inet);
      }
      break;
    } catch (const ListenError &) {
      // The port that the system chose for one address may be in use for the next one.
      if (port != 0 || sockets_.empty() || tries == kPorts) throw;
      sockets_.clear();
      port_ = 0;
    }
  if (sockets_.empty())
    throw ListenError("web: address '" + address + "' does not belong to this machine");
}

Listener::Socket::~Socket() {
  if (source != 0) g_source_remove(source);
  if (pause != 0) g_source_remove(pause);
  g_object_unref(socket);
}

std::string Listener::host() const {
  const bool is_ipv6 = address_.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address_ + "]" : address_) + ":" + std::to_string(port_);
}

bool Listener::listen(GInetAddress *address) {
  g_autoptr(GError) error = nullptr;
  g_autoptr(GSocket) socket = g_socket_new(g_inet_address_get_family(address), G_SOCKET_TYPE_STREAM,
                                           G_SOCKET_PROTOCOL_TCP, &error);
  g_autoptr(GSocketAddress) requested = g_inet_socket_address_new(address, port_);
  bool listens = socket != nullptr && g_socket_bind(socket, requested, TRUE, &error);
  if (listens) {
    g_socket_set_listen_backlog(socket, kBacklog);
    g_socket_set_blocking(socket, FALSE);
    listens = g_socket_listen(socket, &error);
  }
  if (!listens && !g_hostname_is_ip_address(address_.c_str()) && is_not_here(error)) return false;
  if (!listens) {
    const std::string text = "web: cannot listen on " + host() + ": " + error->message;
    const bool may_change =
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE) || is_not_here(error);
    if (may_change) throw ListenError(text);
    throw SettingsError(text);
  }

  g_autoptr(GSocketAddress) got = g_socket_get_local_address(socket, nullptr);
  port_ = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(got));
  sockets_.push_back(std::make_unique<Socket>(this, g_steal_pointer(&socket)));
  watch(*sockets_.back());
  return true;
}

void Listener::watch(Socket &socket) {
  const auto ready = [](gint, GIOCondition, gpointer data) -> gboolean {
    auto *socket = static_cast<Socket *>(data);
    socket->listener->accept(*socket);
    return socket->source != 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
  };
  socket.source = g_unix_fd_add(g_socket_get_fd(socket.socket), G_IO_IN, ready, &socket);
}

void Listener::pause(Socket &socket) {
  const auto retry = [](gpointer data) -> gboolean {
    auto *socket = static_cast<Socket *>(data);
    socket->pause = 0;
    socket->listener->watch(*socket);
    return G_SOURCE_REMOVE;
  };
  socket.source = 0;
  socket.pause = g_timeout_add(kPause, retry, &socket);
}

void Listener::accept(Socket &socket) {
  for (int i = 0; i < kBatch; ++i) {
    sockaddr_storage peer = {};
    socklen_t length = sizeof peer;
    auto *address = reinterpret_cast<sockaddr *>(&peer);
    const int accepted =
        accept4(g_socket_get_fd(socket.socket), address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      accept_(accepted, address, length);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause(socket);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

}  // namespace luminance
