// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/table.h"

#include <algorithm>

#include "settings/limits.h"

namespace luminance {

using nlohmann::json;

Table::Table(const json &value, std::string path) : value_(value), path_(std::move(path)) {
  if (!value_.is_object()) fail("", "is not a table");
}

void Table::fail(const std::string &key, const std::string &what) const {
  throw SettingsError((key.empty() ? path_ : path_of(key)) + " " + what);
}

std::string Table::path_of(const std::string &key) const {
  return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
}

const json *Table::find(const std::string &key) {
  const auto found = value_.find(key);
  if (found == value_.end()) return nullptr;
  taken_.push_back(key);
  return &*found;
}

void Table::read(const std::string &key, double &number, double min, double max) {
  const json *value = find(key);
  if (value == nullptr) return;
  if (!value->is_number()) fail(key, "is not a number");
  number = checked(path_of(key), value->get<double>(), min, max);
}

void Table::read(const std::string &key, unsigned &number, double min, double max) {
  double value = number;
  read(key, value, min, max);
  number = checked_whole(path_of(key), value, min, max);
}

void Table::read(const std::string &key, bool &flag) {
  const json *value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) fail(key, "must be true or false");
  flag = value->get<bool>();
}

void Table::read(const std::string &key, std::string &text) {
  const json *value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) fail(key, "is not a string");
  text = value->get<std::string>();
  if (text.find('\0') != std::string::npos) fail(key, "contains a NUL character");
}

void Table::read(const std::string &key, std::vector<std::string> &texts) {
  const json *value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) fail(key, "is not a list");
  texts.clear();
  for (const json &text : *value) {
    if (!text.is_string()) fail(key, "contains a value that is not a string");
    texts.push_back(text.get<std::string>());
  }
}

std::string Table::text(const std::string &key) {
  std::string text;
  read(key, text);
  return text;
}

void Table::with(const std::string &key, const std::function<void(Table)> &read) {
  if (const json *value = find(key)) read(Table(*value, path_of(key)));
}

void Table::with_each(const std::string &key, const std::function<void(Table)> &read) {
  const json *list = find(key);
  if (list == nullptr) return;
  if (!list->is_array()) fail(key, "is not a list");
  for (size_t i = 0; i < list->size(); ++i)
    read(Table((*list)[i], path_of(key) + "[" + std::to_string(i) + "]"));
}

void Table::finish() const {
  for (const auto &[key, value] : value_.items())
    if (std::find(taken_.begin(), taken_.end(), key) == taken_.end()) fail(key, "is unknown");
}

}  // namespace luminance
