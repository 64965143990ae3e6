// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a coded video stream can be decoded from.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

enum class RandomAccess {
  none,
  /// Decoding can start here. The decoder must be reset if pictures before were left out, and
  /// pictures that follow here but are shown earlier need those before.
  open,
  closed  ///< decoding can start here without a reset
};

/// Tells random access points from a coded stream's caps and buffers, one picture each.
class RandomAccessFinder {
 public:
  explicit RandomAccessFinder(const GstCaps *caps);

  /// Whether buffers are pictures and random access points can be told. Nothing may be left out of
  /// other streams.
  bool is_known() const { return codec_ != Codec::other && codec_ != Codec::raw; }
  /// Whether a buffer may be a field, half a frame.
  bool has_fields() const { return has_fields_; }
  /// Whether find() finds all random access points. The demuxer may know others.
  bool is_complete() const { return codec_ == Codec::vp8 || codec_ == Codec::marked; }
  bool is_raw() const { return codec_ == Codec::raw; }
  RandomAccess find(GstBuffer *buffer) const;
  /// Whether other pictures may refer to the picture.
  bool is_reference(GstBuffer *buffer) const;
  /// Whether the picture is shown, or only other pictures refer to it.
  bool is_shown(GstBuffer *buffer) const;

 private:
  enum class Codec { other, h264, h265, vp8, marked, raw };

  Codec codec_ = Codec::other;
  bool has_fields_ = false;
  gsize length_size_ = 0;  // bytes of the length before a NAL unit; 0 = start codes
};

}  // namespace cudatensor
