// SPDX-License-Identifier: LGPL-2.1-or-later
// A table of a configuration document.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace luminance {

/// A table whose keys are read one by one; finish() rejects keys that were not read. All errors are
/// SettingsErrors with the path of the setting.
class Table {
 public:
  /// The document must outlive the table.
  Table(const nlohmann::json &value, std::string path);

  [[noreturn]] void fail(const std::string &key, const std::string &what) const;
  std::string path_of(const std::string &key) const;

  const nlohmann::json *find(const std::string &key);
  // If the key is not set, these leave the value as it is.
  void read(const std::string &key, double &number, double min, double max);
  void read(const std::string &key, unsigned &number, double min, double max);
  void read(const std::string &key, bool &flag);
  void read(const std::string &key, std::string &text);
  void read(const std::string &key, std::vector<std::string> &texts);
  /// Returns an empty text if the key is not set.
  std::string text(const std::string &key);
  void with(const std::string &key, const std::function<void(Table)> &read);
  /// The same for each table of a list.
  void with_each(const std::string &key, const std::function<void(Table)> &read);
  void finish() const;

 private:
  const nlohmann::json &value_;
  const std::string path_;
  std::vector<std::string> taken_;
};

}  // namespace luminance
