// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>

#include "gst/library/frames/framepipeline.h"

/// From the options to tensors. With a count there are two pipelines, one after the other: the first
/// one finds the times of all frames.
struct _GstCudaTensorFrames {
 public:
  using Properties = std::vector<std::pair<std::string, std::string>>;

  /// Starts. Throws cudatensor::Failure and cudatensor::Error.
  _GstCudaTensorFrames(std::vector<std::string> sources, const GstCudaTensorFramesOptions &options,
                       Properties properties);
  ~_GstCudaTensorFrames() { close(); }

  /// Null at the end. Throws Failure.
  GstCudaTensor *next(GstClockTime timeout);
  GstCudaTensorFramesInfo info(guint source, GstClockTime timeout);
  int failed_source() const;
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
  cudatensor::FrameInbox::Problem emptiness() const;
  const char *maker_name() const {
    return sources_.size() > 1 ? "cudatensormux" : "cudanormalize";
  }
  void check_progress();
  /// Waits until `is_done(inbox)`, called with its lock held, or until no more will come.
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
  std::atomic<bool> is_counting_{false};
  std::atomic<bool> is_closed_{false};
};
