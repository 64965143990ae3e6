// SPDX-License-Identifier: LGPL-2.1-or-later
// Manages an element's session from start to stop: opens it as the properties ask, moves it to the
// CUDA context of upstream's memory, and holds the context that the element shares with its
// neighbors.
#pragma once

#include <atomic>
#include <functional>

#include "gst/caps/memorycaps.h"
#include "gst/cuda/cudasession.h"

namespace cudatensor {

/// Whether elements of this process can have CUDAMemory.
bool has_cuda_memory();

/// Returns the kinds of memory that the template of a pad lists.
PadMemories template_memories(GstPadDirection pad);

class SessionManager {
 public:
  /// `release` frees all objects that belong to the session, just before the session is closed.
  SessionManager(GstElement *element, GstDebugCategory *category, std::function<void()> release)
      : element_(element), category_(category), release_(std::move(release)) {}
  ~SessionManager();

  /// The values of the properties. Guarded by the object lock.
  struct Settings {
    BackendChoice choice = BackendChoice::automatic;
    int device = -1;
    guint threads = 0;
  };
  Settings &settings() { return settings_; }
  /// The backend in use; `automatic` while stopped. Guarded by the object lock.
  BackendChoice active() const { return active_; }

  // Called while no streaming thread runs.
  /// Opens the session. Throws Error.
  void start();
  void stop();

  // Streaming thread only. Functions that open a session throw Error.
  /// Returns the session, reopened if n-threads has changed. Also throws Error if the element is
  /// not started: frames can arrive then if an application has activated the pads.
  Session &session();
  bool has_session() const { return started_ && session_ != nullptr; }
  /// Whether a buffer lies in memory that follow() can move the session to.
  bool is_on_device(GstBuffer *buffer) const;
  /// Moves the session to the CUDA context and stream of the input's memory, which avoids copies
  /// and synchronization. Calls `before_move` while the session that will be closed still works.
  /// Returns whether the output pools must be renegotiated.
  bool follow(
      GstBuffer *input, const std::function<void()> &before_move = [] {});
  /// Does the same for surfaces of NVMM, which are in a primary context and have no stream.
  bool follow_surfaces(
      GstBuffer *input, const std::function<void()> &before_move = [] {});
  /// Called for new caps: allows follow() to adopt another stream.
  void allow_stream_change() { followed_ = false; }

  // May be called from any thread.
  void set_context(GstContext *context);
  /// Answers a neighbor's context query. Returns whether the query was answered.
  bool handle_context_query(GstQuery *query);
  /// Returns the kinds of memory that a pad offers to its neighbor.
  PadMemories memories(GstPadDirection pad) const;

 private:
  bool can_have_cuda_memory(GstPadDirection pad, BackendChoice active) const;
  std::unique_ptr<Session> open();
  void reopen();
  void reopen_cpu_session();
  void close();
  CudaSession &cuda() const { return static_cast<CudaSession &>(*session_); }
  bool adopt(gstcuda::Stream *stream);
  void check_device(const char *memory, int device) const;
  void move_to(const CudaContextRef &context);
  void set_active(BackendChoice active);
  void restore_context();

  GstElement *element_;
  GstDebugCategory *category_;
  std::function<void()> release_;

  Settings settings_;
  BackendChoice active_ = BackendChoice::automatic;
  // The shared libgstcuda context, which neighbors and the application may set too. Guarded by the
  // object lock, except when libgstcuda accesses it while the element starts.
  gstcuda::Context *context_ = nullptr;

  std::atomic<bool> started_{false};
  Settings opened_;  // the settings that the session was opened with
  std::unique_ptr<Session> session_;
  bool followed_ = false;
};

}  // namespace cudatensor
