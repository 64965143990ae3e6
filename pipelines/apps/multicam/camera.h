// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera of the batch, which is begun again when it fails, ends or falls silent.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

/// Throws what failed, and takes the error that says why, if there is one.
[[noreturn]] void fail(const std::string &what, GError *error = nullptr);

struct Pipeline {
  GstElement *pipeline, *mux, *sink;
  const guint rtsp_latency;               // milliseconds that a packet may be late
  std::atomic<GstClockTime> position{0};  // of the last batch
};

/// Used by the main thread, but for count() and what GStreamer calls.
class Camera {
 public:
  /// A file ends, unless it `loops`: then it begins again when it ends.
  Camera(Pipeline &pipeline, guint index, const std::string &uri, bool loops);
  ~Camera();

  bool owns(GstObject *object) const;
  bool is_over() const { return bin_ == nullptr && ended_; }

  /// Begins again, in a while.
  void lose(const std::string &why);
  /// A few times a second: lets go of what has ended or is silent, which the others may wait for.
  void tend();

  /// A frame has a result, `age` after it was taken.
  void count(GstClockTime age, float result);
  /// Prints what has come since the last time, and returns the frames.
  guint report(double seconds);

 private:
  void connect();
  void disconnect();
  bool has_waiting_frame();
  void take_slot();
  static void set_up(GstBin *, GstBin *, GstElement *element, gpointer data);
  static GstPadProbeReturn on_data(GstPad *, GstPadProbeInfo *info, gpointer data);

  Pipeline &pipeline_;
  const guint index_;
  const std::string uri_;
  const bool is_file_, loops_;
  std::mutex mutex_;           // of the next two, while the camera's thread may have a pad
  GstElement *bin_ = nullptr;  // null while it is lost
  GstPad *slot_ = nullptr;
  guint retry_ = 0;
  std::atomic<bool> ended_{false};
  std::atomic<gint64> heard_{0};
  // Since the last report.
  std::atomic<guint> frames_{0};
  std::atomic<GstClockTime> age_{0};  // of all
  std::atomic<float> result_{0.0f};   // of the last
};
