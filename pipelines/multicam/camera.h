// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera of the batch. It is reconnected when it fails, ends or stops sending. State changes run
// in separate threads, so that a source that never opens does not block anything else.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>

struct Pipeline {
  GstElement *pipeline, *mux, *sink;
  const guint rtsp_latency;               // in milliseconds
  std::atomic<GstClockTime> position{0};  // of the last batch
};

/// Used by the main thread only, except count() and the callbacks of GStreamer.
class Camera {
 public:
  /// If `loops` is true, a file starts again when it ends.
  Camera(Pipeline &pipeline, guint index, const std::string &uri, bool loops);
  ~Camera();

  /// Must be called once for the mux, before the first camera is created.
  static void absorb_ends(GstElement *mux);

  bool owns(GstObject *object) const;
  bool is_over() const { return bin_ == nullptr && (*ended_ || !failure_.empty()); }
  /// Returns why the camera was given up; empty if it was not.
  const std::string &failure() const { return failure_; }
  /// Returns whether a thread of GStreamer still waits for the source.
  bool is_blocked() const;

  /// Prints why the camera is lost, disconnects it, and reconnects it after a pause. Gives it up if
  /// each attempt would end with the same error.
  void fail(const GError *error);
  /// Records what GStreamer lacks to play the camera. Called before the error is posted.
  void lacks(const std::string &missing) { missing_ = missing; }
  /// Disconnects the camera for good.
  void stop();
  /// Called a few times per second. Disconnects a camera that has ended or stopped sending, so that
  /// the others do not wait for it.
  void tend();

  /// Records the result of a frame, which is available `age` after the frame was captured.
  void count(GstClockTime age, float result);
  /// Prints the statistics since the last call, and returns the number of frames.
  guint report(double seconds);

 private:
  void lose(const std::string &why);
  void try_again();
  void connect();
  void disconnect();
  bool is_current(GstPad *pad);
  bool has_waiting_frame();
  void take_slot();
  static void set_up(GstBin *, GstBin *, GstElement *element, gpointer data);
  static GstPadProbeReturn on_data(GstPad *, GstPadProbeInfo *info, gpointer data);
  void send_end();
  static GstPadProbeReturn on_event(GstPad *, GstPadProbeInfo *info, gpointer data);

  Pipeline &pipeline_;
  const guint index_;
  const std::string uri_;
  const bool is_file_, loops_;
  std::mutex mutex_;           // protects bin_ and slot_ against the camera's thread
  GstElement *bin_ = nullptr;  // null while the camera is disconnected
  GstPad *slot_ = nullptr;
  guint retry_ = 0;
  bool stopped_ = false;
  std::future<void> start_, stop_;
  std::string missing_, failure_;
  std::atomic<bool> ending_{false};           // whether the last frame has been sent
  std::shared_ptr<std::atomic<bool>> ended_;  // whether it was also taken; per connection
  std::atomic<gint64> heard_{0};
  // Counted since the last report.
  std::atomic<guint> frames_{0};
  std::atomic<GstClockTime> age_{0};  // sum over all frames
  std::atomic<float> result_{0.0f};   // of the last frame
};
