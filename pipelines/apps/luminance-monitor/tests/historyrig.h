// SPDX-License-Identifier: LGPL-2.1-or-later
// A monitor with a history. The test sets its frames and time.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "history/history.h"
#include "history/reader.h"
#include "seed.h"
#include "settableclock.h"
#include "watch/monitor.h"

namespace luminance::test {

constexpr int64_t kBeginOfTime = 0, kEndOfTime = int64_t{1} << 50;  // milliseconds
constexpr int64_t kCurrentSchema = 1;

/// A new temporary folder, which the destructor deletes.
class Folder {
 public:
  Folder();
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string file(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

/// Returns settings with cameras "c0", "c1" …, intervals of one second, rows of ten, no verdicts.
Settings settings_of(const std::string &file, size_t cameras = 1);

class Rig {
 public:
  explicit Rig(const Settings &settings);

  const Camera &camera(size_t index = 0) const { return *monitor.cameras()[index]; }
  /// Feeds a frame with these pixels at the current time.
  void take(size_t camera, const std::vector<uint8_t> &pixels);
  /// Feeds a frame of a single luma.
  void take(size_t camera, uint8_t luma) { take(camera, std::vector<uint8_t>(100, luma)); }
  void tick();
  /// Plays this long: each second, a frame from each camera, and a tick.
  void play(double seconds, uint8_t luma);
  /// Ends all cameras and writes everything.
  void end();
  std::vector<Row> rows(size_t camera = 0, size_t points = 1000000);

  Clock clock;
  Monitor monitor;
  History history;
  Reader reader;
};

Measurement measure(const std::vector<uint8_t> &pixels, Time time);
std::vector<uint8_t> random_pixels(std::mt19937 &random);
uint64_t frames_of(const std::vector<Row> &rows);

}  // namespace luminance::test
