// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of passwords and tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "settings/settings.h"

namespace luminance {

class Access {
 public:
  explicit Access(const WebSettings &settings);

  /// Returns whether no authentication is required.
  bool is_open() const { return basic_.empty() && token_.empty(); }
  /// Returns whether the value of a request's Authorization header permits reading.
  bool permits(const std::optional<std::string> &authorization) const;
  /// Returns the user whose correct password is in this value; empty if there is none.
  std::string user_of(const std::optional<std::string> &authorization) const;
  bool permits(const Credentials &credentials) const;
  bool permits_token(const std::string &token) const;
  bool has_password() const { return !basic_.empty(); }
  bool has_token() const { return !token_.empty(); }
  bool operator==(const Access &other) const {
    return basic_ == other.basic_ && token_ == other.token_;
  }
  /// Returns the value of the WWW-Authenticate header. For `Basic`, browsers show their own dialog.
  std::string challenge(bool may_be_basic) const;

 private:
  bool permits_basic(const std::optional<std::string> &authorization) const;

  std::string user_;
  std::string basic_;  // user:password in Base64
  std::string token_;
};

}  // namespace luminance
