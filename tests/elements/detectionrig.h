// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaletterbox with kept inputs and cudarestore, with a detector between them that a test plays.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rig.h"

namespace cudatensor {

class DetectionRig {
 public:
  using Detector = std::function<void(GstBuffer *picture)>;

  /// `between` are elements that follow the picture's caps, each with a "! " after it.
  DetectionRig(const std::string &letterbox, const ImageDesc &picture,
               const std::string &between = "")
      : rig_("cudaletterbox name=letterbox keep-input=true " + letterbox + " ! " +
             video_caps(picture) + " ! " + between +
             "identity name=detector signal-handoffs=true ! cudarestore name=restore") {
    const ElementRef detector(gst_bin_get_by_name(GST_BIN(rig_.element()), "detector"));
    g_signal_connect(detector.get(), "handoff", G_CALLBACK(hand_off), this);
  }

  Rig &rig() { return rig_; }
  void detect(Detector detector) { detector_ = std::move(detector); }

  bool caps(const ImageDesc &frame) {
    rig_.downstream("video/x-raw(ANY)");
    return rig_.caps(video_caps(frame));
  }
  /// The frame that comes out for one that goes in.
  BufferRef process(BufferRef frame) { return rig_.process(std::move(frame)); }

 private:
  static void hand_off(GstElement *, GstBuffer *picture, gpointer self) {
    auto *rig = static_cast<DetectionRig *>(self);
    if (rig->detector_) rig->detector_(picture);
  }

  Rig rig_;
  Detector detector_;
};

}  // namespace cudatensor
