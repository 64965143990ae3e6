// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/randomaccess.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace cudatensor {
namespace {

/// A buffer that is mapped for reading; empty if it cannot be.
class Bytes {
 public:
  explicit Bytes(GstBuffer *buffer) : buffer_(buffer) {
    if (!gst_buffer_map(buffer, &map_, GST_MAP_READ)) map_ = GST_MAP_INFO_INIT;
  }
  ~Bytes() {
    if (map_.memory != nullptr) gst_buffer_unmap(buffer_, &map_);
  }
  Bytes(const Bytes &) = delete;
  Bytes &operator=(const Bytes &) = delete;

  const guint8 *begin() const { return map_.data; }
  const guint8 *end() const { return map_.data + map_.size; }

 private:
  GstBuffer *buffer_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
};

/// Returns the position after the next start code, or the end.
const guint8 *after_start_code(const guint8 *at, const guint8 *end) {
  for (; end - at > 3; ++at) {
    const auto *one = static_cast<const guint8 *>(memchr(at + 2, 1, end - at - 3));
    if (one == nullptr) return end;
    if (one[-1] == 0 && one[-2] == 0) return one + 1;
    at = one - 2;
  }
  return end;
}

/// Calls `see` with each NAL unit that has at least two bytes, until it returns false.
template <class See>
void visit_units(const Bytes &bytes, gsize length_size, const See &see) {
  const guint8 *at = bytes.begin(), *const end = bytes.end();
  if (length_size == 0) {
    while ((at = after_start_code(at, end)) < end - 1 && see(at, end)) {
    }
    return;
  }
  while (end - at > static_cast<ptrdiff_t>(length_size) + 1) {
    gsize length = 0;
    for (gsize i = 0; i < length_size; ++i) length = length << 8 | *at++;
    const auto rest = static_cast<gsize>(end - at);
    if (length > rest || (length > 1 && !see(at, at + length))) return;
    at += length;
  }
}

/// Returns a unit up to the next start code, without its emulation prevention bytes. Long units are
/// cut.
std::vector<guint8> payload_of(const guint8 *unit, const guint8 *end) {
  constexpr ptrdiff_t kMost = 1 << 16;
  end = unit + std::min<ptrdiff_t>(end - unit, kMost);
  const guint8 *const next = after_start_code(unit, end);
  if (next < end) end = next - 3;
  std::vector<guint8> payload;
  int zeros = 0;
  for (const guint8 *at = unit; at < end; ++at) {
    const bool prevents = zeros >= 2 && *at == 3;
    if (!prevents) payload.push_back(*at);
    zeros = *at == 0 ? zeros + 1 : 0;
  }
  return payload;
}

/// Returns whether an SEI unit has a recovery point message from which on pictures are correct at
/// once.
bool is_recovery_point(const guint8 *unit, const guint8 *unit_end) {
  constexpr guint kRecoveryPoint = 6;
  const std::vector<guint8> payload = payload_of(unit, unit_end);
  const guint8 *at = payload.data() + 1, *const end = payload.data() + payload.size();
  while (end - at > 2) {
    guint type = 0, size = 0;
    for (; at < end && *at == 0xff; ++at) type += 0xff;
    if (at < end) type += *at++;
    for (; at < end && *at == 0xff; ++at) size += 0xff;
    if (at < end) size += *at++;
    // recovery_frame_cnt is ue(v): a first bit of 1 is 0.
    if (type == kRecoveryPoint) return at < end && (*at & 0x80) != 0;
    if (static_cast<gsize>(end - at) < size) return false;
    at += size;
  }
  return false;
}

RandomAccess find_h264(const Bytes &bytes, gsize length_size) {
  bool recovers = false;
  auto found = RandomAccess::none;
  visit_units(bytes, length_size, [&](const guint8 *unit, const guint8 *end) {
    const int type = *unit & 0x1f;
    if (type == 6 && is_recovery_point(unit, end)) recovers = true;
    if (type == 5) found = RandomAccess::closed;
    // A slice of a picture that is not IDR.
    if (type >= 1 && type <= 4 && recovers) found = RandomAccess::open;
    return type < 1 || type > 5;
  });
  return found;
}

RandomAccess find_h265(const Bytes &bytes, gsize length_size) {
  auto found = RandomAccess::none;
  visit_units(bytes, length_size, [&](const guint8 *unit, const guint8 *) {
    const int type = (*unit >> 1) & 0x3f;
    if (type == 19 || type == 20) found = RandomAccess::closed;
    if (type >= 16 && (type <= 18 || type == 21)) found = RandomAccess::open;
    return type > 31;
  });
  return found;
}

/// Reads the frame header, because muxers also mark other pictures as key frames and no VP8 parser
/// corrects that.
RandomAccess find_vp8(const Bytes &bytes) {
  const bool is_key = bytes.begin() != bytes.end() && (*bytes.begin() & 1) == 0;
  return is_key ? RandomAccess::closed : RandomAccess::none;
}

/// Reads the size of a NAL unit's length from the decoder's configuration record.
gsize read_length_size(const GstStructure *s, gsize at) {
  const GValue *value = gst_structure_get_value(s, "codec_data");
  if (value == nullptr || !GST_VALUE_HOLDS_BUFFER(value)) return 4;
  const Bytes bytes(gst_value_get_buffer(value));
  return static_cast<gsize>(bytes.end() - bytes.begin()) > at ? (bytes.begin()[at] & 3) + 1 : 4;
}

}  // namespace

RandomAccessFinder::RandomAccessFinder(const GstCaps *caps) {
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const std::string name = gst_structure_get_name(s);
  const gchar *format = gst_structure_get_string(s, "stream-format");
  const gchar *interlacing = gst_structure_get_string(s, "interlace-mode");
  has_fields_ = interlacing != nullptr && std::string(interlacing) != "progressive";
  const bool has_lengths = format != nullptr && std::string(format) != "byte-stream";
  if (name == "video/x-h264") {
    codec_ = Codec::h264;
    if (has_lengths) length_size_ = read_length_size(s, 4);
  } else if (name == "video/x-h265") {
    codec_ = Codec::h265;
    if (has_lengths) length_size_ = read_length_size(s, 21);
  } else if (name == "video/x-vp8") {
    codec_ = Codec::vp8;
  } else if (name == "video/x-vp9" || name == "video/x-av1" || name == "image/jpeg") {
    codec_ = Codec::marked;
  } else if (name == "video/x-raw") {
    codec_ = Codec::raw;
  }
}

RandomAccess RandomAccessFinder::find(GstBuffer *buffer) const {
  if (codec_ == Codec::h264) return find_h264(Bytes(buffer), length_size_);
  if (codec_ == Codec::h265) return find_h265(Bytes(buffer), length_size_);
  if (codec_ == Codec::vp8) return find_vp8(Bytes(buffer));
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT) ? RandomAccess::none
                                                                    : RandomAccess::closed;
}

bool RandomAccessFinder::is_reference(GstBuffer *buffer) const {
  if (codec_ != Codec::h264) return true;
  bool is_reference = false, has_slice = false;
  visit_units(Bytes(buffer), length_size_, [&](const guint8 *unit, const guint8 *) {
    const int type = *unit & 0x1f;
    if (type < 1 || type > 5) return true;
    has_slice = true;
    is_reference |= (*unit & 0x60) != 0;  // nal_ref_idc
    return !is_reference;
  });
  return is_reference || !has_slice;
}

bool RandomAccessFinder::is_shown(GstBuffer *buffer) const {
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DECODE_ONLY)) return false;
  if (codec_ != Codec::vp8) return true;
  const Bytes bytes(buffer);
  return bytes.begin() == bytes.end() || (*bytes.begin() & 0x10) != 0;
}

}  // namespace cudatensor
