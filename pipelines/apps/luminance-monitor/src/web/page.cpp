// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/page.h"

#include <gio/gio.h>

#include <array>
#include <string_view>

extern "C" {
#include "page-resources.h"
}

namespace luminance {
namespace {

constexpr const char *kFolder = "/luminance-monitor/page/";

std::string type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, const char *>, 5> kTypes = {
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"},
       {".webmanifest", "application/manifest+json"}}};
  for (const auto &[ending, type] : kTypes)
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending)
      return type;
  return "application/octet-stream";
}

std::string tag_of(GBytes *bytes) {
  g_autofree gchar *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);
  return '"' + std::string(sum, 32) + '"';
}

}  // namespace

Page::Page() {
  GResource *resource = page_get_resource();
  g_auto(GStrv) names =
      g_resource_enumerate_children(resource, kFolder, G_RESOURCE_LOOKUP_FLAGS_NONE, nullptr);
  for (gchar **name = names; name != nullptr && *name != nullptr; ++name) {
    g_autoptr(GBytes) bytes = g_resource_lookup_data(
        resource, (std::string(kFolder) + *name).c_str(), G_RESOURCE_LOOKUP_FLAGS_NONE, nullptr);
    gsize size = 0;
    const auto *text = static_cast<const char *>(g_bytes_get_data(bytes, &size));
    files_["/" + std::string(*name)] = {type_of(*name), {text, size}, tag_of(bytes)};
  }
  if (const auto index = files_.find("/index.html"); index != files_.end())
    files_["/"] = index->second;
}

bool Page::answer(Exchange &exchange) const {
  const auto found = files_.find(exchange.path());
  // Login makes the form, because it knows what the form has to ask for.
  if (found == files_.end() || found->first == "/login.html") return false;
  const File &file = found->second;
  const std::string known = exchange.header("If-None-Match").value_or("");
  const bool is_known = known == "*" || known.find(file.tag) != std::string::npos;
  exchange.answer({is_known ? 304u : 200u,
                   file.type,
                   is_known ? "" : file.text,
                   "no-cache",
                   {{"ETag", file.tag}}});
  return true;
}

}  // namespace luminance
