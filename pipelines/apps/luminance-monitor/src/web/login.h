// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is let in: programs by a header of each request, people by a form and a cookie.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "web/access.h"
#include "web/exchange.h"
#include "web/guesses.h"
#include "web/page.h"
#include "web/sessions.h"

namespace luminance {

class Login {
 public:
  /// `port`: browsers keep cookies by host, for all of its ports together.
  Login(const WebSettings &settings, uint16_t port, const Page &page);

  /// Nothing is asked for.
  bool is_open() const { return access_.is_open(); }
  /// Other passwords and tokens: then all sessions end. Whether they are others.
  bool change(const WebSettings &settings);

  /// Whether it may be answered; otherwise it is answered here, now or later.
  bool admits(const std::shared_ptr<Exchange> &exchange);
  /// Shows the form, logs in or out; false: something else is wanted.
  bool answer(const std::shared_ptr<Exchange> &exchange);

  /// The session that a request belongs to; empty: none.
  std::string session_of(const Exchange &exchange) const;
  bool knows(const std::string &session) const;
  /// Lines for the log that are due.
  std::vector<std::string> report() { return guesses_.report(g_get_monotonic_time()); }

 private:
  using Held = std::shared_ptr<Exchange>;

  std::string guesser(const Exchange &exchange) const;
  bool is_refused(const Held &exchange, bool wants_form);
  void refuse(const Held &exchange, bool was_wrong);
  void log_in(const Held &exchange);
  void log_out(const Held &exchange);
  Answer form(unsigned status, const std::string &message) const;
  std::string cookie(const Exchange &exchange, const std::string &value, gint64 seconds) const;

  Access access_;
  const bool has_tls_;
  const bool is_behind_proxy_;
  const std::string cookie_;  // its name
  const Page &page_;
  Sessions sessions_;
  Guesses guesses_;
};

}  // namespace luminance
