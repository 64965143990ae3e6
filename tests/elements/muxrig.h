// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux between cameras and a consumer that a test plays.
#pragma once

#include <optional>

#include "rig.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// One slot of a GstCudaTensorBatchMeta; parsing checks every field's type.
struct BatchSlotMeta {
  bool valid;
  int pad_index;
  std::string stream_id;  ///< empty if there is none
  GstClockTime pts, duration, running_time;
  int src_width, src_height, pad_left, pad_top, content_width, content_height;
};
std::vector<BatchSlotMeta> slots_of(GstBuffer *batch);

/// A camera: the source that is linked to a sink pad until the pad is released.
class MuxCamera {
 public:
  MuxCamera(GstElement *mux, const std::string &pad, bool live);
  ~MuxCamera();
  MuxCamera(const MuxCamera &) = delete;
  MuxCamera &operator=(const MuxCamera &) = delete;

  /// Pushes the caps, and the first time a time segment.
  void caps(const std::string &caps);
  /// Begins a new stream, as after a restart: pushes stream-start, caps and a time segment.
  void begin(const std::string &caps);
  void event(GstEvent *event) { gst_harness_push_event(harness_, event); }
  GstFlowReturn push(BufferRef buffer) { return gst_harness_push(harness_, buffer.release()); }
  void eos() { event(gst_event_new_eos()); }
  GstPad *source() const { return harness_->srcpad; }

 private:
  GstHarness *harness_;
  bool has_segment_ = false;
};

class MuxRig {
 public:
  /// With live cameras, the clock stands still until time_out().
  explicit MuxRig(const std::string &properties, size_t cameras = 0, bool live = false);
  ~MuxRig();
  MuxRig(const MuxRig &) = delete;
  MuxRig &operator=(const MuxRig &) = delete;

  GstElement *element() const { return harness_->element; }
  Messages &messages() { return messages_; }
  MuxCamera &camera(size_t i) { return *cameras_.at(i); }
  /// Requests pad sink_`i`, or releases it.
  MuxCamera &add(size_t i);
  void remove(size_t i) { cameras_.at(i).reset(); }

  /// Stops the element and starts it again; then each camera must begin() again.
  void restart();
  /// Flushes all cameras, as a flushing seek does; then each needs a segment.
  void flush();

  void set(const char *property, const std::string &value);
  void downstream(const std::string &caps);

  /// Waits for the next batch. If none comes, fails the test and returns an empty buffer.
  BufferRef pull();
  /// Returns a batch if there is one; does not wait.
  BufferRef pull_if_there();
  /// Waits until the element waits for the clock, sets the clock to that time, and returns it.
  GstClockTime time_out();
  /// Waits until the element waits for the clock.
  void wait_for_clock();
  guint pending_waits() const;
  /// Waits for the only error and returns its text.
  std::string wait_for_error();
  bool reaches_eos();

  std::string output(const char *field) const { return output_of(element(), field); }

 private:
  Messages messages_;
  bool live_;
  GstHarness *harness_;
  std::vector<std::unique_ptr<MuxCamera>> cameras_;
};

/// Returns the output of cudanormalize for one picture, which is the content of a slot.
Bytes slot_bytes(const Picture &picture, NormalizeCase params);
/// Returns the content of a slot without a picture.
Bytes pad_bytes(const NormalizeCase &params);
Bytes joined(const std::vector<Bytes> &slots);

/// Parameters of a letterboxed tensor of 12 × 10, and the properties that select them.
NormalizeCase small_params();
std::string properties_of(const NormalizeCase &params);

/// Returns pictures of random sizes, with these formats in turn.
std::vector<Picture> mixed_pictures(size_t count, const std::vector<PixelFormat> &formats);

/// Returns a frame with this time and duration.
BufferRef frame_at(const Picture &picture, GstClockTime pts, GstClockTime duration);

}  // namespace cudatensor
