// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "filter.h"
#include "geometrymeta.h"
#include "mapping.h"
#include "videocaps.h"

namespace cudatensor {

/// What the elements from picture to picture share. prepare() sets geometry_ and operation_.
template <class S>
class ImageFilter : public FilterWith<S> {
 public:
  using FilterWith<S>::FilterWith;

  void set_caps(GstCaps *in, GstCaps *out) override {
    const GstVideoInfo out_info = parse_video_caps(out);
    in_ = parse_video_caps(in);
    out_ = out_info;
  }
  gsize input_size() const override { return in_.size; }
  gsize output_size() const override { return out_.size; }

  void release() override { operation_.reset(); }

  void process(GstBuffer *in, GstBuffer *out) override {
    {
      const VideoMap source(in_, in, GST_MAP_READ);
      const VideoMap target(out_, out, GST_MAP_WRITE);
      operation_->run(source.const_image(), target.image());
    }
    transform_regions(in, out, geometry_);
  }

 protected:
  GstVideoInfo in_ = {}, out_ = {};
  Geometry geometry_ = {};
  std::unique_ptr<ImageToImage> operation_;
};

}  // namespace cudatensor
