// SPDX-License-Identifier: LGPL-2.1-or-later
// What handlers of requests have in common: refusals and parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "web/api.h"
#include "web/exchange.h"

namespace luminance {

/// What becomes an answer: the text is its error.
struct Refusal : std::runtime_error {
  Refusal(unsigned code, const std::string &text) : std::runtime_error(text), status(code) {}
  unsigned status;
};

/// Throws Refusal for another number, or none; `otherwise` without the parameter.
int64_t number(const Exchange &exchange, const std::string &name, int64_t min, int64_t max,
               int64_t otherwise);

/// In milliseconds since 1970.
struct Range {
  int64_t from, to;
};

/// The parameters `from` and `to`: from `length` before it, or the beginning, until now. Throws
/// Refusal.
Range range_of(const Exchange &exchange, int64_t now, std::optional<int64_t> length);

/// The body, which has to be UTF-8. Throws Refusal if it is no JSON object.
Json object_of(const Exchange &exchange);

/// What somebody wrote, with line breaks of one kind. Throws Refusal if it is too long, or has control
/// characters.
std::string checked_comment(const std::string &text);
/// The name of a person, in one line and without spaces around it; may be empty. `field` names it in
/// errors. Throws Refusal as above.
std::string checked_name(const std::string &field, const std::string &text);

/// Answers all methods but POST with 405 and returns false. Throws Refusal if a page of somebody
/// else sent it.
bool is_own_post(Exchange &exchange);

}  // namespace luminance
