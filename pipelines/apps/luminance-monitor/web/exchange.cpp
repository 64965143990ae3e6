// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exchange.h"

#include <glib.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

namespace luminance {
namespace {

constexpr size_t kChunk = 16384;

// In every answer. The page is all in files of its own, and nobody else shows it.
constexpr std::pair<const char *, const char *> kAlways[] = {
    {"Content-Security-Policy",
     "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "object-src 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

int socket_of(MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// Decoded; nothing where it is wrong, no UTF-8, or has a NUL.
std::optional<std::string> decoded(std::string text, bool is_form) {
  if (is_form) std::replace(text.begin(), text.end(), '+', ' ');
  g_autofree gchar *plain = g_uri_unescape_string(text.c_str(), nullptr);
  if (plain == nullptr || !g_utf8_validate(plain, -1, nullptr)) return {};
  return plain;
}

/// Of "http://host/path?query", which a server has to understand as well, "/path?query".
std::string_view without_origin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.substr(0, scheme.size()) != scheme) continue;
    const size_t path = target.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

struct Reading {
  std::weak_ptr<Exchange> exchange;
  std::shared_ptr<Chunks> chunks;
};

ssize_t read(void *data, uint64_t, char *to, size_t room) try {
  const auto *reading = static_cast<Reading *>(data);
  const std::shared_ptr<Exchange> exchange = reading->exchange.lock();
  if (exchange == nullptr || exchange->is_dropped()) return MHD_CONTENT_READER_END_WITH_ERROR;
  const size_t size = reading->chunks->take(to, room);
  if (size == 0) exchange->wait();
  return static_cast<ssize_t>(size);
} catch (const std::exception &) {
  return MHD_CONTENT_READER_END_WITH_ERROR;
}

}  // namespace

Answer failure(unsigned status, const std::string &text) {
  const nlohmann::json body = {{"error", text}};
  return {status, "application/json",
          body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

Exchange::Exchange(MHD_Connection *connection, Gate &gate, GSource *loop, const char *target)
    : connection_(connection),
      gate_(gate),
      loop_(loop),
      socket_(socket_of(connection)),
      target_(target, strnlen(target, kTarget + 1)) {}

std::optional<Answer> Exchange::check(const std::string &method) {
  is_checked_ = true;
  is_head_ = method == MHD_HTTP_METHOD_HEAD;
  switch (room()) {
    case Room::kTaken: return failure(503, "too many connections");
    case Room::kTakenByPeer: return failure(429, "too many connections from this address");
    case Room::kThere: break;
  }
  if (!is_head_ && method != MHD_HTTP_METHOD_GET) {
    Answer answer = failure(405, "only GET and HEAD");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (std::optional<Answer> wrong = check_headers()) return wrong;
  return parse();
}

std::optional<Answer> Exchange::check_headers() {
  if (target_.size() > kTarget) return failure(414, "the path is too long");
  const auto *head = MHD_get_connection_info(connection_, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (head == nullptr || head->header_size > kHead) return failure(431, "too many headers");
  // What has two meanings is no request: another server in between may have taken the other one.
  for (const char *name : {"Host", "Content-Length", "Transfer-Encoding", "Authorization"})
    if (count(name) > 1) return failure(400, std::string("more than one ") + name);
  if (count("Transfer-Encoding") > 0) return failure(413, "a request has no body here");
  const std::string length = header("Content-Length").value_or("0");
  size_t size = 0;
  const auto end = std::from_chars(length.data(), length.data() + length.size(), size);
  if (end.ec != std::errc() || size > kBody) return failure(413, "a request has no body here");
  return {};
}

std::optional<Answer> Exchange::parse() {
  const std::string_view target = without_origin(target_);
  const size_t question = std::min(target.find('?'), target.size());
  const auto path = decoded(std::string(target.substr(0, question)), false);
  if (!path || path->empty() || path->front() != '/') return failure(400, "the path is malformed");
  path_ = *path;
  if (question < target.size() && !parse_query(target.substr(question + 1)))
    return failure(400, "the query is malformed");
  return {};
}

bool Exchange::parse_query(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(std::string(pair.substr(0, equals)), true);
    const auto value = decoded(std::string(pair.substr(std::min(equals + 1, pair.size()))), true);
    if (!name || !value) return false;
    parameters_.emplace_back(*name, *value);
  }
  return true;
}

std::optional<std::string> Exchange::parameter(const std::string &name) const {
  for (const auto &[key, value] : parameters_)
    if (key == name) return value;
  return {};
}

std::optional<std::string> Exchange::header(const char *name) const {
  if (connection_ == nullptr) return {};
  const char *value = MHD_lookup_connection_value(connection_, MHD_HEADER_KIND, name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

size_t Exchange::count(const char *header) const {
  std::pair<const char *, size_t> wanted = {header, 0};
  const auto add = [](void *data, MHD_ValueKind, const char *key, const char *) {
    auto *wanted = static_cast<std::pair<const char *, size_t> *>(data);
    if (g_ascii_strcasecmp(key, wanted->first) == 0) ++wanted->second;
    return MHD_YES;
  };
  MHD_get_connection_values(connection_, MHD_HEADER_KIND, add, &wanted);
  return wanted.second;
}

void Exchange::answer(Answer answer, std::shared_ptr<Chunks> chunks) {
  if (connection_ == nullptr || answer_) return;
  answer_ = std::move(answer);
  chunks_ = std::move(chunks);
  wake();
}

MHD_Response *Exchange::make_response() {
  if (chunks_ != nullptr && !is_head_) {
    const auto let_go = [](void *reading) { delete static_cast<Reading *>(reading); };
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kChunk, read,
                                             new Reading{weak_from_this(), chunks_}, let_go);
  }
  auto *body = new std::string(std::move(answer_->body));
  const auto let_go = [](void *body) { delete static_cast<std::string *>(body); };
  return MHD_create_response_from_buffer_with_free_callback_cls(body->size(), body->data(), let_go,
                                                                body);
}

MHD_Result Exchange::send(bool ends) {
  const std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)> response(
      make_response(), MHD_destroy_response);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response.get(), "Content-Type", answer_->type.c_str());
  MHD_add_response_header(response.get(), "Cache-Control", answer_->cache.c_str());
  for (const auto &[name, value] : kAlways) MHD_add_response_header(response.get(), name, value);
  for (const auto &[name, value] : answer_->headers)
    MHD_add_response_header(response.get(), name.c_str(), value.c_str());
  if (ends) MHD_add_response_header(response.get(), "Connection", "close");
  gate_.set_deadline(socket_,
                     chunks_ != nullptr ? Gate::kNever : g_get_monotonic_time() + Gate::kAnswer);
  return MHD_queue_response(connection_, answer_->status, response.get());
}

void Exchange::wait() {
  waits_ = true;
  // Not what is left of the request's time: one on a connection that was idle had next to none.
  if (!is_streaming()) gate_.set_deadline(socket_, g_get_monotonic_time() + Gate::kMaking);
  MHD_suspend_connection(connection_);
}

void Exchange::wake() {
  if (connection_ == nullptr || !waits_) return;
  waits_ = false;
  MHD_resume_connection(connection_);
  g_source_set_ready_time(loop_, 0);
}

void Exchange::drop() {
  if (connection_ == nullptr) return;
  is_dropped_ = true;
  shutdown(socket_, SHUT_RDWR);
  wake();
}

void Exchange::finish() {
  connection_ = nullptr;
  chunks_.reset();
  held_.reset();
}

}  // namespace luminance
