// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/access.h"

#include <glib.h>

#include <algorithm>

namespace luminance {
namespace {

/// Compares in a time that does not depend on how much of the secret was guessed.
bool are_same(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() != secret.size();
  for (size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned char>(secret[i] ^ (i < given.size() ? given[i] : 0));
  return difference == 0;
}

/// Returns what a browser sends for Basic authentication.
std::string encoded(const Credentials &credentials) {
  const std::string text = credentials.user + ":" + credentials.password;
  g_autofree gchar *base64 =
      g_base64_encode(reinterpret_cast<const guchar *>(text.data()), text.size());
  return base64;
}

/// Returns what follows this scheme in the value of an Authorization header; nothing for others.
std::optional<std::string> given_by(const char *scheme,
                                    const std::optional<std::string> &authorization) {
  const size_t space = authorization.value_or("").find(' ');
  if (space == std::string::npos) return {};
  if (g_ascii_strcasecmp(authorization->substr(0, space).c_str(), scheme) != 0) return {};
  return authorization->substr(
      std::min(authorization->find_first_not_of(' ', space), authorization->size()));
}

}  // namespace

Access::Access(const WebSettings &settings)
    : user_(settings.basic ? settings.basic->user : ""),
      basic_(settings.basic ? encoded(*settings.basic) : ""),
      token_(settings.token) {}

bool Access::permits(const std::optional<std::string> &authorization) const {
  if (is_open() || permits_basic(authorization)) return true;
  const std::optional<std::string> token = given_by("Bearer", authorization);
  return token && permits_token(*token);
}

std::string Access::user_of(const std::optional<std::string> &authorization) const {
  return permits_basic(authorization) ? user_ : "";
}

bool Access::permits_basic(const std::optional<std::string> &authorization) const {
  const std::optional<std::string> given = given_by("Basic", authorization);
  return given && has_password() && are_same(*given, basic_);
}

bool Access::permits(const Credentials &credentials) const {
  return has_password() && are_same(encoded(credentials), basic_);
}

bool Access::permits_token(const std::string &token) const {
  return has_token() && are_same(token, token_);
}

std::string Access::challenge(bool may_be_basic) const {
  return !may_be_basic || basic_.empty() ? R"(Bearer realm="luminance-monitor")"
                                         : R"(Basic realm="luminance-monitor", charset="UTF-8")";
}

}  // namespace luminance
