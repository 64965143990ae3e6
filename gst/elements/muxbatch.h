// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch of cudatensormux, from the frames of the cameras to a tensor.
#pragma once

#include <optional>
#include <vector>

#include "gst/base/batch.h"
#include "gst/base/framepass.h"
#include "gst/base/tensorsettings.h"
#include "gst/elements/muxcamera.h"
#include "kernels/ops.h"

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
      : pads_(std::move(pads)), start_(start), frames_(pads_.size()), faults_(pads_.size()) {}

  GstClockTime start() const { return start_; }
  /// The pads by camera; null if a camera has none.
  const SlotPads &pads() const { return pads_; }
  void set_frame(size_t camera, Frame frame) { frames_[camera] = std::move(frame); }

  /// Why the frame of a camera could not be used; null if it was used, or if there was none.
  const Error *fault(size_t camera) const { return faults_[camera] ? &*faults_[camera] : nullptr; }

  /// Why a slot of a frame that was used is not valid; empty if none is. Known after run().
  const std::string &problem(size_t camera) const { return regions_[camera].problem; }

  /// One that can be used, as far as is known.
  bool has_picture(size_t camera) const {
    return !faults_[camera] && frames_[camera].is_picture();
  }
  /// Whether any camera has a picture, or a picture with a timestamp.
  bool has_picture() const;
  bool has_time() const;

  /// Throws Error, which names the camera, if the settings exclude one of the frames.
  void check_frames(const TensorSettings &settings);
  /// Finds the regions, runs the operation with `slots` slots of the tensor per camera, and
  /// describes the slots in a meta. `fit` is the operation's. Throws Error, which names the camera
  /// if one is the cause; but a frame that cannot be used only leaves its slots empty.
  void run(Session &session, NormalizeOperation &operation, const Fit &fit, const ModelState &model,
           const RegionSettings &regions, int64_t slots, const TensorDesc &out_desc,
           GstBuffer *out);

 private:
  template <class Body>
  void for_pictures(const Body &body);
  void find_regions(const RegionSettings &settings);
  void check_crops(const Fit &fit, const TensorDesc &out_desc);
  const std::vector<Geometry> &fill(Session &session, NormalizeOperation &operation, int64_t slots,
                                    const TensorDesc &out_desc, GstBuffer *out);
  void attach_meta(const std::vector<Geometry> &geometries, int64_t slots, GstBuffer *out);

  // By camera:
  SlotPads pads_;
  GstClockTime start_;
  std::vector<Frame> frames_;
  std::vector<std::optional<Error>> faults_;
  std::vector<FoundRegions> regions_;
};

}  // namespace cudatensor
