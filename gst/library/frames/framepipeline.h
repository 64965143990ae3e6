// SPDX-License-Identifier: LGPL-2.1-or-later
// A pipeline of GstCudaTensorFrames, and the tensors that wait for the consumer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "gst/library/frames/framesource.h"
#include "gst/library/libraryerror.h"

namespace cudatensor {

/// The tensors and errors that pipelines hand to the consumer. May outlive the pipelines.
///
/// An appsink has such a queue, too. But a consumer waits here for whichever comes first of a
/// tensor, an error, the end of one of several outputs, the facts of a source and another thread's
/// close(); an appsink wakes it for samples and its own end only, so the others would need polling
/// or a second queue beside it, whose order to the first is lost.
class FrameInbox {
 public:
  struct Tensor {
    Ref<GstBuffer> buffer;
    Ref<GstCaps> caps;
  };
  struct PipelineError {
    GstCudaTensorError code;
    std::string text;
    int source;
    bool is_of_end = false;  ///< whether it is due after all frames
  };
  static constexpr size_t kMostTensors = 2;

  /// If `drops` is set, put() keeps only the newest tensor and does not wait for the consumer.
  explicit FrameInbox(bool drops = false) : drops_(drops) {}

  // Called by streaming threads.
  /// Waits until there is room, unless old tensors are dropped. Returns false if it is closed.
  bool put(Tensor tensor);
  void end();
  void report(PipelineError failed);
  /// Like report(), for an error that the consumer receives after the last tensor.
  void report_at_end(PipelineError failed);
  void set_info(size_t source, const GstCudaTensorFramesInfo &info);

  // Called by consumers.
  /// Waits until `is_done(*this)`, with the lock held, is true. Returns false after the timeout.
  template <class Done>
  bool wait(GstClockTime timeout, const Done &is_done) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!GST_CLOCK_TIME_IS_VALID(timeout)) return changed_.wait(lock, is_done), true;
    return changed_.wait_for(lock, std::chrono::nanoseconds(timeout), is_done);
  }
  std::optional<Tensor> take();
  void close();

  // Called with the lock held.
  bool has_tensor() const { return !tensors_.empty(); }
  size_t ends() const { return ends_; }
  bool is_closed() const { return is_closed_; }
  /// Returns null while frames from before the error may still be under way.
  const PipelineError *due_error() const;
  bool has_info(size_t source) const { return infos_.count(source) != 0; }

  // Called by any thread.
  /// Returns whether all tensors of the one output were taken, or there will be none.
  bool is_over() const;
  /// Returns whether there ever was a tensor.
  bool has_given() const;
  std::optional<PipelineError> error() const;
  std::optional<GstCudaTensorFramesInfo> info(size_t source) const;

 private:
  const bool drops_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Tensor> tensors_;
  std::optional<PipelineError> error_;  // the first one
  std::optional<PipelineError> end_error_;
  std::map<size_t, GstCudaTensorFramesInfo> infos_;  // by source
  gint64 progress_ = 0;                              // time of the last put(), take() or report()
  size_t ends_ = 0;
  bool has_given_ = false;
  bool is_closed_ = false;
};

/// The last element of the pipeline, which puts tensors into the inbox.
class TensorOutput final : public FrameStage {
 public:
  explicit TensorOutput(std::shared_ptr<FrameInbox> inbox, GstCaps *accepted)
      : inbox_(std::move(inbox)), accepted_(accepted) {}

  GstFlowReturn chain(Ref<GstBuffer> buffer) override;
  bool event(Ref<GstEvent> event) override;
  bool query(GstQuery *query) override;

 private:
  std::shared_ptr<FrameInbox> inbox_;
  Ref<GstCaps> accepted_;
  Ref<GstCaps> caps_;
};

class FramePipeline {
 public:
  /// Adds the sources to a new pipeline. Throws LibraryError.
  FramePipeline(const std::vector<std::string> &sources,
                const std::vector<FrameSourceOptions> &options, std::shared_ptr<FrameInbox> inbox);
  ~FramePipeline();
  FramePipeline(const FramePipeline &) = delete;
  FramePipeline &operator=(const FramePipeline &) = delete;

  GstElement *element() const { return pipeline_; }

  /// Adds the element that makes tensors, and an output that accepts tensors with `accepted` caps.
  void add_tensors(const Ref<GstElement> &maker, GstCaps *accepted);
  void start();
  void check_progress();

 private:
  void stop();
  static GstBusSyncReply on_message(GstBus *, GstMessage *message, gpointer self);
  void report(GstMessage *message);
  int source_of(GstObject *object) const;
  std::string describe(const GError *error, const gchar *details, int source) const;
  GstElement *add_output(GstCaps *accepted);

  GstElement *pipeline_;
  std::shared_ptr<FrameInbox> inbox_;
  std::vector<std::unique_ptr<FrameSource>> sources_;
};

}  // namespace cudatensor
