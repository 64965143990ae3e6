// SPDX-License-Identifier: LGPL-2.1-or-later
// A message to people and programs: its subject, its text, and its JSON, which API.md describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "notify/alert.h"

namespace luminance {

struct Message {
  std::string id;    // the same id when the message is sent again
  int64_t time = 0;  // milliseconds since 1970 (UTC)
  bool is_test = false;
  std::vector<Alert> alerts;
  size_t omitted = 0;  // alerts that were discarded before
};

/// Returns the subject, in one line.
std::string subject_of(const Message &message);
/// Returns the text: a line for each alert, with times in the machine's time zone.
std::string body_of(const Message &message);
std::string json_of(const Message &message);

}  // namespace luminance
