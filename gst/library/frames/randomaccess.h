// SPDX-License-Identifier: LGPL-2.1-or-later
// The pictures from which a coded video stream can be decoded.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

enum class RandomAccess {
  none,
  /// Decoding can start here. The decoder must be reset if earlier pictures were left out. Pictures
  /// that follow but are shown before this one need earlier pictures.
  open,
  closed  ///< decoding can start here without a reset
};

/// Finds random access points from a coded stream's caps and its buffers of one picture each.
class RandomAccessFinder {
 public:
  explicit RandomAccessFinder(const GstCaps *caps);

  /// Returns whether buffers are pictures whose random access points can be found. Nothing may be
  /// left out of other streams.
  bool is_known() const { return codec_ != Codec::other && codec_ != Codec::raw; }
  /// Returns whether a buffer may be a field, half a frame.
  bool has_fields() const { return has_fields_; }
  /// Returns whether find() finds all random access points. If not, the demuxer may know others.
  bool is_complete() const { return codec_ == Codec::vp8 || codec_ == Codec::marked; }
  bool is_raw() const { return codec_ == Codec::raw; }
  RandomAccess find(GstBuffer *buffer) const;
  /// Returns whether other pictures may refer to the picture.
  bool is_reference(GstBuffer *buffer) const;
  /// Returns whether the picture is shown; otherwise other pictures only refer to it.
  bool is_shown(GstBuffer *buffer) const;

 private:
  enum class Codec { other, h264, h265, vp8, marked, raw };

  Codec codec_ = Codec::other;
  bool has_fields_ = false;
  gsize length_size_ = 0;  // bytes of the length before a NAL unit; 0 = start codes
};

}  // namespace cudatensor
