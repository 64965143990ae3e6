// SPDX-License-Identifier: LGPL-2.1-or-later
#include "surfaces.h"

#include <gmodule.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "backend.h"
#include "gst/util/modulefunctions.h"
#include "kernels/device.h"
#include "kernels/immortal.h"
#include "tests/kernels/random.h"

namespace cudatensor {

using nvmm::ColorFormat;
using nvmm::MemoryType;

const std::vector<NamedColorFormat> kColorFormats = {
    {"Gray8", ColorFormat::gray8},
    {"Gray8Full", ColorFormat::gray8_er},
    {"Yuv420", ColorFormat::yuv420},
    {"Yuv420Full", ColorFormat::yuv420_er},
    {"Yuv420Bt709", ColorFormat::yuv420_709},
    {"Yuv420Bt709Full", ColorFormat::yuv420_709_er},
    {"Yuv420Bt2020", ColorFormat::yuv420_2020},
    {"Nv12", ColorFormat::nv12},
    {"Nv12Full", ColorFormat::nv12_er},
    {"Nv12Bt709", ColorFormat::nv12_709},
    {"Nv12Bt709Full", ColorFormat::nv12_709_er},
    {"Nv12Bt2020", ColorFormat::nv12_2020},
    {"Nv21", ColorFormat::nv21},
    {"Nv21Full", ColorFormat::nv21_er},
    {"Yuv444", ColorFormat::yuv444},
    {"Yuv444Full", ColorFormat::yuv444_er},
    {"Yuv444Bt709", ColorFormat::yuv444_709},
    {"Yuv444Bt709Full", ColorFormat::yuv444_709_er},
    {"Yuv444Bt2020", ColorFormat::yuv444_2020},
    {"Nv12Ten", ColorFormat::nv12_10le},
    {"Nv12TenFull", ColorFormat::nv12_10le_er},
    {"Nv12TenBt709", ColorFormat::nv12_10le_709},
    {"Nv12TenBt709Full", ColorFormat::nv12_10le_709_er},
    {"Nv12TenBt2020", ColorFormat::nv12_10le_2020},
    {"Rgba", ColorFormat::rgba},
    {"Bgrx", ColorFormat::bgrx},
    {"Rgb", ColorFormat::rgb},
    {"Bgr", ColorFormat::bgr},
};

namespace {

constexpr size_t kPitch = 512;  // as in libnvbufsurface

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

bool on_gpu() {
  return test_backend() == TestBackend::cuda ||
         (test_backend() == TestBackend::automatic && gpu_is_there());
}

/// A surface's memory, on the host or on the GPU.
class Block {
 public:
  Block(const Bytes &bytes, MemoryType type) {
    if (on_gpu()) {
      const PrimaryContextScope scope(0);
      const auto device = open_cuda_device();
      memory_ = type == MemoryType::cuda_device ? device->allocate(bytes.size())
                                                : device->allocate_pinned(bytes.size());
      const auto row = static_cast<ptrdiff_t>(bytes.size());
      device->copy({memory_->data(), row}, {bytes.data(), row}, bytes.size(), 1, {});
      device->synchronize({});
    } else {
      bytes_ = bytes;
    }
  }
  ~Block() {
    if (memory_ == nullptr) return;
    const PrimaryContextScope scope(0);
    memory_.reset();
  }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  void *data() { return memory_ != nullptr ? memory_->data() : bytes_.data(); }

 private:
  std::unique_ptr<Memory> memory_;
  Bytes bytes_;
};

struct Owner {
  nvmm::SurfaceBatch batch = {};
  std::vector<nvmm::SurfaceParams> surfaces;
  std::deque<Block> blocks;
};

/// Lays the planes out as libnvbufsurface does, and returns the bytes, with noise between the rows.
Bytes lay_out(const Picture &picture, nvmm::SurfaceParams &surface) {
  size_t size = 0;
  surface.planes.num_planes = static_cast<uint32_t>(picture.planes().size());
  for (size_t p = 0; p < picture.planes().size(); ++p) {
    const Picture::Plane &plane = picture.planes()[p];
    surface.planes.pitch[p] = static_cast<uint32_t>(round_up(plane.row_bytes, kPitch));
    surface.planes.offset[p] = static_cast<uint32_t>(size);
    size += surface.planes.pitch[p] * round_up(static_cast<size_t>(plane.rows), 2);
  }
  surface.pitch = surface.planes.pitch[0];
  surface.data_size = static_cast<uint32_t>(size);
  Bytes bytes(size, 0xa5);
  for (size_t p = 0; p < picture.planes().size(); ++p) {
    const Picture::Plane &plane = picture.planes()[p];
    for (int y = 0; y < plane.rows; ++y)
      std::memcpy(&bytes[surface.planes.offset[p] + y * surface.planes.pitch[p]],
                  &plane.bytes[y * plane.row_bytes], plane.row_bytes);
  }
  return bytes;
}

void add_surface(Owner &owner, const Surface &made, MemoryType type) {
  nvmm::SurfaceParams surface = {};
  surface.width = static_cast<uint32_t>(made.picture.desc().width);
  surface.height = static_cast<uint32_t>(made.picture.desc().height);
  surface.color_format = made.format;
  surface.data_ptr = owner.blocks.emplace_back(lay_out(made.picture, surface), type).data();
  owner.surfaces.push_back(surface);
}

}  // namespace

std::string in_nvmm(const std::string &caps) {
  const std::string name = "video/x-raw";
  return name + "(memory:NVMM)" + caps.substr(name.size());
}

ColorFormat color_format_of(PixelFormat format) {
  for (const NamedColorFormat &each : kColorFormats)
    if (nvmm::format_of(each.format)->format == format) return each.format;
  ADD_FAILURE() << "no color format";
  return ColorFormat::invalid;
}

std::string system_caps_of(ColorFormat format, const ImageDesc &desc) {
  if (layout_of(desc.format).model != ColorModel::yuv) return video_caps(desc);
  const Colorimetry colors = nvmm::format_of(format)->colorimetry;
  const char *matrix = colors.matrix == ColorMatrix::bt601   ? "4"
                       : colors.matrix == ColorMatrix::bt709 ? "3"
                                                             : "6";
  const char *range = colors.range == ColorRange::full ? "1" : "2";
  return video_caps(desc, std::string("colorimetry=(string)") + range + ":" + matrix + ":0:0");
}

MemoryType usual_memory() { return on_gpu() ? MemoryType::cuda_device : MemoryType::cuda_pinned; }

BufferRef surface_buffer(const std::vector<Surface> &surfaces, size_t batch_size, MemoryType type,
                         const Change &change) {
  auto owner = std::make_unique<Owner>();
  for (const Surface &surface : surfaces) add_surface(*owner, surface, type);
  nvmm::SurfaceBatch &batch = owner->batch;
  batch.batch_size = static_cast<uint32_t>(batch_size);
  batch.num_filled = static_cast<uint32_t>(surfaces.size());
  batch.memory_type = type;
  batch.surfaces = owner->surfaces.data();
  if (change) change(batch);
  GstBuffer *buffer = gst_buffer_new();
  Owner *raw = owner.release();
  gst_buffer_append_memory(
      buffer, gst_memory_new_wrapped(GST_MEMORY_FLAG_NO_SHARE, &raw->batch, sizeof raw->batch, 0,
                                     sizeof raw->batch, raw,
                                     [](gpointer data) { delete static_cast<Owner *>(data); }));
  return BufferRef(buffer);
}

BufferRef surface_buffer(const Picture &picture) {
  return surface_buffer({{picture, color_format_of(picture.desc().format)}}, 1);
}

namespace {

constexpr gint kBatchGstMeta = 4097;

struct NvDsMeta {
  GstMeta meta;
  gpointer meta_data;
  gpointer user_data;
  gint meta_type;
};

using AddMeta = NvDsMeta *(*)(GstBuffer *, gpointer, gpointer, gpointer, gpointer);

AddMeta find_add_meta() {
  AddMeta add = nullptr;
  GModule *module = g_module_open("libnvdsgst_meta.so", G_MODULE_BIND_LAZY);
  if (module != nullptr) find(module, "gst_buffer_add_nvds_meta", add);
  return add;
}

nvmm::NvDsObjectMeta object_of(const TestObject &object) {
  nvmm::NvDsObjectMeta meta = {};
  meta.left = object.left;
  meta.top = object.top;
  meta.width = object.width;
  meta.height = object.height;
  meta.confidence = object.confidence;
  std::memcpy(meta.label, object.label.data(), std::min(object.label.size(), sizeof meta.label));
  return meta;
}

/// Returns a frame that stays until the process ends, so it outlives the buffers of a test.
nvmm::NvDsFrameMeta *new_frame(const TestFrame &frame) {
  static auto &frames = immortal([] { return std::deque<nvmm::NvDsFrameMeta>(); });
  static auto &objects = immortal([] { return std::deque<nvmm::NvDsObjectMeta>(); });
  nvmm::NvDsFrameMeta &meta = frames.emplace_back();
  meta.pad_index = frame.pad_index;
  meta.batch_id = frame.surface;
  meta.source_id = frame.source_id;
  meta.buf_pts = frame.pts;
  meta.source_frame_width = frame.width;
  meta.source_frame_height = frame.height;
  for (const TestObject &object : frame.objects)
    meta.obj_meta_list =
        g_list_append(meta.obj_meta_list, &objects.emplace_back(object_of(object)));
  return &meta;
}

}  // namespace

void attach_frames(GstBuffer *buffer, const std::vector<TestFrame> &frames) {
  static const AddMeta add = find_add_meta();
  ASSERT_NE(add, nullptr);
  static auto &batches = immortal([] { return std::deque<nvmm::NvDsBatchMeta>(); });
  nvmm::NvDsBatchMeta &batch = batches.emplace_back();
  g_rec_mutex_init(&batch.meta_mutex);
  for (const TestFrame &frame : frames)
    batch.frame_meta_list = g_list_append(batch.frame_meta_list, new_frame(frame));
  add(buffer, &batch, nullptr, nullptr, nullptr)->meta_type = kBatchGstMeta;
}

}  // namespace cudatensor
