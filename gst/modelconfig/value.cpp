// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/value.h"

#include <glib.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gst/modelconfig/numbertext.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

constexpr size_t kMostShown = 80;

std::string text_of(const Value &value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return number_text(d); }
    std::string operator()(const std::string &s) const { return s; }
    std::string operator()(const Value::List &list) const {
      std::string all;
      for (const Value &item : list) {
        if (all.size() > kMostShown) break;
        all += (all.empty() ? "" : ", ") + text_of(item);
      }
      return "[" + all + "]";
    }
    std::string operator()(const Value::Map &map) const {
      std::string all;
      for (const auto &[key, member] : map) {
        if (all.size() > kMostShown) break;
        all += (all.empty() ? "" : ", ") + key + ": " + text_of(member);
      }
      return "{" + all + "}";
    }
  };
  return std::visit(Visitor(), value.data);
}

}  // namespace

std::string shown(std::string text, size_t most) {
  if (text.size() > most) text = text.substr(0, most) + "...";
  gchar *valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string result = valid;
  g_free(valid);
  std::replace_if(
      result.begin(), result.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return result;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_number(std::string_view text) {
  const bool plausible =
      !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (!plausible) return std::nullopt;
  const std::string copy(text);
  gchar *end = nullptr;
  const double number = g_ascii_strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

Value scalar_of(const std::string &text) {
  const std::string plain(trimmed(text));
  if (plain.empty() || plain == "~" || plain == "null") return {};
  if (plain == "true" || plain == "True") return {true};
  if (plain == "false" || plain == "False") return {false};
  if (const auto integer = parse_integer(plain)) return {*integer};
  if (const auto number = parse_number(plain)) return {*number};
  return {plain};
}

Node::Node(const Value *value, std::string key) : value_(value), key_(std::move(key)) {
  if (value != nullptr && std::holds_alternative<std::monostate>(value->data)) value_ = nullptr;
}

Node Node::child(const Value *value, const std::string &key) const {
  return {value, key_.empty() ? key : key_ + "." + key};
}

Node Node::at(const char *key) const {
  const Value::Map *members = map();
  if (members == nullptr) return child(nullptr, key);
  const auto found = members->find(key);
  return child(found != members->end() ? &found->second : nullptr, key);
}

const Value::Map *Node::map() const {
  return value_ != nullptr ? std::get_if<Value::Map>(&value_->data) : nullptr;
}
const Value::List *Node::list() const {
  return value_ != nullptr ? std::get_if<Value::List>(&value_->data) : nullptr;
}
bool Node::is_map() const { return map() != nullptr; }
bool Node::is_list() const { return list() != nullptr; }
bool Node::is_text() const {
  return value_ != nullptr && std::holds_alternative<std::string>(value_->data);
}
bool Node::is_number() const {
  return value_ != nullptr && (std::holds_alternative<int64_t>(value_->data) ||
                               std::holds_alternative<double>(value_->data));
}

std::string Node::described() const {
  const std::string key = shown(key_, kMostShown);
  return value_ == nullptr ? key + " is absent" : key + "=" + shown(text_of(*value_), kMostShown);
}

void Node::refuse(const std::string &reason) const {
  throw Error(Error::Code::settings, described() + ": " + reason);
}

bool Node::boolean() const {
  if (value_ != nullptr) {
    if (const bool *b = std::get_if<bool>(&value_->data)) return *b;
    const int64_t *i = std::get_if<int64_t>(&value_->data);
    if (i != nullptr && (*i == 0 || *i == 1)) return *i == 1;
  }
  refuse("must be true or false");
}

int Node::integer(int min, int max) const {
  const int64_t *i = value_ != nullptr ? std::get_if<int64_t>(&value_->data) : nullptr;
  if (i == nullptr || *i < min || *i > max)
    refuse("must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  return static_cast<int>(*i);
}

double Node::number() const {
  double number = std::nan("");
  if (is_number()) {
    const int64_t *i = std::get_if<int64_t>(&value_->data);
    number = i != nullptr ? static_cast<double>(*i) : std::get<double>(value_->data);
  }
  if (!std::isfinite(number)) refuse("must be a finite number");
  return number;
}

std::string Node::text() const {
  if (!is_text()) refuse("must be text");
  return std::get<std::string>(value_->data);
}

std::vector<double> Node::numbers(char separator) const {
  if (is_number()) return {number()};
  std::vector<double> all;
  if (is_list()) {
    for (const Value &item : *list()) {
      const Node node(&item, key_);
      if (!node.is_number() || !std::isfinite(node.number())) refuse("must be finite numbers");
      all.push_back(node.number());
    }
  } else if (is_text() && separator != '\0') {
    for (const std::string &part : split(text(), separator)) {
      const auto number = parse_number(part);
      if (!number || !std::isfinite(*number)) refuse("must be finite numbers");
      all.push_back(*number);
    }
  }
  if (all.empty()) refuse("must be a number or a list of numbers");
  return all;
}

}  // namespace cudatensor::modelconfig
