// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/head.h"

#include <glib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <utility>

namespace luminance {
namespace {

constexpr std::string_view kHttp = "http://", kHttps = "https://";

/// Returns whether the text is a token of RFC 9110, as the name of a header has to be.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return g_ascii_isalnum(c) || kMarks.find(c) != std::string_view::npos;
  });
}

/// Returns whether the value has control characters. Some servers take a lone carriage return as
/// the end of a line, others as a part of it.
bool has_controls(std::string_view value) {
  return std::any_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::string fault_in(const char *name, const char *value) {
  if (!is_token(name)) return "malformed header name";
  if (value == nullptr) return {};
  if (has_controls(value)) return "control characters in a header value";
  return {};
}

/// Up to 0.9.75, libmicrohttpd accepts lines that end in a line feed alone, are continued, or
/// contain a NUL, and a head that ends at a header without a name. Newer versions can
/// be told to refuse these.
bool is_lenient() {
  unsigned major = 0, minor = 0, patch = 0;
  std::sscanf(MHD_get_version(), "%u.%u.%u", &major, &minor, &patch);
  return std::make_tuple(major, minor, patch) <= std::make_tuple(0u, 9u, 75u);
}

/// Walks through the head as it was received, to check that no bytes lie between its parsed lines.
/// libmicrohttpd has written zeros over the ends of names, values and lines.
struct Walk {
  const char *at;
  bool is_right = true;

  void take(const char *name, const char *value) {
    constexpr size_t kLineEnd = 2;
    is_right = is_right && value != nullptr && name == at + kLineEnd;
    if (!is_right) return;
    const char *space = name + std::strlen(name) + 1;
    while (space < value && (*space == ' ' || *space == '\t')) ++space;
    is_right = space == value;
    at = value + std::strlen(value);
  }
};

bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return g_ascii_isdigit(c); });
}

}  // namespace

size_t count_header(MHD_Connection *connection, const char *name) {
  std::pair<const char *, size_t> header = {name, 0};
  const auto add = [](void *data, MHD_ValueKind, const char *key, const char *) {
    auto *header = static_cast<std::pair<const char *, size_t> *>(data);
    if (g_ascii_strcasecmp(key, header->first) == 0) ++header->second;
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, add, &header);
  return header.second;
}

bool is_well_formed(MHD_Connection *connection, const RequestLine &line) {
  constexpr size_t kHeadEnd = 4;
  static const bool kIsLenient = is_lenient();
  if (!kIsLenient) return true;
  const auto *head = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (head == nullptr || line.target != line.method + std::strlen(line.method) + 1 ||
      line.version != line.target + line.target_size + 1)
    return false;
  Walk walk = {line.version + std::strlen(line.version)};
  const auto take = [](void *data, MHD_ValueKind, const char *name, const char *value) {
    auto *walk = static_cast<Walk *>(data);
    walk->take(name, value);
    return walk->is_right ? MHD_YES : MHD_NO;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, take, &walk);
  return walk.is_right && line.method + head->header_size == walk.at + kHeadEnd;
}

std::string find_header_error(MHD_Connection *connection) {
  std::string fault;
  const auto look = [](void *data, MHD_ValueKind, const char *name, const char *value) {
    auto *fault = static_cast<std::string *>(data);
    *fault = fault_in(name, value);
    return fault->empty() ? MHD_YES : MHD_NO;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &fault);
  if (!fault.empty()) return fault;
  for (const char *name : {"Host", "Content-Length", "Transfer-Encoding", "Authorization"})
    if (count_header(connection, name) > 1) return std::string("more than one ") + name + " header";
  if (count_header(connection, "Content-Length") + count_header(connection, "Transfer-Encoding") >
      1)
    return "both Content-Length and Transfer-Encoding";
  return {};
}

bool is_authority(std::string_view text) {
  if (text.empty()) return false;
  size_t end = text.find(':');
  if (text.front() == '[') {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return false;
    end = bracket + 1 < text.size() ? bracket + 1 : std::string_view::npos;
    if (end != std::string_view::npos && text[end] != ':') return false;
  }
  if (end == 0) return false;
  const std::string_view host = text.substr(0, end);
  if (host.find_first_of("@/?#\\\"<> ,;\t") != std::string_view::npos) return false;
  return end == std::string_view::npos || are_digits(text.substr(end + 1));
}

std::string_view authority_of(std::string_view target) {
  for (const std::string_view scheme : {kHttp, kHttps})
    if (target.substr(0, scheme.size()) == scheme) {
      target.remove_prefix(scheme.size());
      return target.substr(0, target.find_first_of("/?"));
    }
  return {};
}

}  // namespace luminance
