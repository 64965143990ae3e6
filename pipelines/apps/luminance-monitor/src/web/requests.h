// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers of request handlers: refusals, parameters and bodies.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "web/api.h"
#include "web/exchange.h"

namespace luminance {

/// A request was refused. The server answers with the status and with the text as the error.
struct Refusal : std::runtime_error {
  Refusal(unsigned code, const std::string &text) : std::runtime_error(text), status(code) {}
  unsigned status;
};

/// Returns a parameter that is a number from `min` to `max`, or `otherwise` without the parameter.
/// Throws Refusal for other values.
int64_t number(const Exchange &exchange, const std::string &name, int64_t min, int64_t max,
               int64_t otherwise);

/// A range of times, in milliseconds since 1970.
struct Range {
  int64_t from, to;
};

/// Returns the parameters `from` and `to`. Without `to`, the range ends now; without `from`, it
/// begins `length` before its end, or at 0 without a length. Throws Refusal.
Range range_of(const Exchange &exchange, int64_t now, std::optional<int64_t> length);

/// Returns the body as JSON. Throws Refusal if it is not a JSON object in UTF-8.
Json object_of(const Exchange &exchange);

/// Returns a comment with "\n" as its only kind of line break. Throws Refusal if it is too long, or
/// has control characters.
std::string checked_comment(const std::string &text);
/// Returns the name of a person without spaces around it; it may be empty. `field` is used in
/// errors. Throws Refusal if the name is too long, or has control characters or line breaks.
std::string checked_name(const std::string &field, const std::string &text);

/// Answers all methods but POST with 405 and returns false. Throws Refusal if a page of another
/// site sent the request.
bool is_own_post(Exchange &exchange);

}  // namespace luminance
