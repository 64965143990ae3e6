// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../settings/settings.h"

namespace luminance {

class Access {
 public:
  explicit Access(const WebSettings &settings);

  /// Nothing is asked for.
  bool is_open() const { return basic_.empty() && token_.empty(); }
  /// Whether the value of a request's header Authorization is enough.
  bool permits(const std::optional<std::string> &authorization) const;
  /// What the header WWW-Authenticate asks for.
  std::string challenge() const;

 private:
  const std::string basic_;  // user:password in Base64
  const std::string token_;
};

}  // namespace luminance
