// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches cameras by the messages of cudahistogram. A page, an API, metrics and a history show how
// well exposed the cameras are, and what is wrong with them.
#include <gio/gio.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "capture/sources.h"
#include "discovery/discovery.h"
#include "discovery/listing.h"
#include "history/export.h"
#include "history/history.h"
#include "log/log.h"
#include "metrics/metrics.h"
#include "notify/notifier.h"
#include "settings/changes.h"
#include "settings/commandline.h"
#include "settings/filewatch.h"
#include "settings/identity.h"
#include "web/listener.h"
#include "web/server.h"

namespace luminance {
namespace {

enum Exit { kDone = 0, kFailed = 1, kWrongSettings = 2, kSourceFailed = 3, kCannotListen = 4 };

constexpr guint kTick = 200;  // milliseconds
// Time for a previous process, which is about to end, to release the address.
constexpr gint64 kListenTimeout = 3 * G_USEC_PER_SEC;
constexpr gulong kListenPause = G_USEC_PER_SEC / 4;

void print_error(const std::string &what) {
  std::fprintf(stderr, "luminance-monitor: %s\n", on_one_line(what).c_str());
}

/// Returns the default file of the history.
std::string usual_history() {
  return std::filesystem::path(g_get_user_data_dir()) / "luminance-monitor" / "history.db";
}

/// Returns the settings with the default file if they name none.
HistorySettings located(HistorySettings settings) {
  if (settings.file.empty()) settings.file = usual_history();
  return settings;
}

/// Opens the history, or returns null if it is disabled. A file that is named must open at once;
/// the default file is tried again later.
std::unique_ptr<History> open_history(const HistorySettings &settings, const Monitor &monitor) {
  if (!settings.enabled) return nullptr;
  const auto mode =
      settings.file.empty() ? History::OpenMode::kDeferred : History::OpenMode::kImmediate;
  return std::make_unique<History>(located(settings), monitor, mode);
}

/// Returns null if time is that of frames: then a recording is judged, and nobody is notified.
std::unique_ptr<Notifier> make_notifier(const Settings &settings, const Monitor &monitor) {
  if (settings.fast) return nullptr;
  return std::make_unique<Notifier>(settings.notifications, monitor);
}

/// Opens the page in the browser if somebody sits in front of the machine.
void open_page(const std::string &address) {
  const bool has_display =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (has_display && isatty(STDOUT_FILENO))
    g_app_info_launch_default_for_uri(address.c_str(), nullptr, nullptr);
}

std::unique_ptr<Server> begin_server(const WebSettings &settings, const Served &served) {
  const gint64 begin = g_get_monotonic_time();
  for (;;) try {
      return std::make_unique<Server>(settings, served);
    } catch (const ListenError &) {
      if (g_get_monotonic_time() - begin > kListenTimeout) throw;
      g_usleep(kListenPause);
    }
}

/// Catches SIGHUP. A signal that comes before the main loop runs is handled when it does.
using SignalSource = std::unique_ptr<GSource, decltype(&g_source_unref)>;
SignalSource catch_hangup() { return {g_unix_signal_source_new(SIGHUP), g_source_unref}; }

/// Reads the command line and the files named in it, anew at each call. Throws SettingsError.
using Read = std::function<Command()>;

/// Owns all parts that work while cameras are watched.
class Application {
 public:
  Application(const Command &command, const Read &read, FileWatch &files)
      : run_(std::get<Run>(command.action)),
        settings_(command.settings),
        read_(read),
        files_(files),
        clock_(settings_.fast),
        begin_(clock_.now()),
        monitor_(settings_, clock_),
        log_(clock_),
        metrics_(monitor_),
        history_(open_history(settings_.history, monitor_)),
        notifier_(make_notifier(settings_, monitor_)) {
    monitor_.add(log_);
    monitor_.add(metrics_);
    if (history_ != nullptr) {
      monitor_.add(*history_);
      metrics_.show(*history_);
    }
    if (notifier_ != nullptr) {
      monitor_.add(*notifier_);
      metrics_.show(*notifier_);
    }
    for (const auto &camera : monitor_.cameras()) restore(*camera);
    sources_.emplace(settings_, monitor_);
    if (settings_.web.enabled) serve(settings_.web);
    sources_->begin();
  }

  int watch(GSource *hangup) {
    g_source_set_callback(hangup, on_hangup, this, nullptr);
    g_source_attach(hangup, nullptr);
    for (const int signal : {SIGINT, SIGTERM}) g_unix_signal_add(signal, on_signal, this);
    const guint timer = g_timeout_add(kTick, on_tick, this);
    g_main_loop_run(loop_.get());
    g_source_remove(timer);
    g_source_destroy(hangup);
    const int status = sources_->has_failed() ? kSourceFailed : kDone;
    monitor_.finish();
    if (history_ != nullptr) history_->flush();
    report_history_error();
    server_.reset();
    if (notifier_ != nullptr) notifier_->finish();
    if (!sources_->stop()) {
      print_error("a camera does not close; exiting anyway");
      std::_Exit(status);
    }
    return status;
  }

 private:
  using Loop = std::unique_ptr<GMainLoop, decltype(&g_main_loop_unref)>;

  void serve(const WebSettings &settings) {
    const Served served = {monitor_, metrics_, *sources_, history_.get(), notifier_.get()};
    server_ = begin_server(settings, served);
    monitor_.add(*server_);
    std::printf("Serving %s\n", server_->address().c_str());
    std::fflush(stdout);
    if (!run_.headless) open_page(server_->address());
  }

  /// Prints once why the history cannot be written, and once that it can be written again.
  void report_history_error() {
    if (history_ == nullptr || history_->error() == reported_) return;
    reported_ = history_->error();
    print_error(reported_.empty() ? "the history can be written again" : reported_);
  }

  /// Reads the settings again, and applies them. Invalid settings change nothing.
  void reload() try {
    Settings updated = read_().settings;
    if (server_ != nullptr) server_->change(updated.web);
    const std::vector<std::string> fixed = fixed_changes(settings_, updated);
    const std::string cameras = change_cameras(updated);
    settings_.loop = updated.loop;
    settings_.backend = updated.backend;
    settings_.cameras = std::move(updated.cameras);
    std::string text = "configuration reloaded: " + cameras + change_notifications(updated);
    for (const std::string &name : fixed)
      text += (&name == &fixed.front() ? "; changes that need a restart: " : ", ") + name;
    log_line(text);
  } catch (const std::exception &error) {
    log_line(std::string("configuration not reloaded: ") + error.what());
  }

  /// Adds, removes and changes cameras. Cameras with the same settings are not touched; those with
  /// other rules keep their connection, and what they have learned. Returns a summary for users.
  std::string change_cameras(const Settings &updated) {
    const CameraChanges changes = camera_changes(settings_, updated);
    for (const std::vector<std::string> *ids : {&changes.removed, &changes.changed})
      for (const std::string &id : *ids) {
        const size_t number = monitor_.number_of(*monitor_.camera(id));
        sources_->remove(number);
        monitor_.remove(number);
      }
    settings_.backend = updated.backend;
    const std::set<std::string> others(changes.rules.begin(), changes.rules.end());
    for (const CameraSettings &camera : updated.cameras) {
      const Camera *const known = monitor_.camera(camera.id);
      if (known == nullptr)
        add_camera(camera);
      else if (others.count(camera.id) > 0)
        monitor_.set_rules(monitor_.number_of(*known), camera.rules, camera.schedules);
    }
    monitor_.set_order(updated.cameras);
    return std::to_string(changes.added.size()) + " cameras added, " +
           std::to_string(changes.removed.size()) + " removed, " +
           std::to_string(changes.changed.size() + changes.rules.size()) + " changed, " +
           std::to_string(changes.unchanged) + " unchanged";
  }

  void add_camera(const CameraSettings &settings) {
    const size_t number = monitor_.add(settings);
    restore(monitor_.camera_of(number));
    sources_->add(number);
  }

  /// Restores what the camera is meant to look at, and its maintenance, from the history.
  void restore(const Camera &camera) {
    if (history_ == nullptr) return;
    if (const std::optional<Reference> reference = history_->reference(camera))
      monitor_.restore_reference(monitor_.number_of(camera), *reference);
    restore_maintenance(camera);
  }

  void restore_maintenance(const Camera &camera) {
    if (camera.maintenance()) return;
    if (const auto maintenance = history_->maintenance(camera))
      monitor_.set_maintenance(monitor_.number_of(camera), maintenance);
  }

  void write_history() {
    if (history_ == nullptr) return;
    history_->tick();
    if (!history_->take_opened_late()) return;
    for (const auto &camera : monitor_.cameras()) restore_maintenance(*camera);
  }

  /// Applies changes of the notifications. Returns a summary for users, or an empty text.
  std::string change_notifications(const Settings &updated) {
    if (notifier_ == nullptr || are_same(settings_.notifications, updated.notifications)) return {};
    notifier_->change(updated.notifications);
    settings_.notifications = updated.notifications;
    return "; notifications changed";
  }

  /// Reloads the settings, or ends the program if SIGHUP means that its terminal is gone.
  static gboolean on_hangup(gpointer data) {
    auto *self = static_cast<Application *>(data);
    if (self->was_terminal_ && !isatty(STDIN_FILENO))
      g_main_loop_quit(self->loop_.get());
    else
      self->reload();
    return G_SOURCE_CONTINUE;
  }

  static gboolean on_signal(gpointer self) {
    g_main_loop_quit(static_cast<Application *>(self)->loop_.get());
    return G_SOURCE_REMOVE;  // a second signal ends the program
  }

  static gboolean on_tick(gpointer data) {
    auto *self = static_cast<Application *>(data);
    if (self->files_.has_changed(g_get_monotonic_time())) self->reload();
    self->sources_->tick();
    self->monitor_.tick();
    self->write_history();
    if (self->notifier_ != nullptr) self->notifier_->tick();
    self->report_history_error();
    const Time elapsed = self->clock_.now() - self->begin_;
    const bool is_time = self->run_.seconds && elapsed >= seconds(*self->run_.seconds);
    // With a page, the program goes on, so that users can look at the last results.
    const bool is_finished =
        self->sources_->all_finished() && (self->run_.headless || self->server_ == nullptr);
    if (is_time || is_finished) g_main_loop_quit(self->loop_.get());
    return G_SOURCE_CONTINUE;
  }

  const Run run_;
  Settings settings_;  // those in force
  const Read read_;
  FileWatch &files_;  // the files that were read
  const bool was_terminal_ = isatty(STDIN_FILENO) != 0;
  Clock clock_;
  const Time begin_;
  const Loop loop_{g_main_loop_new(nullptr, FALSE), g_main_loop_unref};
  Monitor monitor_;
  Log log_;
  Metrics metrics_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Notifier> notifier_;
  std::string reported_;  // the latest error of the history that was printed
  std::unique_ptr<Server> server_;
  std::optional<Sources> sources_;
};

void print_cameras(const Discover &wanted) {
  const Discovered discovered = discover(wanted.seconds, wanted.address);
  for (const std::string &failure : discovered.failures) print_error(failure);
  std::cout << listing_of(discovered.devices) << std::flush;
}

int act(const Command &command, const Read &read, FileWatch &files) {
  const Settings &settings = command.settings;
  if (const PrintAndExit *output = std::get_if<PrintAndExit>(&command.action)) {
    std::cout << output->text;
    return output->status;
  }
  if (std::holds_alternative<Check>(command.action)) {
    std::printf("%zu cameras, settings are valid\n", settings.cameras.size());
    std::fputs(shared_names(settings.cameras).c_str(), stdout);
    return kDone;
  }
  if (const Discover *wanted = std::get_if<Discover>(&command.action)) {
    print_cameras(*wanted);
    return kDone;
  }
  if (const Export *wanted = std::get_if<Export>(&command.action)) {
    const std::string file = located(settings.history).file;
    if (wanted->incidents)
      export_incidents(file, std::cout);
    else
      export_csv(file, std::cout);
    return kDone;
  }
  const SignalSource hangup = catch_hangup();
  gst_init(nullptr, nullptr);
  if (settings.history.enabled) prepare(located(settings.history));
  return Application(command, read, files).watch(hangup.get());
}

int run(int argc, char **argv) try {
  FileWatch files;
  const Read read = [&] {
    const FileWatch::Reading reading(files);
    return read_command_line(argc, argv);
  };
  return act(read(), read, files);
} catch (const SettingsError &error) {
  print_error(error.what());
  return kWrongSettings;
} catch (const ListenError &error) {
  print_error(error.what());
  return kCannotListen;
} catch (const std::exception &error) {
  print_error(error.what());
  return kFailed;
}

}  // namespace
}  // namespace luminance

int main(int argc, char **argv) {
  // glibc gives each thread of a pipeline a heap of its own, up to eight a core, and none of them
  // shrinks again: in a day with cameras that reconnect, 10 MB in use became 60 MB.
  mallopt(M_ARENA_MAX, 2);
  return luminance::run(argc, argv);
}
