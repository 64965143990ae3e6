// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "gst/modelconfig/syntax.h"
#include "kernels/error.h"

#ifdef HAVE_LIBYAML
#include <yaml.h>
#endif

namespace cudatensor::modelconfig {

#ifdef HAVE_LIBYAML

namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

class Event {
 public:
  explicit Event(yaml_parser_t *parser) {
    if (!yaml_parser_parse(parser, &event_))
      refuse("is no YAML: line " + std::to_string(parser->problem_mark.line + 1) + ": " +
             (parser->problem != nullptr ? parser->problem : "cannot be read"));
  }
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  yaml_event_type_t type() const { return event_.type; }

  std::string text() const {
    const auto &scalar = event_.data.scalar;
    return {reinterpret_cast<const char *>(scalar.value), scalar.length};
  }
  Value scalar() const {
    const bool plain = event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return plain ? scalar_of(text()) : Value{text()};
  }

 private:
  yaml_event_t event_ = {};
};

class Reader {
 public:
  explicit Reader(const std::string &text) {
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char *>(text.data()),
                                 text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  Value document() {
    for (;;) {
      const Event event(&parser_);
      if (event.type() == YAML_STREAM_END_EVENT) return {};
      if (event.type() == YAML_STREAM_START_EVENT || event.type() == YAML_DOCUMENT_START_EVENT)
        continue;
      return value_of(event, 1);
    }
  }

 private:
  Value value_of(const Event &event, int depth) {
    if (depth > kMaxDepth) refuse("is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    switch (event.type()) {
      case YAML_SCALAR_EVENT: return event.scalar();
      case YAML_SEQUENCE_START_EVENT: return list(depth);
      case YAML_MAPPING_START_EVENT: return map(depth);
      case YAML_ALIAS_EVENT: refuse("has an alias (*), which is not read");
      default: refuse("is no YAML");
    }
  }

  Value list(int depth) {
    Value::List items;
    for (;;) {
      const Event event(&parser_);
      if (event.type() == YAML_SEQUENCE_END_EVENT) return {std::move(items)};
      items.push_back(value_of(event, depth + 1));
    }
  }

  Value map(int depth) {
    Value::Map members;
    for (;;) {
      const Event key(&parser_);
      if (key.type() == YAML_MAPPING_END_EVENT) return {std::move(members)};
      // Keys that are not text have nothing to do with the input.
      const bool named = key.type() == YAML_SCALAR_EVENT;
      if (!named) value_of(key, depth + 1);
      const Event event(&parser_);
      Value value = value_of(event, depth + 1);
      if (named) members.insert_or_assign(key.text(), std::move(value));
    }
  }

  yaml_parser_t parser_ = {};
};

}  // namespace

Value parse_yaml(const std::string &text) { return Reader(text).document(); }

#else

Value parse_yaml(const std::string &) {
  throw Error(Error::Code::settings, "is YAML, which this build cannot read: it lacks libyaml");
}

#endif

}  // namespace cudatensor::modelconfig
