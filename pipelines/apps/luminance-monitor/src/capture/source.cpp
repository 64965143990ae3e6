// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/source.h"

#include <algorithm>
#include <utility>

#include "settings/secrets.h"

namespace luminance {
namespace {

constexpr Time kSilence = 10 * kSecond;  // a stream that had frames is given at least this long
constexpr Time kStall = 2 * kSecond;     // if ticks are further apart, the program was stopped
constexpr Time kShort = kSecond;         // shorter files, such as a picture, are reread with pauses
constexpr Time kGood = 30 * kSecond;     // a longer connection resets the delay of the next one

constexpr const char *kPicture =
    "the camera sends a single picture, not video; set its snapshot-interval, or use the URI of "
    "its video stream (RTSP, or MJPEG over HTTP)";

std::string no_frames_within(Time time) {
  return "no frames within " + std::to_string(time / kSecond) + " s";
}

}  // namespace

Source::Source(const Settings &settings, Monitor &monitor, Inbox &inbox, size_t index, Keep keep)
    : settings_(settings),
      monitor_(monitor),
      inbox_(inbox),
      index_(index),
      keep_(std::move(keep)),
      camera_(monitor.camera_of(index).settings()),
      is_file_(camera_.uri.rfind("file:", 0) == 0),
      may_be_picture_(g_ascii_strncasecmp(camera_.uri.c_str(), "http", 4) == 0 &&
                      camera_.snapshot_interval == 0),
      resume_(monitor.clock().now()),
      random_(std::random_device()()) {}

void Source::begin() {
  frames_ = 0;
  single_frame_.reset();
  last_heard_ = started_ = g_get_monotonic_time();
  const Connection::Callbacks callbacks = {[this](const std::string &why) { disconnect(why); },
                                           [this] { end(); }};
  try {
    connection_ = std::make_unique<Connection>(
        camera_, settings_, inbox_, Connection::Begin{index_, tries_++, resume_}, callbacks);
  } catch (const std::exception &error) {  // GStreamer lacks an element
    disconnect(error.what());
  }
}

void Source::tick() {
  const Time now = g_get_monotonic_time();
  if (now - ticked_ > kStall) last_heard_ = now;  // frames of that time have yet to arrive
  ticked_ = now;
  if (finished_) return;
  if (connection_ == nullptr) {
    if (now < retry_time_) return;
    monitor_.set_status(index_, Status::kConnecting);
    begin();
  } else if (is_silent(now)) {
    disconnect(frames_ > 0 ? "no more frames" : no_frames_within(first_frame_timeout()));
  } else {
    connection_->tick();  // may delete the connection
  }
}

/// Returns the silence after which the camera is reconnected. A camera whose rules allow few frames
/// is given the time for them; its rules may change while it plays.
Time Source::max_silence() const {
  Time silence = kSilence;
  // A connection that polls reports a missing picture by itself.
  if (camera_.snapshot_interval > 0)
    silence += seconds(camera_.snapshot_interval + settings_.timeouts.frame);
  for (const Rule &rule : all_rules(Verdict::kNoFrames, camera_.rules, camera_.schedules))
    silence = std::max(silence, seconds(2 * rule.raise));
  return silence;
}

/// Returns how long a connection may take to its first frame.
Time Source::first_frame_timeout() const {
  return std::max(seconds(settings_.timeouts.frame), max_silence());
}

/// Whether the connection has been silent for too long. Frames of a file may be far apart.
bool Source::is_silent(Time now) const {
  if (frames_ == 0) return now - last_heard_ > first_frame_timeout();
  return !is_file_ && now - last_heard_ > max_silence();
}

void Source::arrive(const Arrival &arrival) {
  if (connection_ == nullptr || connection_->number() != arrival.connection) return;
  last_heard_ = g_get_monotonic_time();
  if (frames_++ == 0) {
    first_ = last_heard_;
    // By HTTP, this frame may be all: then it is no video, and the camera never counts as playing.
    if (may_be_picture_) single_frame_ = arrival.frame;
    if (may_be_picture_) return;
  }
  if (const auto first = std::exchange(single_frame_, std::nullopt)) monitor_.take(index_, *first);
  monitor_.take(index_, arrival.frame);
}

GstSample *Source::sample() const {
  return connection_ != nullptr && frames_ > 0 ? connection_->sample() : nullptr;
}

void Source::disconnect(const std::string &why) {
  const std::string text = without_secrets(why, camera_);
  if (is_file_ && !settings_.loop) {
    failed_ = true;
    return finish(text);
  }
  if (frames_ > 0) resume_ = connection_->end();
  close();
  const Time now = g_get_monotonic_time();
  if (frames_ > 0 && now - first_ > kGood) pause_ = 0;
  const Timeouts &timeouts = settings_.timeouts;
  pause_ = std::clamp(2 * pause_, timeouts.first_pause, timeouts.max_pause);
  // Cameras must not reconnect all at once after a switch or a recorder was restarted.
  std::uniform_real_distribution<double> around(0.8, 1.2);
  retry_time_ = now + seconds(pause_ * around(random_));
  monitor_.set_status(index_, Status::kWaiting, text);
}

void Source::end() {
  if (may_be_picture_ && single_frame_) return disconnect(kPicture);
  if (!is_file_) return disconnect("the stream ended");
  if (frames_ == 0) return disconnect("no video in the file");
  if (!settings_.loop) return finish("");
  resume_ = connection_->end();
  const Time now = g_get_monotonic_time();
  if (settings_.fast || now - started_ > kShort) return begin();
  connection_.reset();
  retry_time_ = now + kShort;
}

/// Ends the connection. Keeps its last frame, but not a single picture, which was never shown.
void Source::close() {
  GstSample *const last = single_frame_ ? nullptr : sample();
  if (last != nullptr) keep_(last);
  connection_.reset();
}

void Source::finish(const std::string &why) {
  close();
  finished_ = true;
  monitor_.set_status(index_, Status::kEnded, why);
}

}  // namespace luminance
