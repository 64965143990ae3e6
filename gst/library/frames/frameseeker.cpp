// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/frameseeker.h"

#include <functional>
#include <memory>
#include <utility>

#include "gst/util/ref.h"

namespace cudatensor {
namespace {

struct Job {
  Ref<GstPad> sink;
  StreamTime time;
  std::function<void(bool)> on_end;
};

void execute(GstElement *, gpointer data) {
  constexpr auto kFlags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT |
                                                    GST_SEEK_FLAG_SNAP_BEFORE);
  const auto &job = *static_cast<Job *>(data);
  GstEvent *seek = gst_event_new_seek(1.0, GST_FORMAT_TIME, kFlags, GST_SEEK_TYPE_SET, job.time,
                                      GST_SEEK_TYPE_NONE, -1);
  job.on_end(gst_pad_push_event(job.sink.get(), seek));
}

}  // namespace

bool FrameSeeker::seek(GstElement *element, GstPad *sink, StreamTime time) {
  std::unique_lock<std::mutex> lock(mutex_);
  // The thread of the previous seek may not have returned yet.
  changed_.wait(lock, [&] { return !executes_ || is_stopped_; });
  if (is_stopped_) return true;
  waits_ = executes_ = true;
  bool is_done = true;
  auto on_end = [this, &is_done](bool done) {
    const std::lock_guard<std::mutex> guard(mutex_);
    // A successful seek has flushed the pad, so that seek() may already have returned.
    if (!done && waits_) waits_ = is_done = false;
    executes_ = false;
    changed_.notify_all();
  };
  auto job = std::make_unique<Job>(
      Job{Ref<GstPad>(GST_PAD(gst_object_ref(sink))), time, std::move(on_end)});
  gst_element_call_async(element, execute, job.release(),
                         [](gpointer data) { delete static_cast<Job *>(data); });
  changed_.wait(lock, [&] { return !waits_ || is_stopped_; });
  waits_ = false;
  return is_done;
}

void FrameSeeker::set_flushed() {
  const std::lock_guard<std::mutex> lock(mutex_);
  waits_ = false;
  changed_.notify_all();
}

void FrameSeeker::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

void FrameSeeker::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return !executes_; });
}

}  // namespace cudatensor
