// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu.h"

#include <gmodule.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cudatensor {
namespace {

/// Further functions of libgstcuda.
struct MoreOfLibrary {
  gboolean (*context_push)(gstcuda::Context *context);
  gboolean (*context_pop)(void **handle);
  GstContext *(*context_new_cuda_context)(gstcuda::Context *context);
  // gst_cuda_allocator_alloc() until GStreamer 1.22, and since 1.24.
  GstMemory *(*alloc)(GstAllocator *, gstcuda::Context *, const GstVideoInfo *);
  GstMemory *(*alloc_on_stream)(GstAllocator *, gstcuda::Context *, gstcuda::Stream *,
                                const GstVideoInfo *);
};

/// Functions of the driver that have no wrapper.
struct Driver {
  int (*get_current)(void **context);
  int (*retain_primary)(void **context, int device);
  int (*memory_info)(size_t *free, size_t *total);
  int (*launch_host_function)(void *stream, void (*function)(void *), void *data);
};

template <class Function>
void find(GModule *module, const char *name, Function &function) {
  gpointer symbol = nullptr;
  if (!g_module_symbol(module, name, &symbol)) g_error("no %s", name);
  function = reinterpret_cast<Function>(symbol);
}

GModule *open_module(const char *name) {
  GModule *module = g_module_open(name, G_MODULE_BIND_LAZY);
  if (module == nullptr) g_error("%s", g_module_error());
  g_module_make_resident(module);
  return module;
}

const MoreOfLibrary &more() {
  static const MoreOfLibrary table = [] {
    MoreOfLibrary t = {};
    GModule *module = open_module("libgstcuda-1.0.so.0");
    find(module, "gst_cuda_context_push", t.context_push);
    find(module, "gst_cuda_context_pop", t.context_pop);
    find(module, "gst_context_new_cuda_context", t.context_new_cuda_context);
    find(module, "gst_cuda_allocator_alloc", t.alloc);
    find(module, "gst_cuda_allocator_alloc", t.alloc_on_stream);
    return t;
  }();
  return table;
}

const Driver &driver() {
  static const Driver table = [] {
    Driver t = {};
    GModule *module = open_module("libcuda.so.1");
    find(module, "cuCtxGetCurrent", t.get_current);
    find(module, "cuDevicePrimaryCtxRetain", t.retain_primary);
    find(module, "cuMemGetInfo_v2", t.memory_info);
    find(module, "cuLaunchHostFunc", t.launch_host_function);
    return t;
  }();
  return table;
}

/// Not destroyed at exit, because the driver may be shut down before.
ContextRef &held_context() {
  static auto *const context = new ContextRef;
  return *context;
}

}  // namespace

void GpuTest::SetUp() {
  if (asked_ == TestBackend::cpu) GTEST_SKIP() << "CUDATENSOR_TEST_BACKEND=cpu";
  if (!gpu_is_there()) GTEST_SKIP() << "no GPU, or no libgstcuda";
}

std::string in_cuda(const std::string &caps) {
  const size_t end = caps.find(',');
  const std::string rest = end == std::string::npos ? "" : caps.substr(end);
  return caps.substr(0, end) + "(memory:CUDAMemory)" + rest;
}

// ------------------------------------------------------------------------- contexts and streams

ContextRef new_context(int device) {
  ContextRef context(gstcuda::loaded().context_new(static_cast<guint>(device)));
  if (!context) g_error("no CUDA context on device %d", device);
  return context;
}

ContextRef wrap_primary_context(int device) {
  void *handle = nullptr;
  if (driver().retain_primary(&handle, device) != 0) g_error("no primary context");
  return ContextRef(gstcuda::loaded().context_new_wrapped(handle, device));
}

Ref<GstContext> message_of(gstcuda::Context *context) {
  return Ref<GstContext>(more().context_new_cuda_context(context));
}

ContextRef ask_for_context(GstPad *pad) {
  const QueryRef query(gst_query_new_context(gstcuda::kContextType));
  if (!gst_pad_peer_query(pad, query.get())) return nullptr;
  GstContext *answer = nullptr;
  gst_query_parse_context(query.get(), &answer);
  if (answer == nullptr) return nullptr;
  const GValue *value =
      gst_structure_get_value(gst_context_get_structure(answer), gstcuda::kContextType);
  return ContextRef(static_cast<gstcuda::Context *>(g_value_dup_object(value)));
}

gstcuda::Context *shared_context() {
  if (!held_context()) held_context() = new_context();
  return held_context().get();
}

void share_context(GstElement *element) {
  if (!gpu_is_there()) return;
  gst_element_set_context(element, message_of(shared_context()).get());
}

void release_shared_context() { held_context().reset(); }

bool has_streams() { return gstcuda::loaded().has_streams(); }

StreamRef new_stream(gstcuda::Context *context) {
  return StreamRef(gstcuda::loaded().stream_new(context));
}

Entered::Entered(gstcuda::Context *context) {
  if (!more().context_push(context)) g_error("the context cannot be entered");
  backend_ = open_cuda_backend();
}

Entered::~Entered() {
  backend_.reset();
  more().context_pop(nullptr);
}

void *current_context() {
  void *context = nullptr;
  EXPECT_EQ(driver().get_current(&context), 0);
  return context;
}

Stream handle_of(gstcuda::Stream *stream) {
  return {stream != nullptr ? gstcuda::loaded().stream_get_handle(stream) : nullptr};
}

size_t free_device_memory(gstcuda::Context *context) {
  const Entered entered(context);
  size_t free = 0, total = 0;
  EXPECT_EQ(driver().memory_info(&free, &total), 0);
  return free;
}

// --------------------------------------------------------------------------------------- memory

namespace {

/// Returns memory for a picture of one row, which libgstcuda copies completely from and to the
/// host.
GstMemory *new_row(const CudaLocation &place, size_t size) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, static_cast<guint>((size + 3) / 4), 1);
  info.stride[0] = static_cast<gint>(size);
  GstAllocator *allocator = gst_allocator_find(gstcuda::kMemoryType);
  GstMemory *memory = has_streams()
                          ? more().alloc_on_stream(allocator, place.context, place.stream, &info)
                          : more().alloc(allocator, place.context, &info);
  gst_object_unref(allocator);
  if (memory == nullptr) g_error("no CUDAMemory of %zu bytes", size);
  gst_memory_resize(memory, 0, size);
  return memory;
}

void copy_layout(GstBuffer *to, GstBuffer *from) {
  gst_buffer_copy_into(
      to, from, static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS),
      0, static_cast<gsize>(-1));
  const GstVideoMeta *meta = gst_buffer_get_video_meta(from);
  if (meta == nullptr) return;
  gst_buffer_add_video_meta_full(to, meta->flags, meta->format, meta->width, meta->height,
                                 meta->n_planes, const_cast<gsize *>(meta->offset),
                                 const_cast<gint *>(meta->stride));
}

Ref<GstBufferPool> pool_for(const ImageDesc &desc, const CudaLocation &place) {
  Ref<GstBufferPool> pool(gstcuda::loaded().buffer_pool_new(place.context));
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  const CapsRef caps(gst_caps_from_string(in_cuda(video_caps(desc)).c_str()));
  const auto size = static_cast<guint>(video_info_of(desc).size);
  gst_buffer_pool_config_set_params(config, caps.get(), size, 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (place.stream != nullptr)
    gstcuda::loaded().buffer_pool_config_set_cuda_stream(config, place.stream);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  return pool;
}

}  // namespace

BufferRef to_cuda(const BufferRef &buffer, const CudaLocation &place) {
  const Entered entered(place.context);
  const Bytes bytes = bytes_of(buffer.get());
  BufferRef result(gst_buffer_new());
  gst_buffer_append_memory(result.get(), new_row(place, bytes.size()));
  const PinnedBytes pinned(entered.device(), bytes);
  pinned.write_to(result.get(), handle_of(place.stream));
  entered.device().synchronize(handle_of(place.stream));
  copy_layout(result.get(), buffer.get());
  return result;
}

BufferRef pooled(const Picture &picture, const CudaLocation &place) {
  const Ref<GstBufferPool> pool = pool_for(picture.desc(), place);
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  gst_buffer_pool_set_active(pool.get(), FALSE);
  write_picture(buffer, picture);
  GST_BUFFER_PTS(buffer) = 0;
  return BufferRef(buffer);
}

bool has_pool(const ImageDesc &desc) {
  switch (desc.format) {
    case PixelFormat::BGR:
    case PixelFormat::RGB:
    case PixelFormat::BGRx:
    case PixelFormat::RGBx:
    case PixelFormat::BGRA:
    case PixelFormat::RGBA:
    case PixelFormat::ABGR:
    case PixelFormat::ARGB:
    case PixelFormat::RGBP:
    case PixelFormat::BGRP:
    case PixelFormat::GBR:
    case PixelFormat::NV12:
    case PixelFormat::YUY2:
    case PixelFormat::UYVY:
    case PixelFormat::Y42B:
    case PixelFormat::P010_10LE:
    case PixelFormat::P016_LE:
    case PixelFormat::I422_10LE:
    case PixelFormat::I422_12LE:
    case PixelFormat::Y444:
    case PixelFormat::Y444_16LE: return true;
    // libgstcuda does not copy the last row of chroma, and until 1.22 the third plane.
    case PixelFormat::NV21: return desc.height % 2 == 0;
    case PixelFormat::I420:
    case PixelFormat::YV12:
    case PixelFormat::I420_10LE: return desc.height % 2 == 0 || has_streams();
    // libgstcuda 1.22 aborts for other formats.
    default: return false;
  }
}

gstcuda::Stream *stream_of(GstBuffer *buffer) {
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  if (memory == nullptr || !has_streams()) return nullptr;
  return gstcuda::loaded().memory_get_stream(memory);
}

uint8_t *device_address_of(GstBuffer *buffer, bool write) {
  GstMapInfo map;
  const int flags = (write ? GST_MAP_WRITE : GST_MAP_READ) | gstcuda::kMapCuda;
  if (!gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(flags))) {
    ADD_FAILURE() << "no CUDAMemory";
    return nullptr;
  }
  gst_buffer_unmap(buffer, &map);
  return map.data;
}

Bytes device_bytes_of(GstBuffer *buffer) {
  gstcuda::Memory *memory = cuda_memory_of(buffer);
  if (memory == nullptr) {
    ADD_FAILURE() << "no CUDAMemory";
    return {};
  }
  const Entered entered(memory->context);
  const Stream stream = handle_of(stream_of(buffer));
  PinnedBytes bytes(entered.device(), Bytes(gst_buffer_get_size(buffer)));
  bytes.read_from(buffer, stream);
  entered.device().synchronize(stream);
  return bytes.bytes();
}

PinnedBytes::PinnedBytes(Device &device, const Bytes &bytes)
    : device_(device), memory_(device.allocate_pinned(bytes.size())) {
  std::copy(bytes.begin(), bytes.end(), memory_->data());
}

void PinnedBytes::write_to(GstBuffer *buffer, Stream stream) const {
  const auto size = static_cast<ptrdiff_t>(memory_->size());
  device_.copy({device_address_of(buffer, true), size}, {memory_->data(), size}, memory_->size(), 1,
               stream);
}

void PinnedBytes::read_from(GstBuffer *buffer, Stream stream) {
  const auto size = static_cast<ptrdiff_t>(memory_->size());
  device_.copy({memory_->data(), size}, {device_address_of(buffer), size}, memory_->size(), 1,
               stream);
}

Bytes PinnedBytes::bytes() const {
  return Bytes(memory_->data(), memory_->data() + memory_->size());
}

// ----------------------------------------------------------------------------------------- gates

struct Gate::State {
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false, passed = false;
};

Gate::Gate(Stream stream) : state_(std::make_shared<State>()) {
  auto *held = new std::shared_ptr<State>(state_);
  EXPECT_EQ(driver().launch_host_function(stream.handle, wait, held), 0);
}

void Gate::wait(void *data) {
  const std::unique_ptr<std::shared_ptr<State>> held(static_cast<std::shared_ptr<State> *>(data));
  State &state = **held;
  std::unique_lock<std::mutex> lock(state.mutex);
  state.opened.wait_for(lock, std::chrono::seconds(10), [&] { return state.open; });
  state.passed = true;
}

void Gate::open() {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->open = true;
  }
  state_->opened.notify_all();
}

bool Gate::holds() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return !state_->passed;
}

}  // namespace cudatensor
