// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers of DeepStream's memory, as its decoder, nvvideoconvert and nvstreammux make them.
#pragma once

#include <functional>

#include "gst/nvmm/colorformat.h"
#include "gst/nvmm/nvbufsurface.h"
#include "gst/nvmm/nvdsmeta.h"
#include "rig.h"

namespace cudatensor {

/// "video/x-raw,…" as "video/x-raw(memory:NVMM),…".
std::string in_nvmm(const std::string &caps);

/// Color formats that surfaces can have, with their names.
struct NamedColorFormat {
  const char *name;
  nvmm::ColorFormat format;
};
extern const std::vector<NamedColorFormat> kColorFormats;
/// The one with the colorimetry that caps without one stand for, up to 576 rows.
nvmm::ColorFormat color_format_of(PixelFormat format);
/// The caps of a surface's picture in system memory, with its colorimetry.
std::string system_caps_of(nvmm::ColorFormat format, const ImageDesc &desc);

struct Surface {
  Picture picture;
  nvmm::ColorFormat format;
};

/// The memory that DeepStream's elements use where the elements under test run.
nvmm::MemoryType usual_memory();

/// A buffer of these surfaces, of which `batch_size` could be. The test may change the description
/// before the buffer is made.
using Change = std::function<void(nvmm::SurfaceBatch &)>;
BufferRef surface_buffer(const std::vector<Surface> &surfaces, size_t batch_size,
                         nvmm::MemoryType type = usual_memory(), const Change &change = {});
BufferRef surface_buffer(const Picture &picture);

/// What nvstreammux and a detector say of a frame.
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
/// The frames must outlive the buffer: they are those of one test.
void attach_frames(GstBuffer *buffer, const std::vector<TestFrame> &frames);

}  // namespace cudatensor
