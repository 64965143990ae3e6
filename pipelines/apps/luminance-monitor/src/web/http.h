// SPDX-License-Identifier: LGPL-2.1-or-later
// HTTP/1.1 with libmicrohttpd on the main loop: one thread, with limits on all resources that a
// peer can use.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "settings/settings.h"
#include "web/exchange.h"
#include "web/listener.h"

namespace luminance {

class Http {
 public:
  /// Responds to the exchange, now or later. An exception becomes a response 500.
  using Handler = std::function<void(const std::shared_ptr<Exchange> &)>;

  /// Starts listening. Throws ListenError or SettingsError.
  Http(const WebSettings &settings, Handler handler);
  ~Http();
  Http(const Http &) = delete;
  Http &operator=(const Http &) = delete;

  const std::string &address() const { return address_; }
  bool has_tls() const { return has_tls_; }
  uint16_t port() const { return listener_->port(); }
  bool is_loopback() const { return listener_->is_loopback(); }

 private:
  using Held = std::shared_ptr<Exchange>;

  void start(const WebSettings &settings);
  void attach();
  void accept(int socket, const sockaddr *peer, socklen_t length);
  void sweep();
  void check_deadline(int socket, gint64 now);
  MHD_Result proceed(const Held &exchange, const char *method, const char *version,
                     const char *body, size_t *size);
  void call(const Held &exchange);
  static void *begin(void *self, const char *target, MHD_Connection *connection);
  static MHD_Result on_request(void *self, MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *body,
                               size_t *size, void **exchange);
  static void on_completed(void *self, MHD_Connection *connection, void **exchange,
                           MHD_RequestTerminationCode code);
  static void on_connection(void *self, MHD_Connection *connection, void **,
                            MHD_ConnectionNotificationCode code);

  const Handler handler_;
  ConnectionLimiter limiter_;
  MHD_Daemon *daemon_ = nullptr;
  GSource *source_ = nullptr;
  guint sweep_ = 0;
  std::unordered_map<int, std::weak_ptr<Exchange>> exchanges_;  // current exchanges, by socket
  std::unique_ptr<Listener> listener_;
  const bool has_tls_;
  std::string address_;
};

}  // namespace luminance
