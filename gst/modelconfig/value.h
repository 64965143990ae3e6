// SPDX-License-Identifier: LGPL-2.1-or-later
// The contents of a file of any syntax, and access to them that names the key in errors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudatensor::modelconfig {

/// A value of JSON, YAML or a key file.
struct Value {
  using List = std::vector<Value>;
  using Map = std::map<std::string, Value>;
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map> data;
};

/// Maximum nesting of lists and maps.
constexpr int kMaxDepth = 64;

/// Returns text of a file for an error: valid UTF-8 on one line, cut after `most` bytes.
std::string shown(std::string text, size_t most = 200);

/// Returns the value of a plain scalar: a number, a boolean, null (empty or ~), or else a string.
Value scalar_of(const std::string &text);

/// Parse a whole number or a number. Return no value if the text contains anything else.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);
/// Returns the text without white space at both ends.
std::string_view trimmed(std::string_view text);
/// Returns the parts between separators, without the last one if it is empty.
std::vector<std::string> split(std::string_view text, char separator);

/// A value and its place in the file. A value that is null counts as absent.
class Node {
 public:
  Node(const Value *value, std::string key);

  Node at(const char *key) const;
  bool is_present() const { return value_ != nullptr; }
  bool is_map() const;
  bool is_list() const;
  bool is_number() const;
  bool is_text() const;
  /// Returns null if the value is not a map.
  const Value::Map *map() const;
  /// Returns null if the value is not a list.
  const Value::List *list() const;

  // Throw if the value is absent, of another type or out of range.
  bool boolean() const;
  int integer(int min, int max) const;
  /// Returns a finite number.
  double number() const;
  std::string text() const;
  /// Returns a list of finite numbers, which a single number is, too. With a separator, also splits
  /// the text of a key file.
  std::vector<double> numbers(char separator = '\0') const;

  bool boolean(bool fallback) const { return is_present() ? boolean() : fallback; }

  const std::string &key() const { return key_; }
  /// Returns "KEY=VALUE", or "KEY is absent"; long values are cut.
  std::string described() const;
  /// Throws Error with described() and the reason.
  [[noreturn]] void refuse(const std::string &reason) const;

 private:
  Node child(const Value *value, const std::string &key) const;

  const Value *value_;
  std::string key_;
};

}  // namespace cudatensor::modelconfig
