// SPDX-License-Identifier: LGPL-2.1-or-later
// A source of GstCudaTensorFrames: a file, a stream or a camera, from the bytes to decoded frames.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "gst/library/frames/givenframes.h"
#include "gst/library/frames/shownframes.h"
#include "gst/library/gstcudatensor.h"

namespace cudatensor {

struct FrameSourceOptions {
  FrameSelection selection;
  bool block = false;               ///< whether live sources wait for the consumer
  FrameCounter *counter = nullptr;  ///< null: give frames; otherwise only count them
  int gpu = 0;                      ///< the GPU that decodes if it can; -1: only the CPU
  std::string taker;                ///< the name of the element that the frames are for
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_AUTO;  ///< how it turns them
};

/// Returns whether a source is known to be live before it is opened.
bool is_live_source(const std::string &source);
/// Returns whether a source is a FIFO, which can be read only once.
bool is_fifo_source(const std::string &source);

class FrameSource {
 public:
  using OnInfo = std::function<void(const GstCudaTensorFramesInfo &)>;

  /// `on_info` is called by streaming threads. Throws LibraryError if the source does not exist or
  /// elements are missing.
  FrameSource(std::string source, FrameSourceOptions options, OnInfo on_info);
  ~FrameSource();
  FrameSource(const FrameSource &) = delete;
  FrameSource &operator=(const FrameSource &) = delete;

  const std::string &name() const { return source_; }
  GstVideoOrientationMethod direction() const { return options_.direction; }
  /// Returns why the file is known to be truncated; empty if it is not.
  const std::string &truncation() const { return truncation_; }
  /// Returns a bin with a pad `src`, unless frames are counted. It belongs to the pipeline that it
  /// is added to. The source must outlive the bin's streaming threads.
  GstElement *bin() const { return bin_; }
  /// Starts the source, once the rest of the pipeline is playing. Otherwise elements that are
  /// linked later would send to pads that are not active yet.
  void start(GstClock *clock, GstClockTime base_time);
  /// Reports an error if the demuxer has stopped without one. Called regularly by a thread that
  /// waits for frames.
  void check_progress();
  /// Called after the pipeline has stopped, while its elements still exist.
  void finish();

 private:
  GstElement *add(const char *factory);
  GstElement *add(GstElement *element);
  GstElement *add_late(const char *factory);
  void add_input();
  GstElement *add_fifo(const std::string &path);
  void add_camera();
  GstElement *add_parser(GstPad *from);
  void add_decoder(GstPad *from);
  void add_output(GstElement *last);
  void take_stream(GstElement *parser, GstPad *pad);
  void add_frames(std::shared_ptr<FramePicks> picks);
  void add_given();
  void end_undecoded();
  void check_video();
  void tell_info(const GstVideoInfo &info) const;

  static void on_source_pad(GstElement *, GstPad *pad, gpointer self);
  static void on_stream(GstElement *parser, GstPad *pad, gpointer self);
  static void on_drained(GstElement *, gpointer self);
  static void on_decoded(GstElement *, GstPad *pad, gpointer self);

  std::string source_, truncation_;
  FrameSourceOptions options_;
  OnInfo on_info_;
  GstElement *bin_;
  CodedFrames *coded_ = nullptr;
  GstElement *coded_element_ = nullptr, *shown_element_ = nullptr, *queue_ = nullptr;
  GstElement *file_parser_ = nullptr;  // null: not a file
  int fifo_ = -1;                      // a descriptor; -1: not a FIFO

  std::atomic<bool> is_started_{false};
  std::vector<GstElement *> late_;  // elements to start last, downstream first
  std::mutex mutex_;
  bool has_video_ = false;
  gint64 stopped_since_ = 0;  // monotonic time in µs; 0: the demuxer is at work
};

}  // namespace cudatensor
