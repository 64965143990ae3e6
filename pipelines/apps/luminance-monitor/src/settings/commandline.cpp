// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/commandline.h"

#include <gio/gio.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <sstream>
#include <vector>

#include "settings/configfile.h"
#include "settings/identity.h"
#include "settings/limits.h"
#include "settings/reader.h"
#include "settings/secrets.h"

namespace luminance {
namespace {

constexpr const char *kDescription =
    "Watches the luminance of cameras: which are too dark, too bright, covered, frozen, "
    "flickering, "
    "and since when.";
constexpr const char *kNotes = R"(
A SOURCE is a camera's device (/dev/video0), a file, or a URI (rtsp://, http://, srt://).
${NAME} in a URI stands for an environment variable, for passwords: in single quotes, so
that the shell leaves it alone: 'rtsp://viewer:${PASSWORD}@10.0.0.5/stream'.
The token and the password of the web page may also come from the environment:
LUMINANCE_MONITOR_TOKEN, LUMINANCE_MONITOR_USER and LUMINANCE_MONITOR_PASSWORD.

Exit status: 0 when it was ended by a signal or has nothing more to watch, 1 when it failed,
2 when an option or the configuration is wrong, 3 when a file that it was to read failed,
4 when the address of the page cannot be had now, for another program has it, say.
SIGHUP has it read the configuration again.)";

struct Options {
  std::vector<std::string> sources, rules;
  std::string config, listen, token_file, password_file, user, certificate, key, history, backend,
      format;
  std::optional<double> interval, max_fps, duration, history_interval, retention;
  bool headless = false, check = false, loop = false, fast = false, no_web = false,
       no_history = false, anonymous = false;
};

void add_watching(CLI::App &app, Options &o) {
  app.add_option("SOURCE", o.sources, "Cameras, files and URIs");
  app.add_option("-c,--config", o.config, "TOML or YAML with cameras and settings");
  app.add_option("--interval", o.interval, "Seconds of what is shown (1)");
  app.add_option("--max-fps", o.max_fps, "Frames a second that are measured (all)");
  app.add_option("--set", o.rules, "A verdict's rule: too-dark.raise=50, frozen.enabled=false")
      ->allow_extra_args(false);
  app.add_option("--backend", o.backend, "Who counts: auto, cuda or cpu");
  app.add_flag("--loop", o.loop, "Begin files again, as if they were cameras");
  app.add_flag("--fast", o.fast, "Read files as fast as possible, with the time of their frames");
  app.add_option("--for", o.duration, "End after so many seconds");
  app.add_flag("--headless", o.headless, "For servers: open no browser, end when all files have");
  app.add_flag("--check", o.check, "Check the settings, and do nothing else");
}

void add_web(CLI::App &app, Options &o) {
  app.add_option("--listen", o.listen, "Address and port of the page (127.0.0.1:8080)");
  app.add_flag("--no-web", o.no_web, "Serve nothing");
  app.add_option("--user", o.user, "Who may read, with --password-file");
  app.add_option("--password-file", o.password_file, "File with the user's password");
  app.add_option("--token-file", o.token_file, "File with a token that lets programs read");
  app.add_flag("--allow-anonymous", o.anonymous,
               "Let everybody read who reaches the address, without a password or a token");
  app.add_option("--tls-certificate", o.certificate, "PEM file: serve HTTPS");
  app.add_option("--tls-key", o.key, "PEM file of the certificate's key");
}

void add_history(CLI::App &app, Options &o) {
  app.add_option("--history", o.history, "SQLite file of what was");
  app.add_flag("--no-history", o.no_history, "Keep none");
  app.add_option("--history-interval", o.history_interval, "Seconds of a row (60)");
  app.add_option("--retention-days", o.retention, "How long rows are kept (30)");
  app.add_option("--export", o.format, "Write the history to the standard output: csv")
      ->check(CLI::IsMember({"csv"}));
}

/// What the command line shows, everybody on the machine can see.
void refuse_password(const std::string &source) {
  if (source.find("://") == std::string::npos) return;
  std::string plain = source;
  // A variable is no password.
  for (size_t at = plain.find("${"); at != std::string::npos; at = plain.find("${")) {
    const size_t end = plain.find('}', at);
    plain.erase(at, end == std::string::npos ? end : end - at + 1);
  }
  const SplitUri split = split_uri(plain);
  if (holds_password(split))
    throw SettingsError(split.location +
                        ": a password on the command line can be seen by everybody on this "
                        "machine; write ${NAME} for an environment variable, or use --config");
}

/// The variable, if it is there. An empty one would let in everybody.
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
  if (o.anonymous) web.anonymous = true;
  if (!o.token_file.empty()) web.token = secret_from_file("--token-file", o.token_file);
  if (!o.user.empty() || !o.password_file.empty()) {
    if (o.user.empty() || o.password_file.empty())
      throw SettingsError("--user and --password-file need each other");
    web.basic = Credentials{o.user, secret_from_file("--password-file", o.password_file)};
  }
  if (!o.certificate.empty()) web.certificate = o.certificate;
  if (!o.key.empty()) web.key = o.key;
}

void apply_history(const Options &o, HistorySettings &history) {
  if (!o.history.empty()) history.file = o.history, history.wanted = true;
  if (o.history_interval)
    history.interval = checked("--history-interval", *o.history_interval, kLeastHistoryInterval,
                               kGreatestHistoryInterval);
  if (o.retention)
    history.retention =
        checked("--retention-days", *o.retention, kLeastRetention, kGreatestRetention);
  if (o.no_history) history.wanted = false, history.file.clear();
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
    throw SettingsError("a TLS certificate and its key need each other");
  if (web.basic && (web.basic->user.empty() || web.basic->password.empty()))
    throw SettingsError("the page's user and password need each other");
  // What a name leads to is known once it is listened on.
  if (web.enabled && g_hostname_is_ip_address(web.address.c_str()) && !is_loopback(web.address))
    check_that_somebody_is_asked(web);
}

/// What is said here counts for every camera, whatever the file says.
void apply_watching(const Options &o, Settings &settings) {
  if (o.loop) settings.loop = true;
  settings.fast = o.fast;
  if (o.interval)
    settings.interval = checked("--interval", *o.interval, kLeastInterval, kGreatestInterval);
  if (!o.backend.empty()) settings.backend = o.backend;
  check_backend(settings.backend);
  if (o.max_fps) settings.max_fps = checked_whole("--max-fps", *o.max_fps, 0, kMostFps);
  set_rules(o.rules, settings.rules);
  for (CameraSettings &camera : settings.cameras) {
    if (o.max_fps) camera.max_fps = settings.max_fps;
    set_rules(o.rules, camera.rules);
  }
}

/// Where a camera brings the time, it stands still when that camera fails.
void check_fast(const Settings &settings) {
  if (!settings.fast) return;
  for (const CameraSettings &camera : settings.cameras)
    if (camera.uri.rfind("file:", 0) != 0)
      throw SettingsError(camera.location + ": --fast is for files");
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
    command.action = Export{};
    return command;
  }
  if (settings.cameras.empty())
    throw SettingsError("there is no camera: name one, or a --config that does");
  if (o.check) command.action = Check{};
  if (auto *run = std::get_if<Run>(&command.action)) {
    run->headless = o.headless;
    if (o.duration) run->seconds = checked("--for", *o.duration, 0, 1e9);
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    std::ostringstream out, problem;
    const int status = app.exit(error, out, problem);
    if (status != 0) throw SettingsError(error.what());
    return {Stop{0, out.str()}, {}};
  }
  return command_of(options);
}

}  // namespace luminance
