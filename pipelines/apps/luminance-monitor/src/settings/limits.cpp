// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/limits.h"

#include <cmath>
#include <sstream>

namespace luminance {
namespace {

uint16_t port_of(const std::string &text) {
  if (text.empty() || text.size() > 5 ||
      text.find_first_not_of("0123456789") != std::string::npos || std::stoul(text) > 65535)
    throw SettingsError("'" + text + "' is not a port");
  return static_cast<uint16_t>(std::stoul(text));
}

std::string text_of(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

double checked(const std::string &setting, double value, double min, double max) {
  if (!(value >= min && value <= max))
    throw SettingsError(setting + " is " + text_of(value) + ", must be between " + text_of(min) +
                        " and " + text_of(max));
  return value;
}

unsigned checked_whole(const std::string &setting, double value, double min, double max) {
  if (checked(setting, value, min, max) != std::floor(value))
    throw SettingsError(setting + " is " + text_of(value) + ", must be a whole number");
  return static_cast<unsigned>(value);
}

void read_address(const std::string &text, WebSettings &web) {
  const size_t bracket = text.rfind(']'), colon = text.rfind(':');
  const bool is_bracketed = !text.empty() && text.front() == '[' && bracket != std::string::npos;
  const bool has_port =
      colon != std::string::npos && (is_bracketed ? colon == bracket + 1 : text.find(':') == colon);
  std::string address = has_port ? text.substr(0, colon) : text;
  if (has_port) web.port = port_of(text.substr(colon + 1));
  if (is_bracketed) address = text.substr(1, bracket - 1);
  if (is_bracketed && !has_port && bracket + 1 != text.size())
    throw SettingsError("'" + text + "' is not an address");
  web.address = address.empty() ? (has_port && !is_bracketed ? "0.0.0.0" : "") : address;
  if (web.address.empty()) throw SettingsError("'" + text + "' is not an address");
}

void require_authentication(const WebSettings &web) {
  if (web.basic || !web.token.empty() || web.allow_anonymous) return;
  throw SettingsError(
      "web.listen: other machines can reach " + web.address +
      " without authentication: set a user and a password or a token (web.user, web.token; --user, "
      "--token-file), or let everyone read (web.allow-anonymous = true; --allow-anonymous)");
}

void check_backend(const std::string &backend) {
  if (backend != "auto" && backend != "cuda" && backend != "cpu")
    throw SettingsError("backend is '" + backend + "', must be auto, cuda or cpu");
}

}  // namespace luminance
