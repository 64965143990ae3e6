// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames of the cameras that form a batch of cudatensormux.
#pragma once

#include <vector>

#include "gst/elements/muxcamera.h"
#include "gst/tensor/tensormaker.h"

namespace cudatensor {

/// A frame or a gap for a batch; empty if the camera has neither.
struct Frame {
  Ref<GstBuffer> buffer;
  GstClockTime time = GST_CLOCK_TIME_NONE;

  bool is_picture() const { return buffer != nullptr && !is_gap(buffer.get()); }
};

class MuxBatch {
 public:
  /// `start` is the running time of the batch.
  MuxBatch(SlotPads pads, GstClockTime start)
      : pads_(std::move(pads)), start_(start), frames_(pads_.size()) {}

  GstClockTime start() const { return start_; }
  /// Returns the pad of each camera; null if a camera has none.
  const SlotPads &pads() const { return pads_; }
  void set_frame(size_t camera, Frame frame) { frames_[camera] = std::move(frame); }

  bool has_picture(size_t camera) const { return frames_[camera].is_picture(); }
  /// Return whether any camera has a picture, or a picture with a timestamp.
  bool has_picture() const;
  bool has_time() const;

  /// Returns the input of each camera. Valid as long as the batch.
  std::vector<TensorInput> inputs() const;
  /// Drops the frames that could not be used.
  void drop_faulty(const std::vector<MadePicture> &made);
  /// Returns for each camera a slot of its whole picture, without the geometry.
  std::vector<BatchSlot> wholes() const;

 private:
  // One element per camera:
  SlotPads pads_;
  GstClockTime start_;
  std::vector<Frame> frames_;
};

}  // namespace cudatensor
