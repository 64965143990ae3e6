// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/commandline.h"

#include <gio/gio.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <sstream>
#include <vector>

#include "settings/configfile.h"
#include "settings/filewatch.h"
#include "settings/identity.h"
#include "settings/limits.h"
#include "settings/reader.h"
#include "settings/secrets.h"

namespace luminance {
namespace {

constexpr const char *kDescription =
    "Watches the exposure of cameras: which pictures are too dark, too bright, covered, frozen or "
    "flickering, and since when.";
constexpr const char *kNotes = R"(
A SOURCE is a camera device (/dev/video0), a file, or a URI (rtsp://, http://, srt://).
${NAME} in a URI stands for the value of an environment variable, such as a password. Use
single quotes to protect it from the shell: 'rtsp://viewer:${PASSWORD}@10.0.0.5/stream'.
Credentials for the web page can also come from the environment:
LUMINANCE_MONITOR_TOKEN, LUMINANCE_MONITOR_USER and LUMINANCE_MONITOR_PASSWORD.

Exit status: 0 after a signal or when nothing is left to watch, 1 after a failure,
2 if an option or the configuration is wrong, 3 if a file given as a SOURCE could not be read,
4 if the address of the page cannot be used now, because another program uses it, for example.
The configuration is reloaded when it changes, and on SIGHUP. The manual page, luminance-monitor(1), says more.)";

struct Options {
  std::vector<std::string> sources, rules;
  std::string config, listen, token_file, password_file, user, certificate, key, history, backend,
      format, discover_address;
  std::optional<double> interval, max_fps, duration, history_interval, retention, discover;
  bool discovers = false, headless = false, check = false, loop = false, fast = false,
       no_web = false, no_history = false, allow_anonymous = false;
};

void add_watching(CLI::App &app, Options &o) {
  app.add_option("SOURCE", o.sources, "Cameras, files and URIs");
  app.add_option("-c,--config", o.config, "TOML file with cameras and settings");
  app.add_option("--interval", o.interval, "Seconds over which values are shown (1)");
  app.add_option("--max-fps", o.max_fps, "Frames per second to measure (all)");
  app.add_option("--set", o.rules, "Change a rule: too-dark.raise=50, frozen.enabled=false")
      ->allow_extra_args(false);
  app.add_option("--backend", o.backend, "Where frames are measured: auto, cuda or cpu");
  app.add_flag("--loop", o.loop, "Play files again and again, as if they were cameras");
  app.add_flag("--fast", o.fast,
               "Read files as fast as possible; the time is that of their frames");
  app.add_option("--duration", o.duration, "Exit after this number of seconds");
  app.add_flag("--headless", o.headless, "Open no browser, and exit when all files have ended");
  app.add_flag("--check", o.check, "Check the settings and exit");
}

void add_web(CLI::App &app, Options &o) {
  app.add_option("--listen", o.listen, "Address and port of the page (127.0.0.1:8080)");
  app.add_flag("--no-web", o.no_web, "Do not serve a page");
  app.add_option("--user", o.user, "User who may read, with --password-file");
  app.add_option("--password-file", o.password_file, "File with the user's password");
  app.add_option("--token-file", o.token_file, "File with a token that allows reading");
  app.add_flag("--allow-anonymous", o.allow_anonymous,
               "Let everyone who reaches the address read, without authentication");
  app.add_option("--tls-certificate", o.certificate,
                 "PEM file with the certificate chain, for HTTPS");
  app.add_option("--tls-key", o.key, "PEM file with the private key");
}

void add_history(CLI::App &app, Options &o) {
  app.add_option("--history", o.history, "SQLite file of the history");
  app.add_flag("--no-history", o.no_history, "Do not keep a history");
  app.add_option("--history-interval", o.history_interval, "Seconds that a row covers (60)");
  app.add_option("--retention-days", o.retention, "Days that rows are kept (30)");
  app.add_option("--export", o.format,
                 "Write the rows (csv) or the incidents of the history to the standard output, as "
                 "CSV, and exit")
      ->check(CLI::IsMember({"csv", "incidents"}));
}

void add_discovery(CLI::App &app, Options &o) {
  app.add_option("--discover", o.discover,
                 "List the ONVIF cameras that respond within SECONDS (3), and exit")
      ->expected(0, 1);
  app.add_option("--discover-address", o.discover_address,
                 "HOST:PORT to ask instead of the networks that this machine is in");
}

/// Throws SettingsError if a URI has a password: all users of the machine can see the command line.
void refuse_password(const std::string &source) {
  if (source.find("://") == std::string::npos) return;
  std::string plain = source;
  // A variable is not a password, so it is removed before the check.
  for (size_t at = plain.find("${"); at != std::string::npos; at = plain.find("${")) {
    const size_t end = plain.find('}', at);
    plain.erase(at, end == std::string::npos ? end : end - at + 1);
  }
  const SplitUri split = split_uri(plain);
  if (has_password(split))
    throw SettingsError(split.location +
                        ": a password on the command line is visible to every user of this "
                        "machine; use ${NAME} for an environment variable, or --config");
}

/// Returns the value of the variable, if it is set. Throws SettingsError if it is empty: an empty
/// secret would let in everybody.
std::optional<std::string> variable(const char *name) {
  const char *text = std::getenv(name);
  if (text == nullptr) return {};
  if (*text == '\0') throw SettingsError(std::string(name) + " is empty");
  return text;
}

void read_environment(WebSettings &web) {
  if (const auto token = variable("LUMINANCE_MONITOR_TOKEN")) web.token = *token;
  const auto user = variable("LUMINANCE_MONITOR_USER"),
             password = variable("LUMINANCE_MONITOR_PASSWORD");
  if (user || password) web.basic = Credentials{user.value_or(""), password.value_or("")};
}

void apply_web(const Options &o, WebSettings &web) {
  if (!o.listen.empty()) read_address(o.listen, web);
  if (o.no_web) web.enabled = false;
  if (o.allow_anonymous) web.allow_anonymous = true;
  if (!o.token_file.empty()) web.token = secret_from_file("--token-file", o.token_file);
  if (!o.user.empty() || !o.password_file.empty()) {
    if (o.user.empty() || o.password_file.empty())
      throw SettingsError("--user and --password-file must be used together");
    web.basic = Credentials{o.user, secret_from_file("--password-file", o.password_file)};
  }
  if (!o.certificate.empty()) web.certificate = o.certificate;
  if (!o.key.empty()) web.key = o.key;
  // The server reads these files later.
  for (const std::string &file : {web.certificate, web.key})
    if (!file.empty()) FileWatch::note(file);
}

void apply_history(const Options &o, HistorySettings &history) {
  if (!o.history.empty()) history.file = o.history, history.enabled = true;
  if (o.history_interval)
    history.interval = checked("--history-interval", *o.history_interval, kMinHistoryInterval,
                               kMaxHistoryInterval);
  if (o.retention)
    history.retention = checked("--retention-days", *o.retention, kMinRetention, kMaxRetention);
  if (o.no_history) history.enabled = false, history.file.clear();
}

void check_history(const Settings &settings) {
  if (settings.history.interval < settings.interval)
    throw SettingsError("history.interval is shorter than interval");
}

bool is_loopback(const std::string &address) {
  g_autoptr(GInetAddress) inet = g_inet_address_new_from_string(address.c_str());
  return inet != nullptr && g_inet_address_get_is_loopback(inet);
}

void check_web(const WebSettings &web) {
  if (web.certificate.empty() != web.key.empty())
    throw SettingsError("a TLS certificate and its key must be set together");
  if (web.basic && (web.basic->user.empty() || web.basic->password.empty()))
    throw SettingsError("the page's user and password must be set together");
  // The server checks a host name when it listens: only then are its addresses known.
  if (web.enabled && g_hostname_is_ip_address(web.address.c_str()) && !is_loopback(web.address))
    require_authentication(web);
}

/// Applies options for watching. They override the file for every camera.
void apply_watching(const Options &o, Settings &settings) {
  if (o.loop) settings.loop = true;
  settings.fast = o.fast;
  if (o.interval)
    settings.interval = checked("--interval", *o.interval, kMinInterval, kMaxInterval);
  if (!o.backend.empty()) settings.backend = o.backend;
  check_backend(settings.backend);
  if (o.max_fps) settings.max_fps = checked_whole("--max-fps", *o.max_fps, 0, kMaxFps);
  set_rules(o.rules, settings.rules, settings.schedules);
  for (CameraSettings &camera : settings.cameras) {
    if (o.max_fps) camera.max_fps = settings.max_fps;
    set_rules(o.rules, camera.rules, camera.schedules);
    // A camera with a snapshot interval sends nothing between two pictures, and one may be lost.
    lift(Verdict::kNoFrames, 2 * camera.snapshot_interval, camera.rules, camera.schedules);
  }
}

/// With --fast, time is that of the frames, and would stop if a live camera failed.
void check_fast(const Settings &settings) {
  if (!settings.fast) return;
  for (const CameraSettings &camera : settings.cameras)
    if (camera.uri.rfind("file:", 0) != 0)
      throw SettingsError(camera.location + ": --fast works only with files");
}

void read_config(const std::string &file, Settings &settings) {
  const nlohmann::json config = read_config_file(file);
  try {
    read_settings(config, std::filesystem::absolute(file).parent_path(), settings);
  } catch (const SettingsError &error) {
    throw SettingsError(file + ": " + error.what());
  }
}

Command command_of(const Options &o) {
  Command command = {Run{}, {}};
  Settings &settings = command.settings;
  read_environment(settings.web);
  if (!o.config.empty()) read_config(o.config, settings);
  apply_watching(o, settings);
  apply_web(o, settings.web);
  apply_history(o, settings.history);
  check_history(settings);
  check_web(settings.web);
  for (const std::string &source : o.sources) {
    refuse_password(source);
    add_camera(camera_of(source, settings), settings);
  }
  identify(settings.cameras);
  check_fast(settings);
  if (!o.format.empty()) {
    command.action = Export{o.format == "incidents"};
    return command;
  }
  if (o.discovers) {
    const double seconds =
        checked("--discover", o.discover.value_or(kDiscover), kMinDiscover, kMaxDiscover);
    command.action = Discover{seconds, o.discover_address};
    return command;
  }
  if (!o.discover_address.empty()) throw SettingsError("--discover-address is only for --discover");
  if (settings.cameras.empty())
    throw SettingsError("no camera: give a SOURCE, or a --config with cameras");
  if (o.check) command.action = Check{};
  if (auto *run = std::get_if<Run>(&command.action)) {
    run->headless = o.headless;
    if (o.duration) run->seconds = checked("--duration", *o.duration, 0, 1e9);
  }
  return command;
}

}  // namespace

Command read_command_line(int argc, char **argv) {
  CLI::App app(kDescription, "luminance-monitor");
  app.footer(kNotes);
  app.set_version_flag("--version", std::string("luminance-monitor " LUMINANCE_VERSION));
  Options options;
  add_watching(app, options);
  add_web(app, options);
  add_history(app, options);
  add_discovery(app, options);
  try {
    app.parse(argc, argv);
    options.discovers = app.count("--discover") > 0;
  } catch (const CLI::ParseError &error) {
    std::ostringstream out, problem;
    const int status = app.exit(error, out, problem);
    if (status != 0) throw SettingsError(error.what());
    return {PrintAndExit{0, out.str()}, {}};
  }
  return command_of(options);
}

}  // namespace luminance
