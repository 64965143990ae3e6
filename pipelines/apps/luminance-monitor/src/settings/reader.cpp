// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/reader.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "settings/identity.h"
#include "settings/limits.h"
#include "settings/secrets.h"

namespace luminance {
namespace {

using nlohmann::json;

/// A table whose keys are taken one by one; what is left over is nobody's.
class Table {
 public:
  Table(const json &value, std::string path) : value_(value), path_(std::move(path)) {
    if (!value_.is_object()) fail("", "is not a table");
  }

  [[noreturn]] void fail(const std::string &key, const std::string &what) const {
    throw SettingsError((key.empty() ? path_ : path_of(key)) + " " + what);
  }
  std::string path_of(const std::string &key) const {
    return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
  }

  const json *find(const std::string &key) {
    const auto found = value_.find(key);
    if (found == value_.end()) return nullptr;
    taken_.push_back(key);
    return &*found;
  }
  void read(const std::string &key, double &number, double min, double max) {
    const json *value = find(key);
    if (value == nullptr) return;
    if (!value->is_number()) fail(key, "is not a number");
    number = checked(path_of(key), value->get<double>(), min, max);
  }
  void read(const std::string &key, unsigned &number, double min, double max) {
    double value = number;
    read(key, value, min, max);
    number = checked_whole(path_of(key), value, min, max);
  }
  void read(const std::string &key, bool &flag) {
    const json *value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) fail(key, "must be true or false");
    flag = value->get<bool>();
  }
  void read(const std::string &key, std::string &text) {
    const json *value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) fail(key, "is not a string");
    text = value->get<std::string>();
    if (text.find('\0') != std::string::npos) fail(key, "contains a NUL character");
  }
  std::string text(const std::string &key) {
    std::string text;
    read(key, text);
    return text;
  }
  void read(const std::string &key, std::vector<std::string> &texts) {
    const json *value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) fail(key, "is not a list");
    texts.clear();
    for (const json &text : *value) {
      if (!text.is_string()) fail(key, "contains a value that is not a string");
      texts.push_back(text.get<std::string>());
    }
  }
  void with(const std::string &key, const std::function<void(Table)> &read) {
    if (const json *value = find(key)) read(Table(*value, path_of(key)));
  }
  void finish() const {
    for (const auto &[key, value] : value_.items())
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end()) fail(key, "is unknown");
  }

 private:
  const json &value_;
  const std::string path_;
  std::vector<std::string> taken_;
};

/// Where a value may lie, by what it is.
double max_value_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoFrames:
    case Verdict::kFrozen: return 86400;
    case Verdict::kFlicker: return 100;
    case Verdict::kClippedLow:
    case Verdict::kClippedHigh: return 1;
    default: return 255;
  }
}

/// The value that is least like it.
double best_of(Verdict verdict) { return is_bad_above(verdict) ? 0 : max_value_of(verdict); }

void check_rule(const Table &table, Verdict verdict, const Rule &rule) {
  const bool kept_apart =
      is_bad_above(verdict) ? rule.clear <= rule.raise : rule.clear >= rule.raise;
  if (!kept_apart) table.fail("clear", is_bad_above(verdict) ? "is above raise" : "is below raise");
  if (rule.clear == best_of(verdict))
    table.fail("clear", "leaves no value that would clear the verdict");
}

/// For a `raise`, as far from it as before; where there are no such values, halfway to the best.
double clear_for(Verdict verdict, double raise, double gap) {
  const double clear = raise + gap, best = best_of(verdict);
  return (is_bad_above(verdict) ? clear > best : clear < best) ? clear : (raise + best) / 2;
}

void read_rule(Table table, Verdict verdict, Rule &rule) {
  const double max = max_value_of(verdict), before = rule.raise, gap = rule.clear - before;
  table.read("enabled", rule.enabled);
  table.read("raise", rule.raise, 0, max);
  // One that was not set keeps its distance.
  if (rule.raise != before) rule.clear = clear_for(verdict, rule.raise, gap);
  table.read("clear", rule.clear, 0, max);
  table.read("hold", rule.hold, 0, 3600);
  table.finish();
  check_rule(table, verdict, rule);
}

void read_rules(Table table, Rules &rules) {
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::string name(name_of(verdict));
    const json *value = table.find(name);
    if (value == nullptr) continue;
    if (value->is_boolean())
      rules[i].enabled = value->get<bool>();
    else
      read_rule(Table(*value, table.path_of(name)), verdict, rules[i]);
  }
  table.finish();
}

/// The setting itself, or what NAME-file or NAME-env lead to.
std::optional<std::string> read_secret(Table &table, const std::string &name,
                                       const std::string &folder) {
  const std::string plain = table.text(name), file = table.text(name + "-file"),
                    variable = table.text(name + "-env");
  if (!plain.empty() + !file.empty() + !variable.empty() > 1)
    table.fail(name, "is set more than once: directly, by file or by environment variable");
  if (!file.empty())
    return secret_from_file(table.path_of(name + "-file"), std::filesystem::path(folder) / file);
  if (!variable.empty()) {
    const std::string setting = table.path_of(name + "-env");
    std::string secret = secret_from_environment(setting, variable);
    // As a token, it would let in everybody.
    if (secret.empty()) throw SettingsError(setting + ": '" + variable + "' is empty");
    return secret;
  }
  if (!plain.empty()) return plain;
  if (table.find(name) != nullptr) table.fail(name, "is empty");
  return {};
}

std::optional<Credentials> read_credentials(Table &table, const std::string &folder) {
  const std::string user = table.text("user");
  const std::optional<std::string> password = read_secret(table, "password", folder);
  if (user.empty() && password) table.fail("password", "is set without a user");
  if (user.empty()) return {};
  return Credentials{user, password.value_or("")};
}

/// Also one that is wrong: as a file's name, its password would be for everybody.
bool is_uri(const std::string &source) {
  return source.find("://") != std::string::npos ||
         g_uri_is_valid(source.c_str(), G_URI_FLAGS_PARSE_RELAXED, nullptr);
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
  if (uri.empty()) table.fail("uri", "is missing");
  CameraSettings camera;
  try {
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
  table.with("verdicts", [&](Table verdicts) { read_rules(verdicts, camera.rules); });
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
  if (is_uri(source)) return source;
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
  return camera;
}

void add_camera(CameraSettings camera, Settings &settings) {
  settings.cameras.push_back(std::move(camera));
  if (settings.cameras.size() > kMaxCameras)
    throw SettingsError("more than " + std::to_string(kMaxCameras) + " cameras");
}

void set_rules(const std::vector<std::string> &assignments, Rules &rules) {
  json verdicts = json::object();
  for (const std::string &assignment : assignments) {
    const size_t dot = assignment.find('.'), equals = assignment.find('=');
    if (dot == std::string::npos || equals == std::string::npos || dot > equals)
      throw SettingsError("'" + assignment + "' is not of the form VERDICT.SETTING=VALUE");
    verdicts[assignment.substr(0, dot)][assignment.substr(dot + 1, equals - dot - 1)] =
        json::parse(assignment.substr(equals + 1), nullptr, false);
  }
  read_rules(Table(verdicts, "verdicts"), rules);
}

void read_settings(const json &config, const std::string &folder, Settings &settings) {
  Table table(config, "");
  table.read("interval", settings.interval, kMinInterval, kMaxInterval);
  table.read("max-fps", settings.max_fps, 0, kMaxFps);
  table.read("loop", settings.loop);
  if (std::string backend = table.text("backend"); !backend.empty()) settings.backend = backend;
  check_backend(settings.backend);
  table.with("verdicts", [&](Table verdicts) { read_rules(verdicts, settings.rules); });
  table.with("web", [&](Table web) { read_web(web, folder, settings.web); });
  table.with("history", [&](Table history) { read_history(history, folder, settings.history); });
  if (const json *cameras = table.find("cameras")) {
    if (!cameras->is_array()) table.fail("cameras", "is not a list");
    for (size_t i = 0; i < cameras->size(); ++i)
      read_camera(Table((*cameras)[i], "cameras[" + std::to_string(i) + "]"), folder, settings);
  }
  identify(settings.cameras);
  table.finish();
}

}  // namespace luminance
