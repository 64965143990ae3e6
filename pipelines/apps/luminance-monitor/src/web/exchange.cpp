// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/exchange.h"

#include <glib.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

namespace luminance {
namespace {

constexpr size_t kChunk = 16384;
// Paths that accept POST, besides those of cameras and incidents below.
constexpr const char *kForms[] = {"/login", "/logout", "/api/v1/notifications/test"};
constexpr std::string_view kCameras = "/api/v1/cameras/";
constexpr std::string_view kOfCameras[] = {"/maintenance", "/reference"};
constexpr std::string_view kIncidents = "/api/v1/incidents/";

bool is_incident(std::string_view path) {
  return path.size() > kIncidents.size() && path.substr(0, kIncidents.size()) == kIncidents &&
         path.find('/', kIncidents.size()) == path.npos;
}

bool is_of_camera(std::string_view path) {
  if (path.substr(0, kCameras.size()) != kCameras) return false;
  const std::string_view rest = path.substr(kCameras.size());
  return std::any_of(std::begin(kOfCameras), std::end(kOfCameras), [&](std::string_view what) {
    return rest.size() > what.size() && rest.substr(rest.size() - what.size()) == what;
  });
}

bool may_be_posted(std::string_view path) {
  return std::count(std::begin(kForms), std::end(kForms), path) > 0 || is_incident(path) ||
         is_of_camera(path);
}

// Headers of every response. The page loads only files of this server; no other site may embed it.
constexpr std::pair<const char *, const char *> kCommonHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
     "object-src 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    // Forms of the page are sent with their origin, which is checked. Other sites get no Referer.
    {"Referrer-Policy", "same-origin"},
    {"X-Content-Type-Options", "nosniff"},
};

int socket_of(MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// Returns the decoded text; nothing if it is malformed, not UTF-8, or has a NUL.
std::optional<std::string> decoded(std::string text, bool is_form) {
  if (is_form) std::replace(text.begin(), text.end(), '+', ' ');
  g_autofree gchar *plain = g_uri_unescape_string(text.c_str(), nullptr);
  if (plain == nullptr || !g_utf8_validate(plain, -1, nullptr)) return {};
  return plain;
}

/// Returns "/path?query" for the target "http://host/path?query", as RFC 9112 demands.
std::string_view without_origin(std::string_view target) {
  const std::string_view authority = authority_of(target);
  if (authority.empty()) return target;
  target.remove_prefix(static_cast<size_t>(authority.data() - target.data()) + authority.size());
  return target.empty() ? "/" : target;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Parses "a=b&c=d"; returns nothing if the text is malformed.
std::optional<Pairs> pairs_of(std::string_view text) {
  Pairs pairs;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(std::string(pair.substr(0, equals)), true);
    const auto value = decoded(std::string(pair.substr(std::min(equals + 1, pair.size()))), true);
    if (!name || !value) return {};
    pairs.emplace_back(*name, *value);
  }
  return pairs;
}

std::optional<std::string> find(const Pairs &pairs, const std::string &name) {
  for (const auto &[key, value] : pairs)
    if (key == name) return value;
  return {};
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
  Answer answer = {status, "application/json",
                   body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
  if (status == MHD_HTTP_SERVICE_UNAVAILABLE) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

Exchange::Exchange(MHD_Connection *connection, ConnectionLimiter &limiter, GSource *loop,
                   const char *target)
    : connection_(connection),
      limiter_(limiter),
      loop_(loop),
      socket_(socket_of(connection)),
      target_(target, strnlen(target, kTarget + 1)) {
  line_.target = target;
  line_.target_size = std::strlen(target);
}

std::optional<Answer> Exchange::check(const char *method, const char *version) {
  is_checked_ = true;
  is_head_ = std::strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
  is_post_ = std::strcmp(method, MHD_HTTP_METHOD_POST) == 0;
  line_.method = method;
  line_.version = version;
  switch (admission()) {
    case Admission::kFull: return failure(503, "too many connections");
    case Admission::kPeerLimit: return failure(429, "too many connections from this address");
    case Admission::kAdmitted: break;
  }
  // Before anything else, because servers disagree on the meaning of a malformed head.
  if (!is_well_formed(connection_, line_)) return failure(400, "malformed request head");
  if (const std::string fault = find_header_error(connection_); !fault.empty())
    return failure(400, fault);
  std::optional<Answer> wrong =
      target_.size() > kTarget ? failure(414, "the path is too long") : parse();
  const bool is_change = is_post_ && may_be_posted(path_);
  if (!is_change && !is_head_ && std::strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
    Answer answer = failure(405, "only GET and HEAD are allowed");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  return wrong ? wrong : check_headers();
}

std::optional<Answer> Exchange::check_headers() {
  const auto *head = MHD_get_connection_info(connection_, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (head == nullptr || head->header_size > kHead)
    return failure(431, "the request headers are too large");
  const std::optional<std::string> host = header("Host");
  if (host && !is_authority(*host)) return failure(400, "malformed Host header");
  host_ = host.value_or("");
  const std::string_view named = authority_of(target_);
  if (!named.empty() && named != host_)
    return failure(400, "the request target and the Host header differ");
  if (count_header(connection_, "Transfer-Encoding") > 0)
    return failure(413, "chunked request bodies are not accepted");
  const std::string length = header("Content-Length").value_or("0");
  size_t size = 0;
  const auto end = std::from_chars(length.data(), length.data() + length.size(), size);
  if (end.ec != std::errc() || size > kBody) return failure(413, "the request body is too large");
  return {};
}

std::optional<Answer> Exchange::parse() {
  const std::string_view target = without_origin(target_);
  const size_t question = std::min(target.find('?'), target.size());
  const auto path = decoded(std::string(target.substr(0, question)), false);
  if (!path || path->empty() || path->front() != '/') return failure(400, "malformed path");
  path_ = *path;
  const std::optional<Pairs> pairs = pairs_of(target.substr(std::min(question + 1, target.size())));
  if (!pairs) return failure(400, "malformed query");
  parameters_ = *pairs;
  return {};
}

void Exchange::add_body(const char *data, size_t size) {
  if (is_post_) body_.append(data, size);
}

std::optional<std::string> Exchange::parameter(const std::string &name) const {
  return find(parameters_, name);
}

std::optional<std::string> Exchange::field(const std::string &name) const {
  const std::string type = header("Content-Type").value_or("");
  if (type.substr(0, type.find(';')) != "application/x-www-form-urlencoded") return {};
  const std::optional<Pairs> pairs = pairs_of(body_);
  return pairs ? find(*pairs, name) : std::nullopt;
}

std::optional<std::string> Exchange::cookie(const std::string &name) const {
  const std::string all = header("Cookie").value_or("");
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(';', at), all.size());
    at = std::min(all.find_first_not_of(' ', at), end);
    const size_t equals = all.find('=', at);
    if (equals < end && all.compare(at, equals - at, name) == 0)
      return all.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return {};
}

const sockaddr *Exchange::peer() const {
  if (connection_ == nullptr) return nullptr;
  const auto *info = MHD_get_connection_info(connection_, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info != nullptr ? info->client_addr : nullptr;
}

std::optional<std::string> Exchange::header(const char *name) const {
  if (connection_ == nullptr) return {};
  const char *value = MHD_lookup_connection_value(connection_, MHD_HEADER_KIND, name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

void Exchange::answer(Answer answer, std::shared_ptr<Chunks> chunks) {
  if (connection_ == nullptr || answer_) return;
  answer_ = std::move(answer);
  chunks_ = std::move(chunks);
  // The deadline to make the response may have passed, and the sweep may run before it is sent.
  limiter_.set_deadline(socket_, g_get_monotonic_time() + ConnectionLimiter::kAnswer);
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
  for (const auto &[name, value] : kCommonHeaders)
    MHD_add_response_header(response.get(), name, value);
  for (const auto &[name, value] : answer_->headers)
    MHD_add_response_header(response.get(), name.c_str(), value.c_str());
  if (ends) MHD_add_response_header(response.get(), "Connection", "close");
  limiter_.set_deadline(socket_, chunks_ != nullptr
                                     ? ConnectionLimiter::kNever
                                     : g_get_monotonic_time() + ConnectionLimiter::kAnswer);
  return MHD_queue_response(connection_, answer_->status, response.get());
}

void Exchange::wait() {
  waits_ = true;
  // The request's deadline is no use here: on a connection that was idle, it may be nearly over.
  if (!is_streaming())
    limiter_.set_deadline(socket_, g_get_monotonic_time() + ConnectionLimiter::kMaking);
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
