// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/requests.h"

#include <glib.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "web/login.h"

namespace luminance {
namespace {

constexpr long kMaxComment = 1000, kMaxName = 100;  // characters

/// Throws Refusal if the text is too long, or has control characters that are not `permitted`.
void check_text(const std::string &field, const std::string &text, long max,
                std::string_view permitted) {
  if (g_utf8_strlen(text.c_str(), static_cast<gssize>(text.size())) > max)
    throw Refusal(400, field + " has more than " + std::to_string(max) + " characters");
  const char *const end = text.data() + text.size();
  for (const char *at = text.data(); at < end; at = g_utf8_next_char(at))
    if (g_unichar_iscntrl(g_utf8_get_char(at)) && permitted.find(*at) == std::string_view::npos)
      throw Refusal(400, field + " has a control character");
}

}  // namespace

int64_t number(const Exchange &exchange, const std::string &name, int64_t min, int64_t max,
               int64_t otherwise) {
  const std::optional<std::string> text = exchange.parameter(name);
  if (!text || text->empty()) return otherwise;
  int64_t value = 0;
  const char *end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < min || value > max)
    throw Refusal(
        400, name + " must be a number from " + std::to_string(min) + " to " + std::to_string(max));
  return value;
}

Range range_of(const Exchange &exchange, int64_t now, std::optional<int64_t> length) {
  constexpr int64_t kMaxSafeInteger = int64_t{1} << 53;  // of JavaScript
  Range range = {};
  range.to = number(exchange, "to", 0, kMaxSafeInteger, now);
  range.from = number(exchange, "from", 0, kMaxSafeInteger,
                      length ? std::max<int64_t>(0, range.to - *length) : 0);
  if (range.from > range.to) throw Refusal(400, "from is later than to");
  return range;
}

Json object_of(const Exchange &exchange) {
  Json json = Json::parse(exchange.body(), nullptr, false);
  if (!json.is_object()) throw Refusal(400, "the body must be a JSON object");
  return json;
}

std::string checked_comment(const std::string &text) {
  std::string comment = text;
  comment.erase(std::remove(comment.begin(), comment.end(), '\r'), comment.end());
  check_text("comment", comment, kMaxComment, "\n\t");
  return comment;
}

std::string checked_name(const std::string &field, const std::string &text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = text.find_last_not_of(' ') + 1;  // 0: the text has only spaces
  const std::string name = text.substr(begin, std::max(begin, end) - begin);
  check_text(field, name, kMaxName, "");
  return name;
}

bool is_own_post(Exchange &exchange) {
  if (!exchange.is_post()) {
    Answer answer = failure(405, "only POST is allowed");
    answer.headers.emplace_back("Allow", "POST");
    exchange.answer(std::move(answer));
    return false;
  }
  if (!is_from_own_page(exchange)) throw Refusal(403, "this request was sent from another site");
  return true;
}

}  // namespace luminance
