// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux between cameras and a consumer that a test holds.
#pragma once

#include <optional>

#include "rig.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// One slot of a GstCudaTensorBatchMeta; looks at every field's type on the way.
struct BatchSlotMeta {
  bool valid;
  int pad_index;
  std::string stream_id;  ///< empty where there is none
  GstClockTime pts, duration, running_time;
  int src_width, src_height, pad_left, pad_top, content_width, content_height;
};
std::vector<BatchSlotMeta> slots_of(GstBuffer *batch);

/// A camera: what is linked to one sink pad, until it is released.
class MuxCamera {
 public:
  MuxCamera(GstElement *mux, const std::string &pad, bool live);
  ~MuxCamera();
  MuxCamera(const MuxCamera &) = delete;
  MuxCamera &operator=(const MuxCamera &) = delete;

  /// The caps, and a segment in time the first time.
  void caps(const std::string &caps);
  /// A new stream, as after a restart: its start, its caps, its segment in time.
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
  /// Of live cameras the clock stands still until time_out().
  explicit MuxRig(const std::string &properties, size_t cameras = 0, bool live = false);
  ~MuxRig();
  MuxRig(const MuxRig &) = delete;
  MuxRig &operator=(const MuxRig &) = delete;

  GstElement *element() const { return harness_->element; }
  Messages &messages() { return messages_; }
  MuxCamera &camera(size_t i) { return *cameras_.at(i); }
  /// Gets pad sink_`i`, or gives it back.
  MuxCamera &add(size_t i);
  void remove(size_t i) { cameras_.at(i).reset(); }

  /// Stops the element and starts it again; its cameras are to begin() anew.
  void restart();
  /// What a flushing seek does to all cameras; each needs a segment then.
  void flush();

  void set(const char *property, const std::string &value);
  void downstream(const std::string &caps);

  /// The next batch, which comes; a failure and an empty buffer where none does.
  BufferRef pull();
  /// A batch that has come, or none.
  BufferRef pull_if_there();
  /// What the element waits for, once it waits for the clock, and lets the clock come there.
  GstClockTime time_out();
  /// Until the element waits for the clock.
  void wait_for_clock();
  guint pending_waits() const;
  /// The text of the one error that comes.
  std::string wait_for_error();
  bool reaches_eos();

  std::string output(const char *field) const { return output_of(element(), field); }

 private:
  Messages messages_;
  bool live_;
  GstHarness *harness_;
  std::vector<std::unique_ptr<MuxCamera>> cameras_;
};

/// What cudanormalize makes of one picture, and so a slot holds.
Bytes slot_bytes(const Picture &picture, NormalizeCase params);
/// A slot that holds no picture.
Bytes pad_bytes(const NormalizeCase &params);
Bytes joined(const std::vector<Bytes> &slots);

/// A letterboxed tensor of 12 × 10, and the properties that ask for one.
NormalizeCase small_params();
std::string properties_of(const NormalizeCase &params);

/// What cameras of any size and of these formats in turn show.
std::vector<Picture> mixed_pictures(size_t count, const std::vector<PixelFormat> &formats);

/// A frame with its time and duration.
BufferRef frame_at(const Picture &picture, GstClockTime pts, GstClockTime duration);

}  // namespace cudatensor
