// SPDX-License-Identifier: LGPL-2.1-or-later
// Tries to open cameras that cannot be opened, again and again. After each round, when all cameras
// have been released, prints the attempts, threads, descriptors, allocated bytes and the error.
// Fails if a camera delivers a frame.
//
// usage: attempts URI ATTEMPTS REPORTS [CAMERAS [SECONDS-TO-ANSWER [SNAPSHOT-INTERVAL]]]
#include <glib.h>
#include <gst/gst.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "capture/player.h"
#include "capture/polling.h"
#include "capture/sources.h"
#include "settings/reader.h"

namespace luminance {
namespace {

constexpr double kPause = 0.001;  // seconds between two attempts
constexpr double kSettle = 20;    // seconds, at most, until everything is released
constexpr auto kTick = std::chrono::milliseconds(2);

struct Held {
  size_t threads, descriptors, bytes;
};

size_t count(const char *folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

Held held() { return {count("/proc/self/task"), count("/proc/self/fd"), mallinfo2().uordblks}; }

/// Returns the least values seen until threads and descriptors stay the same for half a second:
/// threads of pools end some time after their last work.
Held settled() {
  const gint64 end = g_get_monotonic_time() + static_cast<gint64>(kSettle * 1e6);
  Held min = held();
  for (gint64 quiet = g_get_monotonic_time() + 500000, now = 0; now < std::min(quiet, end);
       now = g_get_monotonic_time()) {
    std::this_thread::sleep_for(kTick);
    while (g_main_context_iteration(nullptr, FALSE)) {
    }
    const Held seen = held();
    if (seen.threads < min.threads || seen.descriptors < min.descriptors)
      quiet = g_get_monotonic_time() + 500000;
    min = {std::min(min.threads, seen.threads), std::min(min.descriptors, seen.descriptors),
           std::min(min.bytes, seen.bytes)};
  }
  return min;
}

class Attempts {
 public:
  explicit Attempts(const Settings &settings)
      : clock_(false), monitor_(settings, clock_), sources_(settings, monitor_) {}

  /// Runs until that many attempts were made, then until no camera is being opened, for kSettle at
  /// most: a video that waits for its time may take long.
  void make(uint64_t attempts) {
    if (!began_) sources_.begin();
    began_ = true;
    while (made() < attempts) {
      sources_.tick();
      turn();
    }
    const gint64 end = g_get_monotonic_time() + static_cast<gint64>(kSettle * 1e6);
    while (g_get_monotonic_time() < end &&
           std::any_of(monitor_.cameras().begin(), monitor_.cameras().end(),
                       [](const auto &camera) { return camera->status() != Status::kWaiting; }))
      turn();
    Player::wait_for_all(kSettle);
    Polling::wait_for_all(kSettle);
  }
  uint64_t made() const {
    uint64_t sum = monitor_.cameras().size();
    for (const auto &camera : monitor_.cameras()) sum += camera->reconnects();
    return sum;
  }
  uint64_t frames() const {
    uint64_t sum = 0;
    for (const auto &camera : monitor_.cameras()) sum += camera->frames();
    return sum;
  }
  std::string error() const { return monitor_.cameras().front()->error(); }

 private:
  static void turn() {
    while (g_main_context_iteration(nullptr, FALSE)) {
    }
    std::this_thread::sleep_for(kTick);
  }

  Clock clock_;
  Monitor monitor_;
  Sources sources_;
  bool began_ = false;
};

Settings settings_of(const std::string &uri, int cameras, double answer, double snapshots) {
  Settings settings;
  settings.backend = "cpu";
  CameraSettings camera = camera_of(uri, settings);
  camera.snapshot_interval = snapshots;
  for (int i = 0; i < cameras; ++i) add_camera(camera, settings);
  settings.timeouts = {answer, 10 * answer, kPause, kPause};
  return settings;
}

int run(int argc, char **argv) {
  if (argc < 4) return 2;
  const uint64_t attempts = std::strtoull(argv[2], nullptr, 10);
  const int reports = std::atoi(argv[3]);
  const Settings settings =
      settings_of(argv[1], argc > 4 ? std::atoi(argv[4]) : 8, argc > 5 ? std::atof(argv[5]) : 5,
                  argc > 6 ? std::atof(argv[6]) : 0);
  gst_init(nullptr, nullptr);
  Attempts tries(settings);
  for (int i = 1; i <= reports; ++i) {
    tries.make(attempts * static_cast<uint64_t>(i) / static_cast<uint64_t>(reports));
    const Held now = settled();
    std::printf("%llu %zu %zu %zu %s\n", static_cast<unsigned long long>(tries.made()), now.threads,
                now.descriptors, now.bytes, tries.error().c_str());
    std::fflush(stdout);
  }
  return tries.frames() == 0 ? 0 : 3;
}

}  // namespace
}  // namespace luminance

int main(int argc, char **argv) { return luminance::run(argc, argv); }
