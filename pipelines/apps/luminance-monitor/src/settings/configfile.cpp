// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/configfile.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "settings/filewatch.h"
#include "settings/settings.h"

namespace luminance {
namespace {

using nlohmann::json;

// Limits far beyond any sensible file: a larger one is a mistake, or meant to do harm.
constexpr uintmax_t kMaxBytes = 1 << 20;
constexpr int kMaxValues = 100000, kMaxDepth = 16;

/// Limits the depth of a document and the number of its values.
class Limits {
 public:
  void enter(int depth) {
    if (depth > kMaxDepth) throw SettingsError("is nested too deeply");
    if (++values_ > kMaxValues) throw SettingsError("has too many values");
  }

 private:
  int values_ = 0;
};

json json_of(const toml::node &node, Limits &limits, int depth) {
  limits.enter(depth);
  if (const toml::table *table = node.as_table()) {
    json object = json::object();
    for (const auto &[key, value] : *table)
      object[std::string(key.str())] = json_of(value, limits, depth + 1);
    return object;
  }
  if (const toml::array *array = node.as_array()) {
    json list = json::array();
    for (const toml::node &value : *array) list.push_back(json_of(value, limits, depth + 1));
    return list;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  throw SettingsError("contains a date or a time; a time of day is a string, such as \"06:30\"");
}

std::string read_text(const std::string &file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw SettingsError(error ? error.message() : "is not a file");
  if (std::filesystem::file_size(file, error) > kMaxBytes) throw SettingsError("is too large");
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw SettingsError("cannot be read");
  return text.str();
}

/// Throws SettingsError if the nesting is too deep for the stack: the parser and the destructor of
/// its result recurse for each open bracket and each dot of a key.
void check_depth(const std::string &text) {
  constexpr int kMaxNesting = 64;
  int brackets = 0, dots = 0;
  char before = 0;  // the last character that is not a space
  for (const char c : text) {
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') brackets = std::max(brackets - 1, 0);
    if (c == '.') dots = before == '.' ? 0 : dots + 1;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (brackets > kMaxNesting || dots > kMaxNesting) throw SettingsError("is nested too deeply");
    if (c != ' ' && c != '\t') before = c;
  }
}

json parse_toml(const std::string &text) try {
  Limits limits;
  return json_of(toml::parse(text), limits, 0);
} catch (const toml::parse_error &error) {
  throw SettingsError("line " + std::to_string(error.source().begin.line) + ": " +
                      std::string(error.description()));
}

}  // namespace

json read_config_file(const std::string &file) try {
  if (std::filesystem::path(file).extension() != ".toml")
    throw SettingsError("the file name must end in .toml");
  FileWatch::note(file);
  const std::string text = read_text(file);
  check_depth(text);
  return parse_toml(text);
} catch (const SettingsError &error) {
  throw SettingsError(file + ": " + error.what());
}

}  // namespace luminance
