// SPDX-License-Identifier: LGPL-2.1-or-later
// Work on a camera. Its picture is judged as always, but nobody is notified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace luminance {

struct Maintenance {
  int64_t since = 0;  // in milliseconds since 1970
  /// When it ends by itself; empty: somebody has to end it.
  std::optional<int64_t> until;
  std::string comment;  // any text; untrusted

  bool is_over(int64_t now) const { return until && *until <= now; }
};

}  // namespace luminance
