// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "gst/modelconfig/syntax.h"
#include "kernels/error.h"

#ifdef HAVE_JSON_GLIB
#include <json-glib/json-glib.h>

#include <memory>
#endif

namespace cudatensor::modelconfig {

#ifdef HAVE_JSON_GLIB

namespace {

/// json-glib calls itself for each level.
void check_depth(const std::string &text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == '[' || text[i] == '{'))
      ++depth;
    else if (!quoted && (text[i] == ']' || text[i] == '}'))
      --depth;
    if (depth > kMaxDepth)
      throw Error(Error::Code::settings,
                  "is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }
}

Value value_of(JsonNode *node);

Value list_of(JsonArray *array) {
  Value::List list;
  for (guint i = 0; i < json_array_get_length(array); ++i)
    list.push_back(value_of(json_array_get_element(array, i)));
  return {std::move(list)};
}

Value map_of(JsonObject *object) {
  Value::Map map;
  JsonObjectIter iter;
  const gchar *key = nullptr;
  JsonNode *node = nullptr;
  json_object_iter_init(&iter, object);
  while (json_object_iter_next(&iter, &key, &node)) map.insert_or_assign(key, value_of(node));
  return {std::move(map)};
}

Value value_of(JsonNode *node) {
  if (JSON_NODE_HOLDS_ARRAY(node)) return list_of(json_node_get_array(node));
  if (JSON_NODE_HOLDS_OBJECT(node)) return map_of(json_node_get_object(node));
  if (JSON_NODE_HOLDS_NULL(node)) return {};
  switch (json_node_get_value_type(node)) {
    case G_TYPE_BOOLEAN: return {json_node_get_boolean(node) != FALSE};
    case G_TYPE_INT64: return {static_cast<int64_t>(json_node_get_int(node))};
    case G_TYPE_DOUBLE: return {json_node_get_double(node)};
    default: return {std::string(json_node_get_string(node))};
  }
}

}  // namespace

Value parse_json(const std::string &text) {
  check_depth(text);
  const std::unique_ptr<JsonParser, decltype(&g_object_unref)> parser(json_parser_new(),
                                                                      g_object_unref);
  GError *error = nullptr;
  if (!json_parser_load_from_data(parser.get(), text.data(), static_cast<gssize>(text.size()),
                                  &error)) {
    const std::string cause = error->message;
    g_error_free(error);
    throw Error(Error::Code::settings, "is no JSON: " + cause);
  }
  JsonNode *root = json_parser_get_root(parser.get());
  return root != nullptr ? value_of(root) : Value();
}

#else

Value parse_json(const std::string &) {
  throw Error(Error::Code::settings, "is JSON, which this build cannot read: it lacks json-glib");
}

#endif

}  // namespace cudatensor::modelconfig
