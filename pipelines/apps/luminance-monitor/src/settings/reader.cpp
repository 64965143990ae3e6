// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/reader.h"

#include <glib.h>

#include <filesystem>

#include "settings/credentials.h"
#include "settings/identity.h"
#include "settings/limits.h"
#include "settings/notifications.h"
#include "settings/regionreader.h"
#include "settings/rulereader.h"
#include "settings/scheme.h"
#include "settings/secrets.h"
#include "settings/table.h"

namespace luminance {
namespace {

using nlohmann::json;

/// Whether `source` is a URI, even an invalid one: errors show file names, but not the passwords of
/// URIs.
bool is_uri(const std::string &source) {
  return source.find("://") != std::string::npos ||
         g_uri_is_valid(source.c_str(), G_URI_FLAGS_PARSE_RELAXED, nullptr);
}

bool is_by_http(const std::string &uri) {
  return g_ascii_strncasecmp(uri.c_str(), "http://", 7) == 0 ||
         g_ascii_strncasecmp(uri.c_str(), "https://", 8) == 0;
}

void read_redirect_hosts(Table &table, std::vector<std::string> &hosts) {
  table.read("redirect-hosts", hosts);
  for (const std::string &host : hosts)
    if (host.empty() || host.find_first_of("/@?# *") != std::string::npos)
      table.fail("redirect-hosts", "has '" + host + "', which is not HOST or HOST:PORT");
}

void read_id(Table &table, const Settings &settings, CameraSettings &camera) {
  const json *id = table.find("id");
  if (id == nullptr) return;
  table.read("id", camera.configured_id);
  try {
    camera.configured_id = checked_id(camera.configured_id);
  } catch (const SettingsError &error) {
    table.fail("id", error.what());
  }
  for (const CameraSettings &other : settings.cameras)
    if (other.configured_id == camera.configured_id)
      table.fail("id", "is already used by another camera");
}

void read_camera(Table table, const std::string &folder, Settings &settings) {
  const std::string uri = table.text("uri");
  if (uri.empty()) {
    const std::string name = table.text("name");
    table.fail("uri",
               "is missing" + (name.empty() ? "" : " for '" + name + "'") +
                   "; fill in the address of its video, such as rtsp://HOST/PATH: the "
                   "camera's manual, or its own web page, has the path. In a file of --discover, "
                   "remove the '#' of the line '# uri' and complete the address");
  }
  CameraSettings camera;
  try {
    if (!is_uri(uri)) check_file_name(uri, folder);
    camera =
        camera_of(is_uri(uri) ? uri : (std::filesystem::path(folder) / uri).string(), settings);
  } catch (const SettingsError &error) {
    throw SettingsError(table.path_of("uri") + ": " + error.what());
  }
  table.read("name", camera.name);
  if (camera.name.empty()) table.fail("name", "is empty");
  read_id(table, settings, camera);
  if (const auto credentials = read_credentials(table, folder)) {
    if (camera.credentials) table.fail("user", "is also set in the URI");
    camera.credentials = credentials;
  }
  read_redirect_hosts(table, camera.redirect_hosts);
  table.read("max-fps", camera.max_fps, 0, kMaxFps);
  table.read("snapshot-interval", camera.snapshot_interval, kMinSnapshotInterval,
             kMaxSnapshotInterval);
  if (camera.snapshot_interval > 0 && !is_by_http(camera.uri))
    table.fail("snapshot-interval", "needs a uri that begins with http:// or https://");
  camera.region = read_region(table);
  table.with("verdicts",
             [&](Table verdicts) { read_rules(verdicts, camera.rules, camera.schedules); });
  table.finish();
  add_camera(std::move(camera), settings);
}

void read_web(Table table, const std::string &folder, WebSettings &web) {
  table.read("enabled", web.enabled);
  if (const json *listen = table.find("listen")) {
    if (!listen->is_string()) table.fail("listen", "is not a string");
    try {
      read_address(listen->get<std::string>(), web);
    } catch (const SettingsError &error) {
      throw SettingsError(table.path_of("listen") + ": " + error.what());
    }
  }
  if (const auto credentials = read_credentials(table, folder)) web.basic = credentials;
  if (const auto token = read_secret(table, "token", folder)) web.token = *token;
  for (const auto &[key, file] :
       {std::pair<const char *, std::string &>{"tls-certificate", web.certificate},
        {"tls-key", web.key}}) {
    const std::string name = table.text(key);
    if (!name.empty()) file = std::filesystem::path(folder) / name;
  }
  table.read("max-connections", web.max_connections, 1, kMaxConnections);
  table.read("allow-anonymous", web.allow_anonymous);
  table.read("trust-forwarded-for", web.trust_forwarded_for);
  table.finish();
}

void read_history(Table table, const std::string &folder, HistorySettings &history) {
  if (const std::string file = table.text("file"); !file.empty())
    history.file = std::filesystem::path(folder) / file;
  bool enabled = true;
  table.read("enabled", enabled);
  if (!enabled) history.file.clear(), history.enabled = false;
  table.read("interval", history.interval, kMinHistoryInterval, kMaxHistoryInterval);
  table.read("retention-days", history.retention, kMinRetention, kMaxRetention);
  table.finish();
}

std::string uri_of(const std::string &source) {
  for (const char *cameras : {"/dev/video", "/dev/v4l/"})
    if (source.rfind(cameras, 0) == 0) return "v4l2://" + source;
  if (is_uri(source)) {
    check_scheme(source);
    return source;
  }
  check_file_name(source, ".");
  const std::string path = std::filesystem::absolute(source);
  gchar *uri = g_filename_to_uri(path.c_str(), nullptr, nullptr);
  if (uri == nullptr) throw SettingsError("'" + source + "' is neither a URI nor a file name");
  const std::string text = uri;
  g_free(uri);
  return text;
}

std::string name_of_uri(const SplitUri &split) {
  const size_t at = split.location.find("://");
  const std::string rest = at == std::string::npos ? split.location : split.location.substr(at + 3);
  const size_t slash = rest.rfind('/');
  const bool is_file =
      split.location.rfind("file:", 0) == 0 || split.location.rfind("v4l2:", 0) == 0;
  const std::string name = is_file && slash != std::string::npos ? rest.substr(slash + 1) : rest;
  gchar *plain = g_uri_unescape_string(name.c_str(), nullptr);
  const std::string text = plain != nullptr ? plain : name;
  g_free(plain);
  return text.empty() ? split.location : text;
}

}  // namespace

CameraSettings camera_of(const std::string &source, const Settings &settings) {
  const SplitUri split = split_uri(uri_of(expand_variables(source)));
  const SplitUri shown = split_uri(uri_of(expand_variables_redacted(source)));
  CameraSettings camera;
  camera.uri = split.uri;
  camera.location = shown.location;
  camera.credentials = split.credentials;
  camera.source = source_of(shown);
  camera.name = name_of_uri(shown);
  camera.max_fps = settings.max_fps;
  camera.rules = settings.rules;
  camera.schedules = settings.schedules;
  return camera;
}

void add_camera(CameraSettings camera, Settings &settings) {
  settings.cameras.push_back(std::move(camera));
  if (settings.cameras.size() > kMaxCameras)
    throw SettingsError("more than " + std::to_string(kMaxCameras) + " cameras");
}

void set_rules(const std::vector<std::string> &assignments, Rules &rules, Schedules &schedules) {
  json verdicts = json::object();
  for (const std::string &assignment : assignments) {
    const size_t dot = assignment.find('.'), equals = assignment.find('=');
    if (dot == std::string::npos || equals == std::string::npos || dot > equals)
      throw SettingsError("'" + assignment + "' is not of the form VERDICT.SETTING=VALUE");
    const std::string name = assignment.substr(0, dot);
    if (const std::optional<Verdict> verdict = verdict_named(name))
      schedules[static_cast<size_t>(*verdict)].clear();
    verdicts[name][assignment.substr(dot + 1, equals - dot - 1)] =
        json::parse(assignment.substr(equals + 1), nullptr, false);
  }
  read_rules(Table(verdicts, "verdicts"), rules, schedules);
}

void read_settings(const json &config, const std::string &folder, Settings &settings) {
  Table table(config, "");
  table.read("interval", settings.interval, kMinInterval, kMaxInterval);
  table.read("max-fps", settings.max_fps, 0, kMaxFps);
  table.read("loop", settings.loop);
  if (std::string backend = table.text("backend"); !backend.empty()) settings.backend = backend;
  check_backend(settings.backend);
  table.with("verdicts",
             [&](Table verdicts) { read_rules(verdicts, settings.rules, settings.schedules); });
  table.with("web", [&](Table web) { read_web(web, folder, settings.web); });
  table.with("history", [&](Table history) { read_history(history, folder, settings.history); });
  table.with("notifications", [&](Table notifications) {
    read_notifications(notifications, folder, settings.notifications);
  });
  table.with_each("cameras", [&](Table camera) { read_camera(camera, folder, settings); });
  identify(settings.cameras);
  table.finish();
}

}  // namespace luminance
