// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/identity.h"

#include <glib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string_view>

namespace luminance {
namespace {

constexpr int kMaxSlugLength = 60, kMaxIdLength = 80;  // characters
constexpr size_t kHash = 8, kMaxChannelLength = 16;

/// Parameters of a query that select a recorder's channel. Other parameters may be secrets.
constexpr const char *kChannels[] = {"channel", "ch",     "chn",     "camera",   "cam",
                                     "camid",   "stream", "subtype", "streamid", "profile",
                                     "input",   "source", "track",   "video"};

using Text = std::unique_ptr<gchar, decltype(&g_free)>;
Text own(gchar *text) { return Text(text, g_free); }

Text composed(const std::string &text, GNormalizeMode mode) {
  const Text valid = own(g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
  return own(g_utf8_normalize(valid.get(), -1, mode));
}

void append(std::string &text, gunichar c) {
  char bytes[6];
  text.append(bytes, static_cast<size_t>(g_unichar_to_utf8(c, bytes)));
}

/// Returns the letters and digits of any script, with their combining marks, and "-" for the rest.
std::string slug_of(const std::string &name) {
  const Text folded = own(g_utf8_casefold(composed(name, G_NORMALIZE_ALL_COMPOSE).get(), -1));
  const Text text = own(g_utf8_normalize(folded.get(), -1, G_NORMALIZE_ALL_COMPOSE));
  std::string slug;
  int characters = 0;
  for (const gchar *at = text.get(); *at != '\0' && characters < kMaxSlugLength;
       at = g_utf8_next_char(at)) {
    const gunichar c = g_utf8_get_char(at);
    if (g_unichar_type(c) == G_UNICODE_FORMAT) continue;  // invisible
    const bool is_open = !slug.empty() && slug.back() != '-';
    if (g_unichar_isalnum(c) || (is_open && g_unichar_ismark(c)))
      append(slug, c);
    else if (is_open)
      slug += '-';
    else
      continue;
    ++characters;
  }
  if (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

std::string hash_of(const std::string &text) {
  const Text hash = own(g_compute_checksum_for_string(G_CHECKSUM_SHA256, text.data(),
                                                      static_cast<gssize>(text.size())));
  return std::string(hash.get(), kHash);
}

bool is_channel(std::string_view pair) {
  const size_t equals = std::min(pair.find('='), pair.size());
  const Text key = own(g_ascii_strdown(pair.data(), static_cast<gssize>(equals)));
  const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
  return value.size() <= kMaxChannelLength &&
         std::all_of(value.begin(), value.end(), [](char c) { return g_ascii_isalnum(c); }) &&
         std::any_of(std::begin(kChannels), std::end(kChannels),
                     [&](const char *channel) { return std::strcmp(key.get(), channel) == 0; });
}

/// Returns the channel parameters of a URI: "&channel=2" for "…?a=b&channel=2#c".
std::string channels_of(const std::string &uri) {
  const size_t question = uri.find('?');
  if (question == std::string::npos) return {};
  std::string_view query(uri);
  query = query.substr(question + 1, uri.find('#', question) - question - 1);
  std::string channels;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (is_channel(pair)) channels += '&' + std::string(pair);
  }
  return channels;
}

/// Throws SettingsError if a set id is also made from another camera's name. Otherwise, a camera
/// that was there first would get another id, and everything known by its id would change owner.
void check_set_ids(const std::vector<CameraSettings> &cameras,
                   const std::set<std::string> &configured) {
  for (const CameraSettings &camera : cameras)
    if (const std::string slug = slug_of(camera.name);
        camera.configured_id.empty() && configured.count(slug) > 0)
      throw SettingsError("the id '" + slug + "' is set for one camera, but the camera '" +
                          camera.name +
                          "' has the same id, made from its name; set another id for one of them");
}

}  // namespace

std::string checked_id(const std::string &id) {
  if (!g_utf8_validate(id.data(), static_cast<gssize>(id.size()), nullptr))
    throw SettingsError("is not valid UTF-8");
  const std::string text = composed(id, G_NORMALIZE_DEFAULT_COMPOSE).get();
  if (text.empty()) throw SettingsError("is empty");
  if (g_utf8_strlen(text.c_str(), -1) > kMaxIdLength)
    throw SettingsError("has more than " + std::to_string(kMaxIdLength) + " characters");
  if (!g_unichar_isalnum(g_utf8_get_char(text.c_str())))
    throw SettingsError("must begin with a letter or a digit");
  for (const gchar *at = text.c_str(); *at != '\0'; at = g_utf8_next_char(at)) {
    const gunichar c = g_utf8_get_char(at);
    if (!g_unichar_isalnum(c) && !g_unichar_ismark(c) && c != '-' && c != '_' && c != '.')
      throw SettingsError("has a character other than letters, digits, '-', '_' and '.'");
  }
  return text;
}

std::string source_of(const SplitUri &shown) {
  return hash_of(shown.location + channels_of(shown.uri));
}

void identify(std::vector<CameraSettings> &cameras) {
  std::map<std::string, int> counts;  // number of cameras by the id of their name
  std::set<std::string> configured;
  for (const CameraSettings &camera : cameras)
    if (camera.configured_id.empty())
      ++counts[slug_of(camera.name)];
    else
      configured.insert(camera.configured_id);
  check_set_ids(cameras, configured);
  std::set<std::string> given = configured;
  for (CameraSettings &camera : cameras) {
    camera.id = camera.configured_id;
    if (!camera.id.empty()) continue;
    const std::string slug = slug_of(camera.name);
    const bool is_unique = !slug.empty() && counts[slug] == 1;
    camera.id = is_unique ? slug : (slug.empty() ? "camera" : slug) + "-" + camera.source;
    if (is_unique) given.insert(slug);
  }
  for (CameraSettings &camera : cameras) {
    if (!camera.configured_id.empty() || counts[camera.id] == 1) continue;
    const std::string id = camera.id;  // of several, if both name and source are equal
    for (int i = 2; !given.insert(camera.id).second; ++i) camera.id = id + "-" + std::to_string(i);
  }
}

std::string shared_names(const std::vector<CameraSettings> &cameras) {
  std::map<std::string, std::vector<const CameraSettings *>> by_slug;
  for (const CameraSettings &camera : cameras)
    if (camera.configured_id.empty()) by_slug[slug_of(camera.name)].push_back(&camera);
  std::string text;
  for (const auto &[slug, all] : by_slug) {
    if (all.size() < 2) continue;
    text += std::to_string(all.size()) + " cameras share the name '" + all.front()->name + "':";
    for (const CameraSettings *camera : all) text += " " + camera->id;
    text += "; set an id for each of them to keep it\n";
  }
  return text;
}

}  // namespace luminance
