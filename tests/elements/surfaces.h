// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers with DeepStream's memory, as from its decoder, nvvideoconvert and nvstreammux.
#pragma once

#include <functional>

#include "gst/nvmm/colorformat.h"
#include "gst/nvmm/nvbufsurface.h"
#include "gst/nvmm/nvdsmeta.h"
#include "rig.h"

namespace cudatensor {

/// Returns "video/x-raw,…" as "video/x-raw(memory:NVMM),…".
std::string in_nvmm(const std::string &caps);

/// Color formats that surfaces can have, with their names.
struct NamedColorFormat {
  const char *name;
  nvmm::ColorFormat format;
};
extern const std::vector<NamedColorFormat> kColorFormats;
/// Returns the color format with the colorimetry of caps without one, for up to 576 rows.
nvmm::ColorFormat color_format_of(PixelFormat format);
/// Returns the caps of a surface's picture in system memory, with its colorimetry.
std::string system_caps_of(nvmm::ColorFormat format, const ImageDesc &desc);

struct Surface {
  Picture picture;
  nvmm::ColorFormat format;
};

/// Returns the memory that DeepStream's elements use for the backend under test.
nvmm::MemoryType usual_memory();

/// Returns a buffer of these surfaces, with room for `batch_size`. `Change` may modify the
/// description before the buffer is made.
using Change = std::function<void(nvmm::SurfaceBatch &)>;
BufferRef surface_buffer(const std::vector<Surface> &surfaces, size_t batch_size,
                         nvmm::MemoryType type = usual_memory(), const Change &change = {});
BufferRef surface_buffer(const Picture &picture);

/// An object that a detector has found in a frame.
struct TestObject {
  std::string label;
  float left, top, width, height, confidence;
};
struct TestFrame {
  guint pad_index, surface, source_id;
  GstClockTime pts;
  guint width, height;
  std::vector<TestObject> objects;
};
/// The frames must outlive the buffer.
void attach_frames(GstBuffer *buffer, const std::vector<TestFrame> &frames);

}  // namespace cudatensor
