// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaletterbox with keep-input and cudarestore, with a test as the detector between them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rig.h"

namespace cudatensor {

/// A frame, and the picture for the detector: half the size, with eight rows of padding above.
inline const ImageDesc kFrame = {PixelFormat::NV12, 64, 32}, kPicture = {PixelFormat::RGB, 32, 32};

class DetectionRig {
 public:
  using Detector = std::function<void(GstBuffer *picture)>;

  /// `between` are elements that follow the picture's caps, each with a "! " after it.
  DetectionRig(const std::string &letterbox, const ImageDesc &picture,
               const std::string &between = "")
      : rig_("cudaletterbox name=letterbox keep-input=true " + letterbox + " ! " +
             video_caps(picture) + " ! " + between +
             "identity name=detector signal-handoffs=true ! cudarestore") {
    const ElementRef detector(gst_bin_get_by_name(GST_BIN(rig_.element()), "detector"));
    g_signal_connect(detector.get(), "handoff", G_CALLBACK(hand_off), this);
  }

  Rig &rig() { return rig_; }
  void detect(Detector detector) { detector_ = std::move(detector); }

  bool caps(const ImageDesc &frame) {
    rig_.downstream("video/x-raw(ANY)");
    return rig_.caps(video_caps(frame));
  }
  /// Returns the output frame for an input frame.
  BufferRef process(BufferRef frame) { return rig_.process(std::move(frame)); }

 private:
  static void hand_off(GstElement *, GstBuffer *picture, gpointer self) {
    auto *rig = static_cast<DetectionRig *>(self);
    if (rig->detector_) rig->detector_(picture);
  }

  Rig rig_;
  Detector detector_;
};

/// Returns the output of `between` and cudarestore for a frame in which `detector` finds objects.
inline BufferRef restored(BufferRef frame, const DetectionRig::Detector &detector,
                          const std::string &between = "") {
  DetectionRig rig("", kPicture, between);
  rig.detect(detector);
  EXPECT_TRUE(rig.caps(kFrame));
  return rig.process(std::move(frame));
}

}  // namespace cudatensor
