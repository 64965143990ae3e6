// SPDX-License-Identifier: LGPL-2.1-or-later
// DeepStream's libraries, and surfaces in the memory that they allocate. The declarations repeat
// those of DeepStream 9.0 (nvbufsurface.h, nvbufsurftransform.h), so that deepstream.cu compiles
// without it.
#pragma once

#include <filesystem>
#include <memory>

#include "../frames.h"
#include "../measure.h"
#include "gst/nvmm/nvbufsurface.h"

namespace bench::deepstream {

namespace nvmm = cudatensor::nvmm;

// ------------------------------------------------------------------------------------ declarations

/// NvBufSurfaceCreateParams.
struct CreateParams {
  uint32_t gpu_id, width, height, size;
  bool is_contiguous;
  nvmm::ColorFormat color_format;
  nvmm::Layout layout;
  nvmm::MemoryType memory_type;
  void *reserved[nvmm::kReserved];
};

/// NvBufSurfTransformConfigParams.
struct SessionParams {
  int compute_mode;
  int32_t gpu_id;
  cudaStream_t stream;
  void *reserved[nvmm::kReserved];
};

/// NvBufSurfTransformRect.
struct Rect {
  uint32_t top, left, width, height;
  void *reserved[nvmm::kReserved];
};

/// NvBufSurfTransformParams. There is one rectangle for each surface of a batch.
struct TransformParams {
  uint32_t flags;
  int flip, filter;
  Rect *source, *destination;
  void *reserved[nvmm::kReserved];
};

constexpr int kComputeOnGpu = 1, kNoFlip = 0, kBilinear = 1;
constexpr uint32_t kCropSource = 1, kCropDestination = 2, kSetFilter = 4;

struct SyncObject;

template <class Function>
Function *find(void *library, const char *name, Function *) {
  void *const symbol = library ? dlsym(library, name) : nullptr;
  if (!symbol) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function *>(symbol);
}

/// The functions of DeepStream's libraries, which the linker finds by LD_LIBRARY_PATH.
struct DeepStream {
  int (*create)(nvmm::SurfaceBatch **, uint32_t size, CreateParams *) = nullptr;
  int (*destroy)(nvmm::SurfaceBatch *) = nullptr;
  int (*fill)(nvmm::SurfaceBatch *, int surface, int plane, uint8_t value) = nullptr;
  int (*set_session)(SessionParams *) = nullptr;
  int (*transform)(nvmm::SurfaceBatch *, nvmm::SurfaceBatch *, TransformParams *,
                   SyncObject **) = nullptr;
  int (*wait)(SyncObject *, uint32_t milliseconds) = nullptr;
  int (*destroy_sync)(SyncObject **) = nullptr;

  DeepStream() {
    void *const surfaces = dlopen("libnvbufsurface.so", RTLD_NOW);
    create = find(surfaces, "NvBufSurfaceCreate", create);
    destroy = find(surfaces, "NvBufSurfaceDestroy", destroy);
    fill = find(surfaces, "NvBufSurfaceMemSet", fill);
    void *const transforms = dlopen("libnvbufsurftransform.so", RTLD_NOW);
    set_session = find(transforms, "NvBufSurfTransformSetSessionParams", set_session);
    transform = find(transforms, "NvBufSurfTransformAsync", transform);
    wait = find(transforms, "NvBufSurfTransformSyncObjWait", wait);
    destroy_sync = find(transforms, "NvBufSurfTransformSyncObjDestroy", destroy_sync);
  }

  /// Returns the version in the name of the wheel's description, because the libraries do not tell
  /// theirs.
  std::string version() const {
    Dl_info info = {};
    dladdr(reinterpret_cast<void *>(transform), &info);
    const std::filesystem::path library = info.dli_fname ? info.dli_fname : "";
    const auto packages = library.parent_path().parent_path().parent_path().parent_path();
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(packages, error)) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() == ".dist-info" && name.rfind("nvidia_deepstream", 0) == 0)
        return name;
    }
    return "version unknown";
  }
};

inline void check_result(int result, const char *function) {
  if (result != 0)
    throw std::runtime_error(std::string(function) + " failed with " + std::to_string(result));
}

// ------------------------------------------------------------------------------------------ memory

/// A batch of surfaces in the memory of the GPU.
class Surfaces {
 public:
  Surfaces(const DeepStream &library, nvmm::ColorFormat format, int width, int height, int batch)
      : library_(library) {
    CreateParams params = {};
    int gpu = 0;
    check(cudaGetDevice(&gpu));
    params.gpu_id = static_cast<uint32_t>(gpu);
    params.width = static_cast<uint32_t>(width);
    params.height = static_cast<uint32_t>(height);
    params.is_contiguous = true;
    params.color_format = format;
    params.layout = nvmm::Layout::pitch;
    params.memory_type = nvmm::MemoryType::cuda_device;
    const auto count = static_cast<uint32_t>(batch);
    check_result(library.create(&batch_, count, &params), "NvBufSurfaceCreate");
    batch_->num_filled = count;
  }
  ~Surfaces() { library_.destroy(batch_); }
  Surfaces(const Surfaces &) = delete;
  Surfaces &operator=(const Surfaces &) = delete;

  nvmm::SurfaceBatch *get() const { return batch_; }
  const nvmm::SurfaceParams &operator[](int i) const { return batch_->surfaces[i]; }
  uint8_t *plane(int surface, int plane) const {
    const nvmm::SurfaceParams &params = (*this)[surface];
    return static_cast<uint8_t *>(params.data_ptr) + params.planes.offset[plane];
  }

  void write_nv12(int surface, const Bytes &frame) const {
    const nvmm::SurfaceParams &params = (*this)[surface];
    const size_t width = params.width, height = params.height;
    check(cudaMemcpy2D(plane(surface, 0), params.planes.pitch[0], frame.data(), width, width,
                       height, cudaMemcpyHostToDevice));
    check(cudaMemcpy2D(plane(surface, 1), params.planes.pitch[1], frame.data() + width * height,
                       width, width, height / 2, cudaMemcpyHostToDevice));
  }

  void fill(uint8_t value) const {
    check_result(library_.fill(batch_, -1, -1, value), "NvBufSurfaceMemSet");
  }

 private:
  const DeepStream &library_;
  nvmm::SurfaceBatch *batch_ = nullptr;
};

using Pool = std::vector<std::unique_ptr<Surfaces>>;

inline const Surfaces &turn(const Pool &pool, int call) {
  return *pool[static_cast<size_t>(call) % pool.size()];
}

}  // namespace bench::deepstream
