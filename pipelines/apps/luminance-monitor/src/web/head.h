// SPDX-License-Identifier: LGPL-2.1-or-later
// Refuses ambiguous request heads. libmicrohttpd accepts much that another server, before or behind
// this one, would interpret differently or refuse.
#pragma once

#include <microhttpd.h>

#include <string>
#include <string_view>

namespace luminance {

/// The request line in libmicrohttpd's memory of the connection.
struct RequestLine {
  const char *method = nullptr, *target = nullptr, *version = nullptr;
  size_t target_size = 0;
};

/// Whether the head consists of its parsed lines and nothing else. Call it when the head has
/// arrived and nothing has been sent.
bool is_well_formed(MHD_Connection *connection, const RequestLine &line);

/// The error in the headers, for people; empty if there is none.
std::string find_header_error(MHD_Connection *connection);

/// The number of headers with this name.
size_t count_header(MHD_Connection *connection, const char *name);

/// Whether `text` is "host", "host:80", "192.0.2.1", "[::1]:80" or the like.
bool is_authority(std::string_view text);

/// "host" for the target "http://host/path"; empty if it has none.
std::string_view authority_of(std::string_view target);

}  // namespace luminance
