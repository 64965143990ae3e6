// SPDX-License-Identifier: LGPL-2.1-or-later
// Refuses ambiguous request heads: libmicrohttpd accepts many that a proxy in front of it, for
// example, would interpret differently or refuse.
#pragma once

#include <microhttpd.h>

#include <string>
#include <string_view>

namespace luminance {

/// The request line, as pointers into libmicrohttpd's memory of the connection.
struct RequestLine {
  const char *method = nullptr, *target = nullptr, *version = nullptr;
  size_t target_size = 0;
};

/// Returns whether the head consists of its parsed lines and nothing else. Call it when the head
/// has arrived and nothing has been sent.
bool is_well_formed(MHD_Connection *connection, const RequestLine &line);

/// Returns the error in the headers, for people; empty if there is none.
std::string find_header_error(MHD_Connection *connection);

/// Returns the number of headers with this name.
size_t count_header(MHD_Connection *connection, const char *name);

/// Returns whether `text` is "host", "host:80", "192.0.2.1", "[::1]:80" or the like.
bool is_authority(std::string_view text);

/// Returns "host" for the target "http://host/path"; empty if the target has none.
std::string_view authority_of(std::string_view target);

}  // namespace luminance
