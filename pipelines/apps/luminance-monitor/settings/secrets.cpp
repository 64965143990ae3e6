// SPDX-License-Identifier: LGPL-2.1-or-later
#include "secrets.h"

#include <glib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace luminance {
namespace {

constexpr gsize kLongestSecret = 4096;

using Text = std::unique_ptr<gchar, decltype(&g_free)>;
Text own(gchar *text) { return Text(text, g_free); }
std::string text_of(const gchar *text) { return text != nullptr ? text : ""; }

std::string decoded(const gchar *text) {
  const Text plain = own(g_uri_unescape_string(text, nullptr));
  if (plain == nullptr)
    throw SettingsError("a URI's user or password is not percent-encoded right");
  return plain.get();
}

void replace_all(std::string &text, const std::string &what, const std::string &by) {
  if (what.empty()) return;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// Where the value of a password begins and ends, as in "/user=a&pwd=b" and "/user=a_password=b_".
struct Span {
  size_t begin, end;
};
std::optional<Span> find_password(const std::string &text, size_t from) {
  std::string lower = text;
  for (char &c : lower) c = g_ascii_tolower(c);
  std::optional<Span> first;
  for (const char *key : {"password=", "passwd=", "pass=", "pwd=", "passphrase=", "token="}) {
    const size_t at = lower.find(key, from);
    if (at == std::string::npos) continue;
    const size_t begin = at + std::strlen(key), end = text.find_first_of("&/?#; \"", begin);
    if (!first || begin < first->begin) first = Span{begin, std::min(end, text.size())};
  }
  return first;
}

std::string without_passwords(std::string text) {
  for (auto span = find_password(text, 0); span; span = find_password(text, span->begin))
    text.replace(span->begin, span->end - span->begin, "***");
  return text;
}

struct UriParts {
  gchar *scheme = nullptr, *user = nullptr, *password = nullptr, *host = nullptr, *path = nullptr,
        *query = nullptr, *fragment = nullptr;
  gint port = -1;

  ~UriParts() {
    for (gchar *part : {scheme, user, password, host, path, query, fragment}) g_free(part);
  }
  std::string join(const gchar *with_query, const gchar *with_fragment) const {
    return own(g_uri_join(G_URI_FLAGS_ENCODED, scheme, nullptr, host, port, path, with_query,
                          with_fragment))
        .get();
  }
};

}  // namespace

SplitUri split_uri(const std::string &uri) {
  constexpr auto kFlags = static_cast<GUriFlags>(G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD |
                                                 G_URI_FLAGS_PARSE_RELAXED);
  UriParts parts;
  if (!g_uri_split_with_user(uri.c_str(), kFlags, &parts.scheme, &parts.user, &parts.password,
                             nullptr, &parts.host, &parts.port, &parts.path, &parts.query,
                             &parts.fragment, nullptr) ||
      parts.scheme == nullptr)
    throw SettingsError("a camera's URI is none");  // it may hold a password: nothing of it here
  SplitUri split;
  split.uri = parts.join(parts.query, parts.fragment);
  split.location = without_passwords(parts.join(nullptr, nullptr));
  if (parts.user != nullptr && (*parts.user != '\0' || parts.password != nullptr))
    split.credentials =
        Credentials{decoded(parts.user),
                    text_of(parts.password).empty() ? std::string() : decoded(parts.password)};
  return split;
}

bool holds_password(const SplitUri &split) {
  if (split.credentials && !split.credentials->password.empty()) return true;
  for (auto span = find_password(split.uri, 0); span; span = find_password(split.uri, span->end))
    if (span->end > span->begin) return true;
  return false;
}

std::string fill_in(const std::string &uri) {
  std::string filled;
  size_t at = 0;
  for (;;) {
    const size_t begin = uri.find("${", at), end = uri.find('}', begin);
    if (begin == std::string::npos || end == std::string::npos) return filled + uri.substr(at);
    filled += uri.substr(at, begin - at);
    const std::string value =
        secret_from_environment("a camera's URI", uri.substr(begin + 2, end - begin - 2));
    filled += own(g_uri_escape_string(value.c_str(), nullptr, FALSE)).get();
    at = end + 1;
  }
}

std::string fill_in_host(std::string uri) {
  const size_t authority = uri.find("://");
  if (authority == std::string::npos) return fill_in(uri);
  const size_t path = std::min(uri.find('/', authority + 3), uri.size());
  for (size_t at = uri.find("${", path); at != std::string::npos; at = uri.find("${", at)) {
    const size_t end = uri.find('}', at);
    if (end == std::string::npos) break;
    uri.replace(at, end + 1 - at, "***");
  }
  return fill_in(uri);
}

std::string secret_from_environment(const std::string &setting, const std::string &variable) {
  const char *value = std::getenv(variable.c_str());
  if (value == nullptr)
    throw SettingsError(setting + ": there is no environment variable '" + variable + "'");
  return value;
}

std::string secret_from_file(const std::string &setting, const std::string &file) {
  gchar *contents = nullptr;
  gsize length = 0;
  GError *error = nullptr;
  if (!g_file_get_contents(file.c_str(), &contents, &length, &error)) {
    const std::string why = error->message;
    g_error_free(error);
    throw SettingsError(setting + ": " + why);
  }
  const Text owned = own(contents);
  std::string secret(contents, length);
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) throw SettingsError(setting + ": '" + file + "' is empty");
  if (secret.size() > kLongestSecret || secret.find('\0') != std::string::npos)
    throw SettingsError(setting + ": '" + file + "' does not look like a password");
  return secret;
}

std::string without_secrets(std::string text, const CameraSettings &camera) {
  replace_all(text, camera.uri, camera.location);
  const size_t query = camera.uri.find('?');
  if (query != std::string::npos)
    replace_all(text, camera.uri.substr(query + 1, camera.uri.find('#', query) - query - 1), "***");
  if (camera.credentials) {
    const std::string &password = camera.credentials->password;
    replace_all(text, password, "***");
    replace_all(text, own(g_uri_escape_string(password.c_str(), nullptr, FALSE)).get(), "***");
  }
  return without_passwords(text);
}

}  // namespace luminance
