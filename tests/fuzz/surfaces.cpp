// SPDX-License-Identifier: LGPL-2.1-or-later
#include "surfaces.h"

#include <cstdlib>
#include <cstring>

#include "generate.h"
#include "gst/nvmm/colorformat.h"
#include "gst/nvmm/nvbufsurface.h"
#include "kernels/image.h"

namespace fuzz {
namespace {

namespace nvmm = cudatensor::nvmm;
using cudatensor::PixelFormat;

constexpr int kColorFormats = 96;  // the formats that are supported are among the first
constexpr gsize kMostBytes = 8 << 20;

std::vector<nvmm::ColorFormat> color_formats(const std::string &name) {
  std::vector<nvmm::ColorFormat> found;
  for (int i = 0; i < kColorFormats; ++i) {
    const auto format = nvmm::format_of(static_cast<nvmm::ColorFormat>(i));
    if (format && name == cudatensor::name_of(format->format))
      found.push_back(static_cast<nvmm::ColorFormat>(i));
  }
  return found;
}

/// Surfaces and their memory, which ends with the last sample.
struct Batch {
  nvmm::SurfaceBatch batch = {};
  std::vector<nvmm::SurfaceParams> surfaces;
  std::vector<void *> memory;

  ~Batch() {
    for (void *data : memory) free(data);
  }
};

nvmm::SurfaceParams random_surface(Random &random, nvmm::ColorFormat color_format, int width,
                                   int height) {
  nvmm::SurfaceParams surface = {};
  surface.width = static_cast<uint32_t>(width);
  surface.height = static_cast<uint32_t>(height);
  surface.color_format = color_format;
  const auto format = nvmm::format_of(color_format)->format;
  const int planes = cudatensor::layout_of(format).planes;
  surface.planes.num_planes = static_cast<uint32_t>(planes);
  for (int p = 0; p < planes; ++p) {
    const auto size = cudatensor::plane_size({format, width, height}, p);
    const gsize sample = cudatensor::layout_of(format).is_deep() ? 2 : 1;
    surface.planes.pitch[p] =
        static_cast<uint32_t>(size.row + random.pick({0, 0, 1, 13, 256}) * sample);
    surface.planes.offset[p] =
        surface.data_size + static_cast<uint32_t>(random.pick({0, 0, 1, 512}) * sample);
    surface.data_size = static_cast<uint32_t>(surface.planes.offset[p] +
                                              (size.rows - 1) * surface.planes.pitch[p] + size.row);
  }
  return surface;
}

void fill(Random &random, nvmm::SurfaceParams &surface) {
  surface.data_ptr = malloc(surface.data_size);
  auto *const bytes = static_cast<guint8 *>(surface.data_ptr);
  for (gsize i = 0; i < surface.data_size; i += 8) {
    const guint64 bits = random.bits();
    memcpy(bytes + i, &bits, std::min<gsize>(8, surface.data_size - i));
  }
}

/// Damages the description, but never claims more memory than there is, because no element could
/// detect that.
void spoil(Run &run, Batch &made) {
  Random &random = run.random;
  nvmm::SurfaceParams &surface =
      made.surfaces[random.between(0, static_cast<long>(made.surfaces.size()) - 1)];
  const auto plane = random.between(0, 2);
  switch (random.between(0, 9)) {
    case 0: surface.width = static_cast<uint32_t>(random.bits()); break;
    case 1: surface.height = static_cast<uint32_t>(random.bits()); break;
    case 2: surface.planes.pitch[plane] = static_cast<uint32_t>(random.bits() % 5000); break;
    case 3: surface.planes.offset[plane] = static_cast<uint32_t>(random.bits()); break;
    case 4:
      surface.data_size = static_cast<uint32_t>(random.bits() % (surface.data_size + 1));
      break;
    case 5: surface.data_ptr = nullptr; break;
    case 6: surface.layout = nvmm::Layout::block_linear; break;
    case 7:
      surface.color_format = static_cast<nvmm::ColorFormat>(random.between(-2, kColorFormats));
      break;
    case 8:
      made.batch.num_filled = static_cast<uint32_t>(random.pick({0l, 1l, 9l, 1l << 31}));
      break;
    default:
      made.batch.memory_type = static_cast<nvmm::MemoryType>(random.between(-1, 9));
      if (random.one_in(3)) made.batch.surfaces = nullptr;
  }
}

Ref<GstBuffer> buffer_of(std::unique_ptr<Batch> made) {
  Batch *const kept = made.release();
  const auto destroy = [](gpointer batch) { delete static_cast<Batch *>(batch); };
  return Ref<GstBuffer>(gst_buffer_new_wrapped_full(
      GstMemoryFlags{}, &kept->batch, sizeof kept->batch, 0, sizeof kept->batch, kept, destroy));
}

/// Returns null if the surfaces would be too large.
std::unique_ptr<Batch> random_batch(Random &random, const GstStructure *s) {
  gint width = 0, height = 0, count = 1;
  gst_structure_get_int(s, "width", &width);
  gst_structure_get_int(s, "height", &height);
  const bool in_batch = gst_structure_get_int(s, "batch-size", &count) != FALSE;
  const auto formats = color_formats(gst_structure_get_string(s, "format"));
  auto made = std::make_unique<Batch>();
  gsize size = 0;
  for (gint i = 0; i < count; ++i) {
    const bool other = in_batch && random.one_in(4);
    const Size of = other ? random_size(random) : Size{width, height};
    made->surfaces.push_back(random_surface(random, random.pick(formats), of.width, of.height));
    size += made->surfaces.back().data_size;
  }
  if (size > kMostBytes) return nullptr;
  for (nvmm::SurfaceParams &surface : made->surfaces) {
    fill(random, surface);
    made->memory.push_back(surface.data_ptr);
  }
  made->batch.batch_size = static_cast<uint32_t>(count);
  made->batch.num_filled = static_cast<uint32_t>(in_batch ? random.between(0, count) : 1);
  made->batch.memory_type = nvmm::MemoryType::cuda_pinned;
  made->batch.surfaces = made->surfaces.data();
  return made;
}

}  // namespace

bool is_in_surfaces(GstCaps *caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), nvmm::kMemoryFeature);
}

std::string surface_caps(Run &run, bool of_yuv420, bool batches) {
  static const std::vector<std::string> all = {"NV12", "NV21", "I420", "Y444", "P010_10LE",
                                               "RGBA", "BGRx", "RGB",  "BGR",  "GRAY8"};
  static const std::vector<std::string> of_420 = {"NV12", "NV21", "I420"};
  Random &random = run.random;
  const Size size = random_size(random);
  std::string caps = "video/x-raw(memory:NVMM),format=" + random.pick(of_yuv420 ? of_420 : all) +
                     text(",width=%d,height=%d,framerate=30/1", size.width, size.height);
  if (batches && random.one_in(2)) caps += text(",batch-size=%ld", random.between(1, 5));
  return caps;
}

Frame random_surfaces(Run &run, GstCaps *caps) {
  Random &random = run.random;
  std::unique_ptr<Batch> made = random_batch(random, gst_caps_get_structure(caps, 0));
  if (made == nullptr) return {};
  Frame frame;
  if (!run.sane && random.one_in(4)) {
    run.say("surfaces with a damaged description");
    spoil(run, *made);
    frame.spoiled = true;
  }
  run.say(text("%u of %u surfaces", made->batch.num_filled, made->batch.batch_size));
  frame.plain = buffer_of(std::move(made));
  if (!run.sane && random.one_in(20)) {
    run.say("with the description cut off");
    gst_buffer_set_size(frame.plain.get(), random.between(0, sizeof(nvmm::SurfaceBatch) - 1));
    frame.spoiled = true;
  }
  GST_BUFFER_PTS(frame.plain.get()) = random.between(0, 100) * 33 * GST_MSECOND;
  frame.buffer.reset(gst_buffer_copy(frame.plain.get()));
  ++totals().frames;
  return frame;
}

}  // namespace fuzz
