// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "gst/modelconfig/syntax.h"
#include "kernels/error.h"

#ifdef HAVE_JSON
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>
#endif

namespace cudatensor::modelconfig {

#ifdef HAVE_JSON

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string &reason) { throw Error(Error::Code::settings, reason); }

/// Returns the cause of an error without the library's prefix, and without the token, which may be
/// megabytes.
std::string cause_of(const Json::exception &error) {
  std::string text = error.what();
  if (const size_t prefix = text.find("] "); prefix != std::string::npos) text.erase(0, prefix + 2);
  return shown(text.substr(0, text.find("; last read")));
}

/// Builds the value from the parser's events. The parser keeps its stack on the heap, and this
/// class keeps the open lists and maps there, so that nesting needs no recursion.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({value}); }
  bool number_integer(number_integer_t value) override { return add({int64_t{value}}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add({static_cast<int64_t>(value)});
    return add({static_cast<double>(value)});
  }
  bool number_float(number_float_t value, const string_t &) override { return add({value}); }
  bool string(string_t &value) override { return add({std::move(value)}); }
  bool binary(binary_t &) override { return false; }  // not in JSON
  bool start_object(std::size_t) override { return open({Value::Map()}); }
  bool start_array(std::size_t) override { return open({Value::List()}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &value) override {
    open_.back().key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string &, const Json::exception &error) override {
    refuse("is no JSON: " + cause_of(error));
  }

  Value root;

 private:
  struct Open {
    Value value;
    std::string key;  // key of the next member of a map
  };

  bool add(Value value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (auto *list = std::get_if<Value::List>(&open_.back().value.data)) {
      list->push_back(std::move(value));
    } else {
      std::get<Value::Map>(open_.back().value.data)
          .insert_or_assign(std::move(open_.back().key), std::move(value));
    }
    return true;
  }

  bool open(Value value) {
    if (open_.size() == kMaxDepth)
      refuse("is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    open_.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  std::vector<Open> open_;
};

}  // namespace

Value parse_json(const std::string &text) {
  Builder builder;
  Json::sax_parse(text, &builder);
  return std::move(builder.root);
}

#else

Value parse_json(const std::string &) {
  throw Error(Error::Code::settings,
              "is JSON, which this build cannot read: it lacks nlohmann-json");
}

#endif

}  // namespace cudatensor::modelconfig
