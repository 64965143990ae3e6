// SPDX-License-Identifier: LGPL-2.1-or-later
// Authentication: programs send a header with each request; people log in with a form and get a
// cookie.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "web/access.h"
#include "web/exchange.h"
#include "web/loginlimiter.h"
#include "web/page.h"
#include "web/sessions.h"

namespace luminance {

/// Returns whether the request comes from a page of this server, as far as the browser says. Pages
/// of other sites must not act in the name of a user who visits them.
bool is_from_own_page(const Exchange &exchange);

class Login {
 public:
  /// `port` is part of the cookie's name, because browsers share cookies between the ports of a
  /// host.
  Login(const WebSettings &settings, uint16_t port, const Page &page);

  /// Returns whether no authentication is required.
  bool is_open() const { return access_.is_open(); }
  /// Takes new passwords and tokens. If they differ, ends all sessions and returns true.
  bool change(const WebSettings &settings);

  /// Returns whether the request is permitted; if not, responds to it, now or later.
  bool admits(const std::shared_ptr<Exchange> &exchange);
  /// Responds to requests for the form, the login, the logout and the session. Returns false for
  /// other paths.
  bool answer(const std::shared_ptr<Exchange> &exchange);

  /// Returns the session of a request; empty if there is none.
  std::string session_of(const Exchange &exchange) const;
  bool knows(const std::string &session) const;
  /// Returns the user of a permitted request, by its session or its password. Empty if it has a
  /// token, or if no authentication is required.
  std::string user_of(const Exchange &exchange) const;
  /// Returns the log lines that are due.
  std::vector<std::string> report() { return login_limiter_.report(g_get_monotonic_time()); }

 private:
  using Held = std::shared_ptr<Exchange>;

  std::string client(const Exchange &exchange) const;
  bool is_refused(const Held &exchange, bool wants_form);
  void refuse(const Held &exchange, bool was_wrong);
  void log_in(const Held &exchange);
  void log_out(const Held &exchange);
  void answer_session(const Held &exchange);
  Answer form(unsigned status, const std::string &message) const;
  std::string cookie(const Exchange &exchange, const std::string &value, gint64 seconds) const;

  Access access_;
  const bool has_tls_;
  const bool is_behind_proxy_;
  const std::string cookie_;  // its name
  const Page &page_;
  Sessions sessions_;
  LoginLimiter login_limiter_;
};

}  // namespace luminance
