// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/access.h"

#include <glib.h>

#include <algorithm>

namespace luminance {
namespace {

/// Takes as long whatever they have in common.
bool are_same(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() != secret.size();
  for (size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned char>(secret[i] ^ (i < given.size() ? given[i] : 0));
  return difference == 0;
}

/// What a browser sends.
std::string encoded(const Credentials &credentials) {
  const std::string text = credentials.user + ":" + credentials.password;
  g_autofree gchar *base64 =
      g_base64_encode(reinterpret_cast<const guchar *>(text.data()), text.size());
  return base64;
}

}  // namespace

Access::Access(const WebSettings &settings)
    : basic_(settings.basic ? encoded(*settings.basic) : ""), token_(settings.token) {}

bool Access::permits(const std::optional<std::string> &authorization) const {
  if (is_open()) return true;
  if (!authorization) return false;
  const size_t space = authorization->find(' ');
  if (space == std::string::npos) return false;
  const std::string scheme = authorization->substr(0, space);
  const std::string given = authorization->substr(
      std::min(authorization->find_first_not_of(' ', space), authorization->size()));
  if (!basic_.empty() && g_ascii_strcasecmp(scheme.c_str(), "Basic") == 0)
    return are_same(given, basic_);
  if (!token_.empty() && g_ascii_strcasecmp(scheme.c_str(), "Bearer") == 0)
    return are_same(given, token_);
  return false;
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
