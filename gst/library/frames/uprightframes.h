// SPDX-License-Identifier: LGPL-2.1-or-later
// The last stages of a source, which turn frames as the tag image-orientation says and check that
// the next element accepts their format.
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/library/frames/framestage.h"

namespace cudatensor {

/// Passes frames on, or refuses their format with an error that names it.
class GivenFrames final : public FrameStage {
 public:
  using OnInfo = std::function<void(const GstVideoInfo &)>;

  /// `taker` is the name of the element that the frames are for. The streaming thread calls
  /// `on_info` with the format of the frames.
  GivenFrames(std::string taker, OnInfo on_info)
      : taker_(std::move(taker)), on_info_(std::move(on_info)) {}

  GstFlowReturn chain(Ref<GstBuffer> buffer) override { return push(std::move(buffer)); }
  bool event(Ref<GstEvent> event) override;
  /// Accepts all caps in queries, so that this stage and no other refuses those of the event.
  bool query(GstQuery *query) override;
  /// Sets the fields that the next caps get because their frames were turned; null: none.
  void set_turned(GstStructure *fields);
  ~GivenFrames() override { set_turned(nullptr); }

 private:
  bool take_caps(GstCaps *caps);
  std::string refusal(const GstCaps *caps, const GstVideoInfo *info) const;

  std::string taker_;
  OnInfo on_info_;
  GstStructure *turned_ = nullptr;
};

/// Inserts elements that turn frames between itself and GivenFrames, if frames are not stored
/// upright.
class UprightFrames final : public FrameStage {
 public:
  /// `given` belongs to another element of the same bin. `stored` is the orientation of frames
  /// whose stream has no tag.
  UprightFrames(GivenFrames *given, GstVideoOrientationMethod stored)
      : given_(given), stored_(stored) {}

  GstFlowReturn chain(Ref<GstBuffer> buffer) override;
  bool event(Ref<GstEvent> event) override;
  bool query(GstQuery *query) override;

 private:
  /// The frames that the elements in between were made for.
  struct Turn {
    GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
    GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
    bool is_in_cuda_memory = false;
    bool operator!=(const Turn &other) const {
      return method != other.method || format != other.format ||
             is_in_cuda_memory != other.is_in_cuda_memory;
    }
  };

  GstVideoOrientationMethod method() const { return stream_.value_or(global_.value_or(stored_)); }
  bool read_tags(GstEvent *event);
  bool arrange();
  bool put_between(const Turn &turn);
  bool add_turners(const Turn &turn);
  GstElement *add(const char *factory);
  bool refuse(const Turn &turn, const char *why);
  void tell_turned(GstVideoOrientationMethod method);
  void remove_elements();

  GivenFrames *const given_;
  const GstVideoOrientationMethod stored_;
  std::optional<GstVideoOrientationMethod> stream_, global_;  // from the tags of these scopes
  Ref<GstCaps> caps_;
  Turn turn_;
  std::vector<GstElement *> elements_;  // the elements in between; owned by the bin
  bool has_failed_ = false;
};

}  // namespace cudatensor
