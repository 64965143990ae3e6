// SPDX-License-Identifier: LGPL-2.1-or-later
// A request that is whole, and the answer to it. Main thread only.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/gate.h"
#include "web/head.h"

namespace luminance {

struct Answer {
  unsigned status = MHD_HTTP_OK;
  std::string type = "application/json";
  std::string body;
  std::string cache = "no-store";  // Cache-Control
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// {"error": text}; of a 503, with the time after which the client may ask again.
Answer failure(unsigned status, const std::string &text);

/// An answer without an end.
class Chunks {
 public:
  virtual ~Chunks() = default;
  /// Writes what is next, `room` bytes at most, and returns their number; 0: nothing now, and
  /// Exchange::wake() says when there is. Called when what it wrote before has been taken.
  virtual size_t take(char *to, size_t room) = 0;
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// `loop` runs the connection; `target` is as in the request line.
  Exchange(MHD_Connection *connection, Gate &gate, GSource *loop, const char *target);

  /// Why the request cannot be answered; nothing where it can. Once its head has come.
  std::optional<Answer> check(const char *method, const char *version);
  bool is_checked() const { return is_checked_; }
  /// What comes of its body, no more than check() lets pass; only a form's is kept.
  void add_body(const char *data, size_t size);

  Room room() const { return gate_.room(socket_); }
  bool is_head() const { return is_head_; }
  bool is_post() const { return is_post_; }
  /// As the peer called this server; empty where it did not.
  const std::string &host() const { return host_; }
  /// Null where it has gone.
  const sockaddr *peer() const;
  const std::string &path() const { return path_; }
  std::optional<std::string> parameter(const std::string &name) const;
  std::optional<std::string> header(const char *name) const;
  std::optional<std::string> cookie(const std::string &name) const;
  /// Of the form that was posted.
  std::optional<std::string> field(const std::string &name) const;

  /// Once, now or later; where the peer has gone, it is forgotten.
  void answer(Answer answer, std::shared_ptr<Chunks> chunks = nullptr);
  /// The source has something to take.
  void wake();
  /// Keeps it until the exchange is over: the answer is taken, or the peer has gone.
  void keep(std::shared_ptr<void> held) { held_ = std::move(held); }
  /// Cuts the connection.
  void drop();
  bool is_dropped() const { return is_dropped_; }

  // For the server.
  bool waits() const { return waits_; }
  bool is_streaming() const { return chunks_ != nullptr; }
  bool is_answered() const { return answer_.has_value(); }
  /// Sends the answer. `ends`: after it the connection is closed.
  MHD_Result send(bool ends);
  /// Until answer() or wake().
  void wait();
  void finish();  // the connection is gone, or has another request

 private:
  static constexpr size_t kTarget = 4096, kHead = 16384, kBody = 16384;

  MHD_Response *make_response();
  std::optional<Answer> parse();
  std::optional<Answer> check_headers();

  MHD_Connection *connection_;  // null: finished
  Gate &gate_;
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
