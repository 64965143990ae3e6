// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frames.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "detections.h"
#include "generate.h"
#include "surfaces.h"

namespace fuzz {
namespace {

constexpr gsize kMostBytes = 8 << 20;

bool is_video(GstCaps *caps) {
  return gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw");
}

gsize tensor_size(GstCaps *caps) {
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const gchar *type = gst_structure_get_string(s, "types");
  const gchar *dimensions = gst_structure_get_string(s, "dimensions");
  if (type == nullptr || dimensions == nullptr) return 0;
  double size = g_str_has_suffix(type, "32") ? 4 : g_str_has_suffix(type, "16") ? 2 : 1;
  gchar **parts = g_strsplit(dimensions, ":", -1);
  for (gchar **part = parts; *part != nullptr; ++part) size *= g_ascii_strtod(*part, nullptr);
  g_strfreev(parts);
  return size >= 0 && size < 1e12 ? static_cast<gsize>(size) : 0;
}

Bytes noise(Random &random, gsize size) {
  Bytes bytes(size);
  for (gsize i = 0; i < size; i += 8) {
    const guint64 bits = random.bits();
    memcpy(&bytes[i], &bits, std::min<gsize>(8, size - i));
  }
  return bytes;
}

/// A memory of exactly this size, so that a sanitizer detects an access beyond it.
GstMemory *exact_memory(const guint8 *bytes, gsize size, bool read_only) {
  auto *const data = static_cast<guint8 *>(malloc(std::max<gsize>(size, 1)));
  if (size > 0) memcpy(data, bytes, size);
  return gst_memory_new_wrapped(read_only ? GST_MEMORY_FLAG_READONLY : GstMemoryFlags{}, data, size,
                                0, size, data, free);
}

Ref<GstBuffer> buffer_of(const Bytes &bytes, bool read_only = false) {
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), exact_memory(bytes.data(), bytes.size(), read_only));
  return buffer;
}

/// Splits the bytes into memories at random positions.
Ref<GstBuffer> split_buffer_of(Random &random, const Bytes &bytes) {
  Ref<GstBuffer> buffer(gst_buffer_new());
  for (gsize at = 0; at < bytes.size();) {
    gsize length = random.between(1, static_cast<long>(bytes.size() - at));
    if (gst_buffer_n_memory(buffer.get()) > 8) length = bytes.size() - at;
    gst_buffer_append_memory(buffer.get(), exact_memory(&bytes[at], length, false));
    at += length;
  }
  return buffer;
}

struct Rows {
  gsize width;  // in bytes
  int count;
};

Rows rows_of(const GstVideoInfo &info, guint plane) {
  gint components[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(info.finfo, plane, components);
  const gint c = components[0];
  const bool packed_yuv = GST_VIDEO_INFO_N_PLANES(&info) == 1 && GST_VIDEO_INFO_IS_YUV(&info);
  const gsize width = packed_yuv ? static_cast<gsize>(info.stride[plane])
                                 : static_cast<gsize>(GST_VIDEO_INFO_COMP_WIDTH(&info, c)) *
                                       GST_VIDEO_INFO_COMP_PSTRIDE(&info, c);
  return {width, GST_VIDEO_INFO_COMP_HEIGHT(&info, c)};
}

/// A copy with other strides and offsets, possibly with a memory for each plane.
Ref<GstBuffer> relaid_buffer_of(Random &random, const GstVideoInfo &info, const Bytes &bytes) {
  Ref<GstBuffer> buffer(gst_buffer_new());
  const int sample = GST_VIDEO_INFO_COMP_DEPTH(&info, 0) > 8 ? 2 : 1;
  const bool separate = random.one_in(2);
  gsize offset[GST_VIDEO_MAX_PLANES] = {}, before = 0;
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  Bytes laid;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    const Rows rows = rows_of(info, plane);
    stride[plane] = static_cast<gint>(rows.width + random.pick({0, 0, 1, 2, 13, 37}) * sample);
    laid.insert(laid.end(), random.pick({0, 0, 1, 3, 16}) * sample, 0xEE);
    offset[plane] = before + laid.size();
    for (int y = 0; y < rows.count; ++y) {
      const guint8 *row = &bytes[info.offset[plane] + static_cast<gsize>(y) * info.stride[plane]];
      laid.insert(laid.end(), row, row + rows.width);
      // The last row ends where its samples end.
      if (y + 1 < rows.count) laid.insert(laid.end(), stride[plane] - rows.width, 0xDD);
    }
    if (!separate) continue;
    gst_buffer_append_memory(buffer.get(), exact_memory(laid.data(), laid.size(), false));
    before += laid.size();
    laid.clear();
  }
  if (!separate)
    gst_buffer_append_memory(buffer.get(), exact_memory(laid.data(), laid.size(), false));
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE,
                                 GST_VIDEO_INFO_FORMAT(&info), info.width, info.height,
                                 GST_VIDEO_INFO_N_PLANES(&info), offset, stride);
  return buffer;
}

/// A buffer from the pool that the element offered; null if the pool provides none.
Ref<GstBuffer> pooled_buffer_of(GstBufferPool *pool, const GstVideoInfo &info, const Bytes &bytes) {
  GstBuffer *buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK) return nullptr;
  Ref<GstBuffer> owner(buffer);
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) return nullptr;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    const Rows rows = rows_of(info, plane);
    for (int y = 0; y < rows.count; ++y)
      memcpy(static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                 static_cast<gssize>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane),
             &bytes[info.offset[plane] + static_cast<gsize>(y) * info.stride[plane]], rows.width);
  }
  gst_video_frame_unmap(&frame);
  return owner;
}

void add_strange_geometry(Random &random, GstBuffer *buffer) {
  GstStructure *s = gst_custom_meta_get_structure(
      gst_buffer_add_custom_meta(buffer, "GstCudaTensorGeometryMeta"));
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  const int count = random.pick({6, 6, 5, 0, 7});
  for (int i = 0; i < count; ++i) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_DOUBLE);
    g_value_set_double(&item, random.one_in(5) ? NAN : random.between(-9, 9));
    gst_value_array_append_and_take_value(&array, &item);
  }
  if (random.one_in(2)) gst_structure_set_value(s, "matrix", &array);
  if (random.one_in(2)) gst_structure_set_value(s, "inverse", &array);
  g_value_unset(&array);
  if (random.one_in(2)) gst_structure_set(s, "src-width", G_TYPE_STRING, "7", nullptr);
  if (random.one_in(2)) gst_structure_set(s, "src-height", G_TYPE_INT, -3, nullptr);
}

/// Adds points to a region of interest, as a detector of faces does.
void add_points(Run &run, GstVideoRegionOfInterestMeta *roi) {
  Random &random = run.random;
  GstStructure *points = gst_structure_new_empty("points");
  const int count = random.pick({5, 5, 5, 2, 0, run.sane ? 3 : 300});
  for (const char *axis : {"x", "y"}) {
    GValue array = G_VALUE_INIT;
    g_value_init(&array, GST_TYPE_ARRAY);
    const int length = run.sane || !random.one_in(20) ? count : count + 1;
    const GType type = !run.sane && random.one_in(20) ? G_TYPE_STRING : G_TYPE_DOUBLE;
    for (int i = 0; i < length; ++i) {
      const bool wild = !run.sane && random.one_in(30);
      GValue item = G_VALUE_INIT;
      g_value_init(&item, type);
      if (type == G_TYPE_DOUBLE)
        g_value_set_double(&item, wild ? random.pick<double>({NAN, INFINITY, -1e300, 1e12, 1e-300})
                                       : static_cast<double>(random.between(-20, 280)) / 4);
      gst_value_array_append_and_take_value(&array, &item);
    }
    gst_structure_take_value(points, axis, &array);
  }
  gst_video_region_of_interest_meta_add_param(roi, points);
}

void add_metas(Run &run, GstBuffer *buffer) {
  Random &random = run.random;
  const auto position = [&] {
    if (!run.sane && random.one_in(8)) return static_cast<guint>(random.bits());
    return static_cast<guint>(random.between(run.sane ? 0 : -5, 60));
  };
  for (long i = random.one_in(3) ? random.between(1, 20) : 0; i > 0; --i) {
    auto *roi = gst_buffer_add_video_region_of_interest_meta(
        buffer, random.pick({"face", "car", "x"}), position(), position(), position(), position());
    roi->id = static_cast<gint>(i);
    if (random.one_in(4))
      gst_video_region_of_interest_meta_add_param(roi, gst_structure_new_empty("p"));
    if (random.one_in(2)) add_points(run, roi);
    if (!run.sane && random.one_in(5)) roi->roi_type = 0;
  }
  if (random.one_in(8)) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
    crop->x = position(), crop->y = position();
    crop->width = position(), crop->height = position();
  }
  add_detections(run, buffer);
  if (run.sane) return;
  if (random.one_in(12)) add_strange_geometry(random, buffer);
  if (random.one_in(20)) gst_buffer_add_custom_meta(buffer, "GstCudaTensorBatchMeta");
  for (const guint flag : {GST_BUFFER_FLAG_GAP, GST_BUFFER_FLAG_DROPPABLE, GST_BUFFER_FLAG_DISCONT,
                           GST_BUFFER_FLAG_CORRUPTED})
    if (random.one_in(10)) GST_BUFFER_FLAG_SET(buffer, flag);
}

void set_times(Run &run, GstBuffer *buffer) {
  Random &random = run.random;
  if (!random.one_in(6)) GST_BUFFER_PTS(buffer) = random.between(0, 100) * 33 * GST_MSECOND;
  if (random.one_in(2)) GST_BUFFER_DURATION(buffer) = 33 * GST_MSECOND;
  if (!run.sane && random.one_in(20)) GST_BUFFER_PTS(buffer) = random.bits();
  if (!run.sane && random.one_in(20)) GST_BUFFER_DURATION(buffer) = random.bits();
}

void add_mad_video_meta(Random &random, GstBuffer *buffer, const GstVideoInfo &info) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    offset[plane] = random.one_in(10) ? random.bits() : random.bits() % (info.size + 1);
    stride[plane] = static_cast<gint>(random.one_in(4) ? random.bits() : random.between(-50, 5000));
  }
  gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE,
      random.one_in(9) ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_INFO_FORMAT(&info),
      info.width + (random.one_in(9) ? 1 : 0), info.height, GST_VIDEO_INFO_N_PLANES(&info), offset,
      stride);
}

/// Damages the frame, so that the element may reject it.
void spoil(Run &run, Frame &frame, const GstVideoInfo *info) {
  Random &random = run.random;
  GstBuffer *const buffer = frame.buffer.get();
  const auto size = static_cast<long>(gst_buffer_get_size(buffer));
  switch (random.between(0, 4)) {
    case 0:
      run.say("with its end cut off");
      gst_buffer_set_size(buffer, size > 0 ? random.between(0, size - 1) : 0);
      break;
    case 1:
      run.say("with its beginning cut off");
      gst_buffer_resize(buffer, size > 0 ? random.between(0, size - 1) : 0, -1);
      break;
    case 2:
      run.say("without memory");
      gst_buffer_remove_all_memory(buffer);
      break;
    case 3: {
      run.say("too long");
      const Bytes more = noise(random, random.between(1, 50));
      gst_buffer_append_memory(buffer, exact_memory(more.data(), more.size(), false));
      break;
    }
    default:
      if (info == nullptr || gst_buffer_get_video_meta(buffer) != nullptr) return;
      run.say("with an invalid video meta");
      add_mad_video_meta(random, buffer, *info);
  }
  frame.spoiled = true;
}

Ref<GstBuffer> laid_out(Run &run, const GstVideoInfo *info, const Bytes &bytes,
                        GstBufferPool *pool) {
  Random &random = run.random;
  if (pool != nullptr && info != nullptr) {
    Ref<GstBuffer> buffer = pooled_buffer_of(pool, *info, bytes);
    if (buffer != nullptr) return buffer;
  }
  if (info != nullptr && random.one_in(3)) return relaid_buffer_of(random, *info, bytes);
  if (random.one_in(10)) return split_buffer_of(random, bytes);
  return buffer_of(bytes, random.one_in(10));
}

}  // namespace

gsize size_of(GstCaps *caps) {
  if (!is_video(caps)) return tensor_size(caps);
  GstVideoInfo info;
  return gst_video_info_from_caps(&info, caps) ? info.size : 0;
}

Frame random_frame(Run &run, GstCaps *caps, GstBufferPool *pool) {
  if (!gst_caps_is_fixed(caps)) return {};
  if (is_in_surfaces(caps)) return random_surfaces(run, caps);
  const gsize size = size_of(caps);
  if (size == 0 || size > kMostBytes) return {};
  GstVideoInfo info;
  const bool video = is_video(caps) && gst_video_info_from_caps(&info, caps);
  const bool known = video && !GST_VIDEO_FORMAT_INFO_IS_TILED(info.finfo) &&
                     !GST_VIDEO_FORMAT_INFO_IS_COMPLEX(info.finfo) &&
                     info.interlace_mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  const Bytes bytes = noise(run.random, size);
  Frame frame;
  frame.plain = buffer_of(bytes);
  set_times(run, frame.plain.get());
  add_metas(run, frame.plain.get());
  frame.buffer = laid_out(run, known ? &info : nullptr, bytes, pool);
  gst_buffer_copy_into(frame.buffer.get(), frame.plain.get(),
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA), 0, -1);
  run.say(text("frame of %" G_GSIZE_FORMAT " bytes, %u memories, time %" GST_TIME_FORMAT,
               gst_buffer_get_size(frame.buffer.get()), gst_buffer_n_memory(frame.buffer.get()),
               GST_TIME_ARGS(GST_BUFFER_PTS(frame.buffer.get()))));
  if (!run.sane && run.random.one_in(8)) spoil(run, frame, known ? &info : nullptr);
  ++totals().frames;
  return frame;
}

Bytes samples_of(GstBuffer *buffer, GstCaps *caps) {
  Bytes samples;
  GstVideoInfo info;
  // A buffer of surfaces contains descriptions, not a picture.
  if (is_in_surfaces(caps) || !is_video(caps) || !gst_video_info_from_caps(&info, caps)) {
    samples.resize(gst_buffer_get_size(buffer));
    gst_buffer_extract(buffer, 0, samples.data(), samples.size());
    return samples;
  }
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return samples;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    const Rows rows = rows_of(info, plane);
    for (int y = 0; y < rows.count; ++y) {
      const guint8 *row = static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                          static_cast<gssize>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
      samples.insert(samples.end(), row, row + rows.width);
    }
  }
  gst_video_frame_unmap(&frame);
  return samples;
}

void check_output(Run &run, GstBuffer *buffer, GstCaps *caps) {
  ++totals().outputs;
  const gsize size = size_of(caps), actual = gst_buffer_get_size(buffer);
  if (is_video(caps)) {
    if (size > 0 && samples_of(buffer, caps).empty())
      run.finding("an output that cannot be mapped with its caps");
    return;
  }
  if (actual != size)
    run.finding(text("a tensor of %" G_GSIZE_FORMAT " bytes whose caps need %" G_GSIZE_FORMAT,
                     actual, size));
  if (gst_buffer_n_memory(buffer) != 1) run.finding("a tensor with more or less than one memory");
  if (!gst_structure_has_field(gst_caps_get_structure(caps, 0), "framerate"))
    run.finding("tensor caps without a framerate");
}

}  // namespace fuzz
