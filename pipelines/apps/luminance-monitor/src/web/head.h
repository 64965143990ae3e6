// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the head of a request means the same to everybody who reads it. libmicrohttpd takes much
// that another server, before or behind this one, would read differently or refuse.
#pragma once

#include <microhttpd.h>

#include <string>
#include <string_view>

namespace luminance {

/// As libmicrohttpd has it in the connection's memory.
struct RequestLine {
  const char *method = nullptr, *target = nullptr, *version = nullptr;
  size_t target_size = 0;
};

/// Whether the head consists of its lines and nothing else. To be asked when it has come, and nothing
/// was sent yet.
bool are_lines_whole(MHD_Connection *connection, const RequestLine &line);

/// What is wrong with the headers, for people; empty where nothing is.
std::string fault_in_headers(MHD_Connection *connection);

/// How often a header is there.
size_t count_header(MHD_Connection *connection, const char *name);

/// "host", "host:80", "192.0.2.1", "[::1]:80"
bool is_authority(std::string_view text);

/// Of "http://host/path" "host"; empty where the target has none.
std::string_view authority_of(std::string_view target);

}  // namespace luminance
