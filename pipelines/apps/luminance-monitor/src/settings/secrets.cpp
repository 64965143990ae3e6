// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/secrets.h"

#include <glib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "settings/filewatch.h"

namespace luminance {
namespace {

constexpr gsize kMaxSecretLength = 4096;

using Text = std::unique_ptr<gchar, decltype(&g_free)>;
Text own(gchar *text) { return Text(text, g_free); }
std::string text_of(const gchar *text) { return text != nullptr ? text : ""; }

std::string decoded(const gchar *text) {
  const Text plain = own(g_uri_unescape_string(text, nullptr));
  if (plain == nullptr)
    throw SettingsError("the user or password of a URI is not correctly percent-encoded");
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
constexpr const char *kPasswords[] = {
    "password=", "passwd=", "pass=", "pwd=", "passphrase=", "token="};
/// Keys whose values may be passwords. These values are not shown, either.
constexpr const char *kOthers[] = {"key=", "secret=", "auth=", "session="};

template <typename Keys>
std::optional<Span> find_value(const std::string &text, size_t from, const Keys &keys) {
  std::string lower = text;
  for (char &c : lower) c = g_ascii_tolower(c);
  std::optional<Span> first;
  for (const char *key : keys) {
    const size_t at = lower.find(key, from);
    if (at == std::string::npos) continue;
    const size_t begin = at + std::strlen(key), end = text.find_first_of("&/?#; \"", begin);
    if (!first || begin < first->begin) first = Span{begin, std::min(end, text.size())};
  }
  return first;
}

template <typename Keys>
std::string without_values(std::string text, const Keys &keys) {
  for (auto span = find_value(text, 0, keys); span; span = find_value(text, span->begin, keys))
    text.replace(span->begin, span->end - span->begin, "***");
  return text;
}

std::string without_passwords(const std::string &text) {
  return without_values(without_values(text, kPasswords), kOthers);
}

constexpr size_t kMinKeyLength = 16;
constexpr int kMinChanges = 6;

/// Whether a word is unlikely to be a name: it is long, and hexadecimal or a mixture of digits,
/// small letters and capitals.
bool looks_like_key(std::string word) {
  const auto is_mark = [](char c) { return c == '-' || c == '_'; };
  word.erase(std::remove_if(word.begin(), word.end(), is_mark), word.end());
  if (word.size() < kMinKeyLength) return false;
  const auto all = [&](auto is) { return std::all_of(word.begin(), word.end(), is); };
  const bool has_letters = !all([](char c) { return g_ascii_isdigit(c); });
  if (all([](char c) { return g_ascii_isxdigit(c); })) return has_letters;
  const auto kind = [&](char c) { return g_ascii_isdigit(c) ? 0 : g_ascii_islower(c) ? 1 : 2; };
  int changes = 0;
  for (size_t i = 1; i < word.size(); ++i) changes += kind(word[i]) != kind(word[i - 1]) ? 1 : 0;
  return changes >= kMinChanges;
}

/// Returns a path with "***" instead of keys. Some cameras and recorders identify clients by a part
/// of the path, as in "/s/4bRfx0QhDIxzUo1x".
std::string without_keys(const std::string &path) {
  std::string shown, word;
  for (const char c : path + '\0') {
    if (g_ascii_isalnum(c) || c == '-' || c == '_') {
      word += c;
      continue;
    }
    shown += looks_like_key(word) ? "***" : word;
    word.clear();
    if (c != '\0') shown += c;
  }
  return shown;
}

/// Returns false if a URI may have a password with a '/', '?' or '#'. A parser ends the host there:
/// it takes the user for the host, and the rest of the password for the path, which is shown. The
/// '@' then comes too late. To use an '@' in the path, write "%40", or an '@' before the host for
/// an empty user.
bool has_no_hidden_password(const std::string &uri) {
  const size_t begin = uri.find("://");
  if (begin == std::string::npos || g_ascii_strncasecmp(uri.c_str(), "file:", 5) == 0 ||
      g_ascii_strncasecmp(uri.c_str(), "v4l2:", 5) == 0)
    return true;
  const std::string rest = uri.substr(begin + 3);
  const size_t last = rest.rfind('@'), end = rest.find_first_of("/?#");
  if (last == std::string::npos || end == std::string::npos || last < end) return true;
  const size_t after_ipv6 = rest[0] == '[' ? rest.find(']') : 0;
  const size_t colon = after_ipv6 == std::string::npos ? after_ipv6 : rest.find(':', after_ipv6);
  return rest[0] == '@' || colon > last;
}

/// Returns a location without keys in its path. The host is kept, even if it looks like a key.
std::string shown_location(const std::string &location) {
  const size_t begin = location.find("://");
  if (begin == std::string::npos) return location;
  const size_t path = location.find('/', begin + 3);
  if (path == std::string::npos) return location;
  return location.substr(0, path) + without_keys(location.substr(path));
}

constexpr const char *kLateAt =
    "a camera's URI has an '@' after the first '/', '?' or '#'. If the user or the password "
    "contains "
    "such a character, write '/' as %2F, '?' as %3F, '#' as %23 and '@' as %40, or use the "
    "settings "
    "user and password-file; elsewhere, write '@' as %40";

/// Returns a text whose URIs may be shown: without user, query, fragment and keys.
std::string without_uris(std::string text) {
  for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    if (at >= 4 && text.compare(at - 4, 4, "file") == 0) continue;
    const size_t end = std::min(text.find_first_of(" \"'<>()", at), text.size());
    std::string rest = text.substr(at + 3, end - at - 3);
    const size_t query = rest.find_first_of("?#");
    if (query != std::string::npos) rest.resize(query);
    const size_t user = rest.rfind('@');
    if (user != std::string::npos) rest.erase(0, user + 1);
    const std::string shown = shown_location("://" + rest);
    text.replace(at, end - at, shown);
  }
  return text;
}

struct UriParts {
  gchar *scheme = nullptr, *user = nullptr, *password = nullptr, *host = nullptr, *path = nullptr,
        *query = nullptr, *fragment = nullptr;
  gint port = -1;

  ~UriParts() {
    for (gchar *part : {scheme, user, password, host, path, query, fragment}) g_free(part);
  }
  /// GLib also splits what it cannot join: "rtsp://10.0[;x" has the path ";x".
  bool can_be_joined() const {
    return scheme != nullptr && (host == nullptr || *path == '\0' || *path == '/');
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
  if (!has_no_hidden_password(uri)) throw SettingsError(kLateAt);
  UriParts parts;
  if (!g_uri_split_with_user(uri.c_str(), kFlags, &parts.scheme, &parts.user, &parts.password,
                             nullptr, &parts.host, &parts.port, &parts.path, &parts.query,
                             &parts.fragment, nullptr) ||
      !parts.can_be_joined())
    throw SettingsError("a camera's URI is invalid");  // without the URI, which may hold a password
  SplitUri split;
  split.uri = parts.join(parts.query, parts.fragment);
  const bool is_local = text_of(parts.host).empty();  // a file: its name is not a key
  split.location = without_passwords(parts.join(nullptr, nullptr));
  if (!is_local) split.location = shown_location(split.location);
  if (parts.user != nullptr && (*parts.user != '\0' || parts.password != nullptr))
    split.credentials =
        Credentials{decoded(parts.user),
                    text_of(parts.password).empty() ? std::string() : decoded(parts.password)};
  return split;
}

bool has_password(const SplitUri &split) {
  if (split.credentials && !split.credentials->password.empty()) return true;
  for (auto span = find_value(split.uri, 0, kPasswords); span;
       span = find_value(split.uri, span->end, kPasswords))
    if (span->end > span->begin) return true;
  return false;
}

std::string expand_variables(const std::string &uri) {
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

std::string expand_variables_redacted(std::string uri) {
  const size_t authority = uri.find("://");
  if (authority == std::string::npos) return expand_variables(uri);
  const size_t path = std::min(uri.find('/', authority + 3), uri.size());
  for (size_t at = uri.find("${", path); at != std::string::npos; at = uri.find("${", at)) {
    const size_t end = uri.find('}', at);
    if (end == std::string::npos) break;
    uri.replace(at, end + 1 - at, "***");
  }
  return expand_variables(uri);
}

std::string secret_from_environment(const std::string &setting, const std::string &variable) {
  const char *value = std::getenv(variable.c_str());
  if (value == nullptr)
    throw SettingsError(setting + ": the environment variable '" + variable + "' is not set");
  return value;
}

std::string secret_from_file(const std::string &setting, const std::string &file) {
  FileWatch::note(file);
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
  if (secret.size() > kMaxSecretLength || secret.find('\0') != std::string::npos)
    throw SettingsError(setting + ": '" + file + "' is too long or contains a NUL character");
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
  return without_uris(without_passwords(text));
}

}  // namespace luminance
