// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery/listing.h"

#include <glib.h>

#include "log/log.h"

namespace luminance {
namespace {

constexpr glong kMaxLength = 200;  // characters

constexpr const char *kNote = R"(
# Fill in the address of each camera's video; its manual, or its own web page, has the path. No
# password was guessed or sent. Then: luminance-monitor --config FILE --check
)";

/// Returns a text on one line, without characters that end or reverse the line in a terminal.
std::string shown(const std::string &text) {
  const std::string line = on_one_line(text);
  std::string visible;
  glong length = 0;
  for (const gchar *at = line.c_str(); *at != '\0' && length < kMaxLength;
       at = g_utf8_next_char(at)) {
    const GUnicodeType type = g_unichar_type(g_utf8_get_char(at));
    if (type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR ||
        type == G_UNICODE_PARAGRAPH_SEPARATOR)
      continue;
    visible.append(at, static_cast<const gchar *>(g_utf8_next_char(at)));
    ++length;
  }
  return visible;
}

/// Returns a text as a TOML string.
std::string quoted(const std::string &text) {
  std::string quote = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quote += '\\';
    quote += c;
  }
  return quote + '"';
}

/// Returns the host of an address, as URIs write it; empty if it cannot be connected to.
std::string host_of(const std::string &address) {
  g_autoptr(GUri) uri = g_uri_parse(address.c_str(), G_URI_FLAGS_NONE, nullptr);
  const gchar *host = uri != nullptr ? g_uri_get_host(uri) : nullptr;
  if (host == nullptr || *host == '\0') return "";
  const std::string text = host;
  for (const char c : text)
    if (!g_ascii_isalnum(c) && c != '.' && c != ':' && c != '-') return "";
  return text.find(':') == std::string::npos ? text : "[" + text + "]";
}

std::string host_of(const OnvifDevice &device) {
  for (const std::string &address : device.addresses)
    if (const std::string host = host_of(address); !host.empty()) return host;
  return "HOST";
}

std::string name_of(const OnvifDevice &device) {
  for (const std::string *name : {&device.name, &device.hardware})
    if (const std::string text = shown(*name); text.find_first_not_of(' ') != std::string::npos)
      return text;
  return host_of(device);
}

std::string line_of(const OnvifDevice &device) {
  std::string line = name_of(device);
  if (!device.hardware.empty() && device.hardware != device.name)
    line += " (" + shown(device.hardware) + ")";
  std::string addresses;
  for (const std::string &address : device.addresses)
    addresses += (addresses.empty() ? "" : " ") + shown(address);
  return "# " + line + "\t" + addresses + "\t" + shown(device.endpoint) + "\n";
}

std::string table_of(const OnvifDevice &device) {
  return "\n[[cameras]]\nname = " + quoted(name_of(device)) +
         "\n# uri = " + quoted("rtsp://" + shown(host_of(device)) + "/PATH") +
         "\n# user = \"USER\"\n# password-file = \"FILE\"\n";
}

}  // namespace

std::string listing_of(const std::vector<OnvifDevice> &devices) {
  if (devices.empty()) return "# No ONVIF camera responded.\n";
  std::string text;
  for (const OnvifDevice &device : devices) text += line_of(device);
  text += kNote;
  for (const OnvifDevice &device : devices) text += table_of(device);
  return text;
}

}  // namespace luminance
