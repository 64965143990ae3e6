// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch of cudatensormux on its way from the cameras' frames to a tensor.
#pragma once

#include <vector>

#include "gst/base/batch.h"
#include "gst/base/session.h"
#include "gst/elements/muxcamera.h"
#include "kernels/ops.h"

namespace cudatensor {

/// A frame that goes into a batch, or a gap; none where the camera has neither.
struct Frame {
  Ref<GstBuffer> buffer;
  GstClockTime time = GST_CLOCK_TIME_NONE;

  bool is_picture() const { return buffer != nullptr && !is_gap(buffer.get()); }
};

class MuxBatch {
 public:
  /// `start` is its running time.
  MuxBatch(SlotPads pads, GstClockTime start)
      : pads_(std::move(pads)), start_(start), frames_(pads_.size()) {}

  GstClockTime start() const { return start_; }
  /// By camera; null where there is none.
  const SlotPads &pads() const { return pads_; }
  void set_frame(size_t camera, Frame frame) { frames_[camera] = std::move(frame); }

  bool has_picture(size_t camera) const { return frames_[camera].is_picture(); }
  /// Whether any camera has a picture, or one with a time.
  bool has_picture() const;
  bool has_time() const;

  /// Finds the regions and runs the operation, each camera in `slots` slots of the tensor, and tells of
  /// the slots in a meta. Throws Error, which names the camera where one is the cause.
  void run(Session &session, NormalizeOperation &operation, const RegionSettings &regions,
           int64_t slots, const TensorDesc &out_desc, GstBuffer *out);

 private:
  void find_regions(const RegionSettings &settings);
  const std::vector<Geometry> &fill(Session &session, NormalizeOperation &operation, int64_t slots,
                                    const TensorDesc &out_desc, GstBuffer *out) const;
  void attach_meta(const std::vector<Geometry> &geometries, int64_t slots, GstBuffer *out);

  // By camera:
  SlotPads pads_;
  GstClockTime start_;
  std::vector<Frame> frames_;
  std::vector<FoundRegions> regions_;
};

}  // namespace cudatensor
