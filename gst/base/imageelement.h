// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/framepass.h"
#include "gst/base/transformelement.h"
#include "gst/caps/videocaps.h"
#include "gst/meta/carriedmetas.h"
#include "gst/meta/geometrymeta.h"

namespace cudatensor {

/// Base class of elements that convert pictures to pictures. prepare() sets operation_.
template <class S>
class ImageElement : public ElementWithSettings<S> {
 public:
  using ElementWithSettings<S>::ElementWithSettings;

  void set_caps(GstCaps *in, GstCaps *out) override {
    const GstVideoInfo out_info = parse_video_caps(out);
    in_ = parse_single_input_caps(in);
    out_ = out_info;
  }
  gsize input_size() const override { return in_.info.size; }
  gsize output_size() const override { return out_.size; }

  void release() override { operation_.reset(); }

  void process(Session &session, GstBuffer *in, GstBuffer *out) override {
    run(session, *operation_, in_, in, out_, out);
    carried_ = carry_metas(in, out, box_map_of(operation_->geometry()));
  }

 protected:
  InputCaps in_;
  GstVideoInfo out_ = {};
  std::unique_ptr<ImageToImage> operation_;
  std::vector<SameResult> carried_;  ///< the analytics results that process() has copied
};

}  // namespace cudatensor
