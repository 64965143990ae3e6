// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/muxbatch.h"

#include <deque>

#include "gst/util/faultyframes.h"

namespace cudatensor {

/// Calls `body` with the number of each camera that has a picture. An Error that it throws is of
/// this camera; if it is one of the frame alone, the camera has no picture any more. The frame stays:
/// a pass may have been told of it before.
template <class Body>
void MuxBatch::for_pictures(const Body &body) {
  for (size_t i = 0; i < pads_.size(); ++i) {
    if (!has_picture(i)) continue;
    try {
      faults_[i] = frame_fault_of([&] { body(i); });
    } catch (const Error &error) {
      throw Error(error.code(), GST_PAD_NAME(pads_[i]) + (": " + std::string(error.what())));
    }
  }
}

bool MuxBatch::has_picture() const {
  for (size_t i = 0; i < frames_.size(); ++i)
    if (has_picture(i)) return true;
  return false;
}

bool MuxBatch::has_time() const {
  for (size_t i = 0; i < frames_.size(); ++i)
    if (has_picture(i) && GST_CLOCK_TIME_IS_VALID(frames_[i].time)) return true;
  return false;
}

void MuxBatch::check_frames(const TensorSettings &settings) {
  for_pictures([&](size_t i) {
    check_frame(settings, camera_of(pads_[i]).input.info, frames_[i].buffer.get());
  });
}

void MuxBatch::run(Session &session, NormalizeOperation &operation, const Fit &fit,
                   const ModelState &model, const RegionSettings &regions, int64_t slots,
                   const TensorDesc &out_desc, GstBuffer *out) {
  find_regions(regions);
  for_pictures([&](size_t i) { check_model_sources(model, regions_[i], out_desc); });
  if (is_crop(fit.mode)) check_crops(fit, out_desc);
  const auto &geometries = fill(session, operation, slots, out_desc, out);
  attach_meta(geometries, slots, out);
}

void MuxBatch::find_regions(const RegionSettings &settings) {
  regions_.assign(pads_.size(), {});
  for_pictures([&](size_t i) {
    const GstVideoInfo &info = camera_of(pads_[i]).input.info;
    cudatensor::find_regions(settings, frames_[i].buffer.get(), info.width, info.height,
                             regions_[i]);
  });
}

/// The operation would refuse them too, but does not know the cameras.
void MuxBatch::check_crops(const Fit &fit, const TensorDesc &out_desc) {
  for_pictures([&](size_t i) {
    const GstVideoInfo &info = camera_of(pads_[i]).input.info;
    for (const FoundRegion &each : regions_[i].regions)
      if (!each.is_outside)
        make_geometry(fit, info.width, info.height, each.region, static_cast<int>(out_desc.w),
                      static_cast<int>(out_desc.h));
  });
}

const std::vector<Geometry> &MuxBatch::fill(Session &session, NormalizeOperation &operation,
                                            int64_t slots, const TensorDesc &out_desc,
                                            GstBuffer *out) {
  FramePass pass(session);
  std::vector<size_t> inputs(pads_.size());
  for_pictures([&](size_t i) {
    inputs[i] = pass.add_input(camera_of(pads_[i]).input, frames_[i].buffer.get());
  });
  pass.set_output(out);
  pass.begin();
  std::deque<InputMap> maps;
  std::vector<Slot> filled;
  for_pictures([&](size_t i) {
    const InputMap &map = maps.emplace_back(camera_of(pads_[i]).input, frames_[i].buffer.get(),
                                            pass.input_flags(inputs[i]));
    const auto picture = pass.input(inputs[i], map.constant());
    filled.resize(i * slots);
    append_slots(filled, map.source(), picture, regions_[i]);
  });
  const TensorMap target(out_desc, out, pass.output_flags());
  const auto &geometries = operation.run(filled, pass.output(target.view()), pass.stream());
  pass.finish();
  return geometries;
}

void MuxBatch::attach_meta(const std::vector<Geometry> &geometries, int64_t slots, GstBuffer *out) {
  std::vector<BatchSlot> told;
  guint left_out = 0;
  bool all_empty = true;
  for (size_t i = 0; i < pads_.size(); ++i) {
    BatchSlot slot;
    if (pads_[i] != nullptr) {
      slot.pad_index = camera_of(pads_[i]).index;
      slot.stream_id = camera_of(pads_[i]).stream_id;
      if (has_batch_streams()) slot.events = &stream_events_of(pads_[i]);
    }
    if (!has_picture(i)) regions_[i] = {};
    if (has_picture(i)) set_picture(slot, frames_[i].buffer.get(), frames_[i].time);
    left_out += regions_[i].left_out;
    all_empty &= regions_[i].show_nothing();
    append_batch_slots(told, slot, regions_[i], slots, &geometries[i * slots]);
  }
  attach_batch_metas(out, told, left_out);
  // Nothing to infer from.
  if (all_empty) GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
}

}  // namespace cudatensor
