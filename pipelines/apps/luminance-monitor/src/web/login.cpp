// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/login.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "web/api.h"
#include "web/head.h"

namespace luminance {
namespace {

constexpr const char *kUnauthorizedMessage = "authentication required";
// Files that the login form needs.
constexpr const char *kPublicFiles[] = {"/login.css", "/login.js", "/dom.js", "/style.css",
                                        "/icon.svg"};

/// Returns whether a browser will show the response to people, rather than a script or a program
/// use it.
bool is_for_people(const Exchange &exchange) {
  return !exchange.is_post() &&
         exchange.header("Accept").value_or("").find("text/html") != std::string::npos;
}

/// Returns the relative path from the request's path to "login": a proxy may serve the page below a
/// path of its own.
std::string way_to_form(const std::string &path) {
  std::string way;
  for (auto slash = std::count(path.begin(), path.end(), '/'); slash > 1; --slash) way += "../";
  return way + "login";
}

void cut(std::string &text, const std::string &name) {
  const std::string begin = "<!--" + name + "-->", end = "<!--/" + name + "-->";
  const size_t from = text.find(begin), to = text.find(end);
  if (from != std::string::npos && to != std::string::npos)
    text.erase(from, to + end.size() - from);
}

void answer_later(const std::shared_ptr<Exchange> &exchange, Answer answer, gint64 delay) {
  if (delay == 0) return exchange->answer(std::move(answer));
  struct Later {
    std::shared_ptr<Exchange> exchange;
    Answer answer;
  };
  const auto due = [](gpointer data) -> gboolean {
    auto *later = static_cast<Later *>(data);
    later->exchange->answer(std::move(later->answer));
    return G_SOURCE_REMOVE;
  };
  const auto let_go = [](gpointer data) { delete static_cast<Later *>(data); };
  g_timeout_add_full(G_PRIORITY_DEFAULT, static_cast<guint>(delay / 1000), due,
                     new Later{exchange, std::move(answer)}, let_go);
}

}  // namespace

bool is_from_own_page(const Exchange &exchange) {
  if (const auto site = exchange.header("Sec-Fetch-Site"))
    return *site == "same-origin" || *site == "none";
  const std::string origin = exchange.header("Origin").value_or("");
  const std::string_view named = authority_of(origin);
  return origin.empty() || (!named.empty() && (named == exchange.host() ||
                                               named == exchange.header("X-Forwarded-Host")));
}

Login::Login(const WebSettings &settings, uint16_t port, const Page &page)
    : access_(settings),
      has_tls_(!settings.certificate.empty()),
      is_behind_proxy_(settings.trust_forwarded_for),
      cookie_("luminance-monitor-" + std::to_string(port)),
      page_(page) {}

bool Login::change(const WebSettings &settings) {
  Access access(settings);
  if (access == access_) return false;
  access_ = std::move(access);
  sessions_.end_all();
  return true;
}

bool Login::admits(const Held &exchange) {
  if (access_.is_open() || !session_of(*exchange).empty()) return true;
  const std::string &path = exchange->path();
  if (std::count(std::begin(kPublicFiles), std::end(kPublicFiles), path) > 0) return true;
  const std::string given = exchange->header("Authorization").value_or("");
  if (!given.empty() && is_refused(exchange, false)) return false;
  if (access_.permits(given)) return true;
  refuse(exchange, !given.empty());
  return false;
}

std::string Login::user_of(const Exchange &exchange) const {
  const std::string session = session_of(exchange);
  return session.empty() ? access_.user_of(exchange.header("Authorization"))
                         : sessions_.user_of(session, g_get_monotonic_time());
}

void Login::answer_session(const Held &exchange) {
  // Otherwise, wrong passwords could be tried here without being counted.
  if (exchange->header("Authorization") && !admits(exchange)) return;
  const Json json = {{"logged_in", !session_of(*exchange).empty()}, {"user", user_of(*exchange)}};
  exchange->answer({200, "application/json", text_of(json)});
}

bool Login::answer(const Held &exchange) {
  const std::string &path = exchange->path();
  if (path == "/api/v1/session") {
    answer_session(exchange);
    return true;
  }
  if (path != "/login" && path != "/logout") return false;
  if (!exchange->is_post()) {
    const bool is_in = access_.is_open() || !session_of(*exchange).empty();
    if (path == "/login" && !is_in)
      exchange->answer(form(200, ""));
    else
      exchange->answer({303, "text/plain", "", "no-store", {{"Location", "./"}}});
  } else if (!is_from_own_page(*exchange)) {
    exchange->answer(failure(403, "this form was sent from another site"));
  } else if (path == "/login") {
    log_in(exchange);
  } else {
    log_out(exchange);
  }
  return true;
}

std::string Login::session_of(const Exchange &exchange) const {
  const std::string secret = exchange.cookie(cookie_).value_or("");
  return knows(secret) ? secret : "";
}

bool Login::knows(const std::string &session) const {
  return sessions_.knows(session, g_get_monotonic_time());
}

/// Returns the key of the client. A proxy on this machine names the client in X-Forwarded-For.
std::string Login::client(const Exchange &exchange) const {
  const std::string peer = client_of(exchange.peer());
  if (!is_behind_proxy_ || !peer_of(exchange.peer()).empty()) return peer;
  const std::string all = exchange.header("X-Forwarded-For").value_or("");
  const size_t comma = all.rfind(',');
  std::string last = all.substr(comma == std::string::npos ? 0 : comma + 1);
  last.erase(0, std::min(last.find_first_not_of(' '), last.size()));
  const std::string named = client_of(last);
  return named.empty() ? peer : named;
}

bool Login::is_refused(const Held &exchange, bool wants_form) {
  const gint64 now = g_get_monotonic_time();
  const std::string who = client(*exchange);
  const gint64 wait = login_limiter_.refusal(who, now);
  if (wait == 0) return false;
  login_limiter_.count_refusal(who, now);
  const std::string seconds = std::to_string(wait / G_USEC_PER_SEC + 1);
  const std::string text =
      "too many wrong passwords or tokens from this address; try again in " + seconds + " s";
  Answer answer = wants_form ? form(429, "T" + text.substr(1) + ".") : failure(429, text);
  answer.headers.emplace_back("Retry-After", seconds);
  exchange->answer(std::move(answer));
  return true;
}

/// Responds to a request that is not permitted. `was_wrong`: it has a wrong password or token.
void Login::refuse(const Held &exchange, bool was_wrong) {
  const std::string &path = exchange->path();
  const gint64 delay =
      was_wrong ? login_limiter_.add(client(*exchange), g_get_monotonic_time()) : gint64{0};
  if (!was_wrong && is_for_people(*exchange) && !access_.has_password())
    return exchange->answer({303, "text/plain", "", "no-store", {{"Location", way_to_form(path)}}});
  // The browser shows the form after its own dialog, which also tries a password in the address.
  const bool is_page = path == "/" || path == "/index.html";
  Answer answer =
      is_page && is_for_people(*exchange) ? form(401, "") : failure(401, kUnauthorizedMessage);
  // The cookie shows that the user logged in with the form, so the browser's dialog is not used.
  const bool may_be_basic = !exchange->cookie(cookie_);
  answer.headers.emplace_back("WWW-Authenticate", access_.challenge(may_be_basic));
  answer_later(exchange, std::move(answer), delay);
}

void Login::log_in(const Held &exchange) {
  if (access_.is_open())
    return exchange->answer({303, "text/plain", "", "no-store", {{"Location", "./"}}});
  if (is_refused(exchange, true)) return;
  const Credentials given = {exchange->field("user").value_or(""),
                             exchange->field("password").value_or("")};
  const std::string token = exchange->field("token").value_or("");
  if (!access_.permits(given) && !access_.permits_token(token)) {
    const gint64 delay = login_limiter_.add(client(*exchange), g_get_monotonic_time());
    return answer_later(
        exchange, form(403, token.empty() ? "Wrong user or password." : "Wrong token."), delay);
  }
  const std::string user = access_.permits(given) ? given.user : "";
  const std::string secret = sessions_.begin(user, g_get_monotonic_time());
  const gint64 seconds = Sessions::kLength / G_USEC_PER_SEC;
  exchange->answer({303,
                    "text/plain",
                    "",
                    "no-store",
                    {{"Location", "./"}, {"Set-Cookie", cookie(*exchange, secret, seconds)}}});
}

void Login::log_out(const Held &exchange) {
  sessions_.end(exchange->cookie(cookie_).value_or(""));
  exchange->answer({303,
                    "text/plain",
                    "",
                    "no-store",
                    {{"Location", "login"}, {"Set-Cookie", cookie(*exchange, "", 0)}}});
}

Answer Login::form(unsigned status, const std::string &message) const {
  std::string text = page_.text("/login.html");
  if (!access_.has_password()) cut(text, "password");
  if (!access_.has_token()) cut(text, "token");
  if (!access_.has_password() || !access_.has_token()) cut(text, "both");
  if (message.empty()) {
    cut(text, "message");
  } else {
    const size_t at = text.find("MESSAGE");
    text.replace(at, std::strlen("MESSAGE"), message);
  }
  return {status, "text/html; charset=utf-8", text};
}

std::string Login::cookie(const Exchange &exchange, const std::string &value,
                          gint64 seconds) const {
  // A proxy may terminate the TLS.
  const bool is_secure = has_tls_ || exchange.header("X-Forwarded-Proto").value_or("") == "https";
  return cookie_ + "=" + value + "; Max-Age=" + std::to_string(seconds) +
         "; Path=/; HttpOnly; SameSite=Strict" + (is_secure ? "; Secure" : "");
}

}  // namespace luminance
