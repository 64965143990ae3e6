// SPDX-License-Identifier: LGPL-2.1-or-later
// The session of an element from start to stop: chosen by its properties, moved to where upstream's
// memory is, and the CUDA context that it shares with its neighbours.
#pragma once

#include <atomic>
#include <functional>

#include "gst/base/session.h"

namespace cudatensor {

class SessionKeeper {
 public:
  /// `release` drops what was made of the session, which is about to go.
  SessionKeeper(GstElement *element, GstDebugCategory *category, std::function<void()> release)
      : element_(element), category_(category), release_(std::move(release)) {}
  ~SessionKeeper();

  /// The properties; guarded by the object lock.
  struct Settings {
    BackendChoice choice = BackendChoice::automatic;
    int device = -1;
    guint threads = 0;
  };
  Settings &settings() { return settings_; }
  /// Guarded by the object lock; automatic while stopped.
  BackendChoice active() const { return active_; }

  // While there is no streaming thread.
  /// Opens the session. Throws Error.
  void start();
  void stop();

  // For the streaming thread. Those that open a session throw Error.
  /// The session, with as many threads as the property asks for now. Throws Error, too, where the
  /// element is not started: pads that somebody else activated let frames in.
  Session &session();
  bool has_session() const { return started_ && session_ != nullptr; }
  /// Works where the memory of an input is, so that nothing has to be moved or waited for; whether
  /// output pools are to be made anew.
  bool follow(GstBuffer *input);
  /// New caps: a stream may be followed again.
  void forget_stream() { followed_ = false; }

  // For any thread.
  void set_context(GstContext *context);
  /// Whether a neighbour asked for the context and has it now.
  bool answer(GstQuery *query);
  /// Whether a pad can have CUDAMemory. The CPU reads it, through libgstcuda, and does not write it.
  bool can_have_cuda_memory(GstPadDirection pad) const;

 private:
  std::unique_ptr<Session> open();
  void reopen();
  void renew_cpu_session();
  void close();
  void follow_context(gstcuda::Context *context);
  void set_active(BackendChoice active);
  void recall_context();

  GstElement *element_;
  GstDebugCategory *category_;
  std::function<void()> release_;

  Settings settings_;
  BackendChoice active_ = BackendChoice::automatic;
  // libgstcuda's, set by neighbours and applications too, as in all elements that share one.
  // Guarded by the object lock, but for libgstcuda's own access when the element starts.
  gstcuda::Context *context_ = nullptr;

  std::atomic<bool> started_{false};
  Settings opened_;  // as when the session was opened
  std::unique_ptr<Session> session_;
  bool followed_ = false;
};

}  // namespace cudatensor
