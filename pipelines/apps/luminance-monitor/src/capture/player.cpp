// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/player.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace luminance {
namespace {

std::atomic<int> pipelines{0};

constexpr int kTries = 5;

/// Takes a pipeline down, whatever state it is in. A bin whose change of state an error aborted
/// answers the next one with that old failure, although nothing is left to do: GStreamer then stops
/// halfway and keeps the threads and descriptors of all elements that it has not come to. Each try
/// gets past one such bin.
void take_down(GstElement *pipeline) {
  for (int i = 0; i < kTries; ++i)
    if (gst_element_set_state(pipeline, GST_STATE_NULL) != GST_STATE_CHANGE_FAILURE) return;
  GST_ERROR_OBJECT(pipeline, "does not stop");
}

}  // namespace

struct Player::State {
  explicit State(GstElement *made) : pipeline(made) {
    gst_object_ref_sink(pipeline);
    ++pipelines;
  }
  ~State() {
    gst_object_unref(pipeline);
    --pipelines;
  }

  GstElement *const pipeline;
  std::mutex mutex;  // held while the pipeline changes its state
  std::atomic<bool> closed{false};
};

Player::Player(GstElement *pipeline) : state_(std::make_shared<State>(pipeline)) {}

Player::~Player() {
  state_->closed = true;
  std::thread([state = state_] {
    const std::lock_guard<std::mutex> lock(state->mutex);
    take_down(state->pipeline);
  }).detach();
}

void Player::play() {
  std::thread([state = state_] {
    const std::lock_guard<std::mutex> lock(state->mutex);
    // The bus reports failures.
    if (!state->closed) gst_element_set_state(state->pipeline, GST_STATE_PLAYING);
  }).detach();
}

GstElement *Player::pipeline() const { return state_->pipeline; }

bool Player::wait_for_all(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (pipelines > 0 && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return pipelines == 0;
}

}  // namespace luminance
