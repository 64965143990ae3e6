// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/syntax.h"
#include "gst/util/ref.h"
#include "kernels/error.h"

namespace cudatensor::modelconfig {
namespace {

Value group_of(GKeyFile *file, const gchar *group) {
  Value::Map map;
  const Ref<gchar *> keys(g_key_file_get_keys(file, group, nullptr, nullptr));
  for (gchar **key = keys.get(); key != nullptr && *key != nullptr; ++key) {
    gchar *text = g_key_file_get_value(file, group, *key, nullptr);
    map.insert_or_assign(*key, scalar_of(text != nullptr ? text : ""));
    g_free(text);
  }
  return {std::move(map)};
}

}  // namespace

Value parse_key_file(const std::string &text) {
  const Ref<GKeyFile> file(g_key_file_new());
  GError *error = nullptr;
  if (!g_key_file_load_from_data(file.get(), text.data(), text.size(), G_KEY_FILE_NONE, &error)) {
    const std::string cause = error->message;
    g_error_free(error);
    throw Error(Error::Code::settings, "is not a key file: " + shown(cause));
  }
  Value::Map map;
  const Ref<gchar *> groups(g_key_file_get_groups(file.get(), nullptr));
  for (gchar **group = groups.get(); *group != nullptr; ++group)
    map.insert_or_assign(*group, group_of(file.get(), *group));
  return {std::move(map)};
}

}  // namespace cudatensor::modelconfig
