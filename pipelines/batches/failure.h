// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <stdexcept>
#include <string>

/// Throws an exception with the text, and the message of `error` if there is one. Frees `error`.
[[noreturn]] inline void fail(const std::string &what, GError *error = nullptr) {
  const std::string text = what + (error != nullptr ? std::string(": ") + error->message : "");
  g_clear_error(&error);
  throw std::runtime_error(text);
}
