// SPDX-License-Identifier: LGPL-2.1-or-later
#include "historyrig.h"

#include <stdexcept>

namespace luminance::test {

Folder::Folder() {
  path_ = (std::filesystem::temp_directory_path() / "history-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder " + path_);
}

Settings settings_of(const std::string &file, size_t cameras) {
  Settings settings;
  for (size_t i = 0; i < cameras; ++i) {
    CameraSettings camera;
    camera.id = "c" + std::to_string(i);
    camera.name = "Camera " + std::to_string(i);
    for (Rule &rule : camera.rules) rule.enabled = false;
    settings.cameras.push_back(camera);
  }
  settings.history = {true, file, 10, 30};
  return settings;
}

Rig::Rig(const Settings &settings)
    : clock(settings.fast),
      monitor(settings, clock),
      history(settings.history, monitor),
      reader(settings.history.file) {
  monitor.add(history);
}

void Rig::take(size_t camera, const std::vector<uint8_t> &pixels) {
  monitor.take(camera, measure(pixels, clock.now()));
}

void Rig::tick() {
  monitor.tick();
  history.tick();
}

void Rig::play(double seconds, uint8_t luma) {
  for (int i = 0; i < seconds; ++i) {
    for (size_t camera = 0; camera < monitor.cameras().size(); ++camera) take(camera, luma);
    tick();
    advance(1);
  }
}

void Rig::end() {
  for (size_t camera = 0; camera < monitor.cameras().size(); ++camera)
    monitor.set_status(camera, Status::kEnded);
  history.flush();
}

std::vector<Row> Rig::rows(size_t camera, size_t points) {
  return reader.rows(this->camera(camera).id(), kBeginOfTime, kEndOfTime, points);
}

Measurement measure(const std::vector<uint8_t> &pixels, Time time) {
  Measurement frame;
  frame.time = time;
  frame.frames = 1;
  frame.pixels = pixels.size();
  uint64_t sum = 0, low = 0, high = 0;
  for (const uint8_t luma : pixels) {
    ++frame.bins[luma];
    sum += luma, low += luma <= 16, high += luma >= 235;
  }
  const auto count = static_cast<double>(pixels.size());
  frame.mean = static_cast<double>(sum) / count;
  frame.clipped_low = static_cast<double>(low) / count;
  frame.clipped_high = static_cast<double>(high) / count;
  return frame;
}

std::vector<uint8_t> random_pixels(std::mt19937 &random) {
  std::vector<uint8_t> pixels(1 + random() % 300);
  const unsigned min = random() % 256, range = 1 + random() % (256 - min);
  for (uint8_t &luma : pixels) luma = static_cast<uint8_t>(min + random() % range);
  return pixels;
}

uint64_t frames_of(const std::vector<Row> &rows) {
  uint64_t frames = 0;
  for (const Row &row : rows) frames += row.frames;
  return frames;
}

}  // namespace luminance::test
