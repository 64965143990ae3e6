// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>

#include "gst/library/frames/framepipeline.h"

/// Builds the pipelines for the options. With a count there are two, one after the other: the first
/// one finds the times of all frames.
struct _GstCudaTensorFrames {
 public:
  using Properties = std::vector<std::pair<std::string, std::string>>;

  /// Starts to read the sources. Throws cudatensor::LibraryError and cudatensor::Error.
  _GstCudaTensorFrames(std::vector<std::string> sources, const GstCudaTensorFramesOptions &options,
                       Properties properties);
  ~_GstCudaTensorFrames() { close(); }

  /// Returns the next tensor; null at the end. Throws LibraryError.
  GstCudaTensor *next(GstClockTime timeout);
  GstCudaTensorFramesInfo info(guint source, GstClockTime timeout);
  int failed_source() const;
  /// Returns a number that stays the same while no element passes on a buffer. May not be called by
  /// two threads at a time.
  guint count_buffers();
  void close();

  std::atomic<int> references{1};

 private:
  std::shared_ptr<cudatensor::FrameInbox> make_inbox() const;
  void start_counting();
  void start_tensors();
  cudatensor::Ref<GstElement> make_maker() const;
  GstCaps *accepted_caps() const;
  cudatensor::FrameSelection selection() const;
  void share_context(GstElement *pipeline) const;
  void advance();
  cudatensor::FrameInbox::PipelineError emptiness() const;
  const char *maker_name() const { return sources_.size() > 1 ? "cudatensormux" : "cudanormalize"; }
  void check_progress();
  /// Waits until `is_done(inbox)`, called with the inbox's lock held, is true, or until nothing
  /// more will come.
  template <class Done>
  std::shared_ptr<cudatensor::FrameInbox> wait(GstClockTime timeout, const Done &is_done);
  GstCudaTensor *make_tensor(cudatensor::FrameInbox::Tensor tensor) const;

  const std::vector<std::string> sources_;
  const GstCudaTensorFramesOptions options_;
  const std::string device_;
  const Properties properties_;
  std::vector<cudatensor::FrameSourceOptions> source_options_;

  mutable std::mutex lifecycle_;  // taken before the inbox's lock
  std::shared_ptr<cudatensor::FrameInbox> inbox_;
  std::vector<std::unique_ptr<cudatensor::FrameCounter>> counters_;  // outlive the pipeline
  std::unique_ptr<cudatensor::FramePipeline> pipeline_;
  bool counts_buffers_ = false;
  guint earlier_buffers_ = 0;  // of the pipeline that counted the frames
  std::atomic<bool> is_counting_{false};
  std::atomic<bool> is_closed_{false};
};
