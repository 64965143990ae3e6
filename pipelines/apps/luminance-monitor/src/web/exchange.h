// SPDX-License-Identifier: LGPL-2.1-or-later
// A request and the response to it. Main thread only.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/connectionlimiter.h"
#include "web/head.h"

namespace luminance {

struct Answer {
  unsigned status = MHD_HTTP_OK;
  std::string type = "application/json";
  std::string body;
  std::string cache = "no-store";  // Cache-Control
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Returns the response {"error": text}, with Retry-After for 503.
Answer failure(unsigned status, const std::string &text);

/// A response body that is sent in parts and has no end.
class Chunks {
 public:
  virtual ~Chunks() = default;
  /// Writes the next part, at most `room` bytes, and returns its size. After 0, it is called again
  /// when Exchange::wake() has been called, otherwise when the previous part has been sent.
  virtual size_t take(char *to, size_t room) = 0;
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// `loop` runs the connection; `target` is the target in the request line.
  Exchange(MHD_Connection *connection, ConnectionLimiter &limiter, GSource *loop,
           const char *target);

  /// Returns the error response if the request is refused. Call once, when its head has arrived.
  std::optional<Answer> check(const char *method, const char *version);
  bool is_checked() const { return is_checked_; }
  /// Takes a part of the body, whose size check() has limited. Only the body of a POST is kept.
  void add_body(const char *data, size_t size);

  Admission admission() const { return limiter_.admission(socket_); }
  bool is_head() const { return is_head_; }
  bool is_post() const { return is_post_; }
  /// Returns the Host header; empty without one.
  const std::string &host() const { return host_; }
  /// Returns the peer's address; null if the peer has disconnected.
  const sockaddr *peer() const;
  const std::string &path() const { return path_; }
  std::optional<std::string> parameter(const std::string &name) const;
  std::optional<std::string> header(const char *name) const;
  std::optional<std::string> cookie(const std::string &name) const;
  /// Returns the body that was posted.
  const std::string &body() const { return body_; }
  /// Returns a field of the posted form.
  std::optional<std::string> field(const std::string &name) const;

  /// Sets the response. Call once, now or later; ignored if the peer has disconnected.
  void answer(Answer answer, std::shared_ptr<Chunks> chunks = nullptr);
  /// Continues a response whose chunks have more data.
  void wake();
  /// Keeps an object until the exchange is over: the response was sent, or the peer disconnected.
  void keep(std::shared_ptr<void> held) { held_ = std::move(held); }
  /// Closes the connection.
  void drop();
  bool is_dropped() const { return is_dropped_; }

  // For Http:
  bool waits() const { return waits_; }
  bool is_streaming() const { return chunks_ != nullptr; }
  bool is_answered() const { return answer_.has_value(); }
  /// Sends the response. `ends`: closes the connection afterwards.
  MHD_Result send(bool ends);
  /// Suspends the connection until answer() or wake().
  void wait();
  void finish();  // the connection has ended, or has its next request

 private:
  static constexpr size_t kTarget = 4096, kHead = 16384, kBody = 16384;

  MHD_Response *make_response();
  std::optional<Answer> parse();
  std::optional<Answer> check_headers();

  MHD_Connection *connection_;  // null: the exchange is finished
  ConnectionLimiter &limiter_;
  GSource *const loop_;
  const int socket_;
  const std::string target_;
  RequestLine line_;
  std::string path_, host_, body_;
  std::vector<std::pair<std::string, std::string>> parameters_;
  bool is_checked_ = false, is_head_ = false, is_post_ = false, waits_ = false, is_dropped_ = false;
  std::optional<Answer> answer_;
  std::shared_ptr<Chunks> chunks_;
  std::shared_ptr<void> held_;
};

}  // namespace luminance
