// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/credentials.h"

#include <filesystem>

#include "settings/secrets.h"

namespace luminance {

std::optional<std::string> read_secret(Table &table, const std::string &name,
                                       const std::string &folder) {
  const std::string plain = table.text(name), file = table.text(name + "-file"),
                    variable = table.text(name + "-env");
  if (!plain.empty() + !file.empty() + !variable.empty() > 1)
    table.fail(name, "is set more than once: directly, by file or by environment variable");
  if (!file.empty())
    return secret_from_file(table.path_of(name + "-file"), std::filesystem::path(folder) / file);
  if (!variable.empty()) {
    const std::string setting = table.path_of(name + "-env");
    std::string secret = secret_from_environment(setting, variable);
    // An empty token would let in everybody.
    if (secret.empty()) throw SettingsError(setting + ": '" + variable + "' is empty");
    return secret;
  }
  if (!plain.empty()) return plain;
  if (table.find(name) != nullptr) table.fail(name, "is empty");
  return {};
}

std::optional<Credentials> read_credentials(Table &table, const std::string &folder) {
  const std::string user = table.text("user");
  const std::optional<std::string> password = read_secret(table, "password", folder);
  if (user.empty() && password) table.fail("password", "is set without a user");
  if (user.empty()) return {};
  return Credentials{user, password.value_or("")};
}

}  // namespace luminance
