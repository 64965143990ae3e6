// SPDX-License-Identifier: LGPL-2.1-or-later
// The listening sockets, on the main loop.
#pragma once

#include <gio/gio.h>
#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace luminance {

/// The address cannot be listened on now, but perhaps later. The text has the address and cause.
struct ListenError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Listener {
 public:
  /// Takes ownership of the socket, which is non-blocking.
  using Accept = std::function<void(int socket, const sockaddr *peer, socklen_t length)>;

  /// Listens on all addresses of a name. Throws ListenError, or SettingsError if the address will
  /// not work later either.
  Listener(const std::string &address, uint16_t port, Accept accept);
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;

  uint16_t port() const { return port_; }
  /// Returns, for example, "127.0.0.1:8080", "[::1]:8080" or "localhost:8080".
  std::string host() const;
  /// Returns whether only programs on this machine can connect.
  bool is_loopback() const { return is_loopback_; }

 private:
  struct Socket {
    Socket(Listener *owner, GSocket *listening) : listener(owner), socket(listening) {}
    ~Socket();
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;

    Listener *listener;
    GSocket *socket;
    guint source = 0;  // 0: paused
    guint pause = 0;
  };

  bool listen(GInetAddress *address);
  void watch(Socket &socket);
  void pause(Socket &socket);
  void accept(Socket &socket);

  const std::string address_;
  uint16_t port_;
  const Accept accept_;
  bool is_loopback_ = true;
  std::vector<std::unique_ptr<Socket>> sockets_;
};

}  // namespace luminance
