// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "gst/library/cudaorder.h"
#include "gst/library/datatype.h"
#include "gst/library/slots.h"

namespace cudatensor {

/// Type, shape and layout of a tensor, from its caps.
struct DenseLayout {
  const DataType *type;
  guint n_dims;
  std::vector<gint64> shape, strides;  ///< outermost first, in elements, followed by a 0
  gsize size;                          ///< bytes
};

/// A buffer with one memory, mapped for reading during the object's lifetime. CUDAMemory is mapped
/// on the device.
class MappedBuffer {
 public:
  /// Throws LibraryError.
  explicit MappedBuffer(GstBuffer *buffer);
  ~MappedBuffer();
  MappedBuffer(const MappedBuffer &) = delete;
  MappedBuffer &operator=(const MappedBuffer &) = delete;

  GstBuffer *get() const { return buffer_; }
  void *data() const { return map_.data; }
  gsize size() const { return map_.size; }
  /// Returns the location in CUDA memory; no value for host memory.
  const std::optional<CudaLocation> &cuda() const { return cuda_; }
  /// Returns whether no other reference could observe writes to the data.
  bool is_exclusive() const;

 private:
  GstBuffer *buffer_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
  std::optional<CudaLocation> cuda_;
};

/// The meaning of the outermost dimension of a tensor.
enum class TensorSlots {
  as_described,  ///< the slots in the metas of the buffer, if any
  of_batch,      ///< the slots of a batch, or one
  of_frames      ///< the same, without the slots after the last frame
};

}  // namespace cudatensor

struct _GstCudaTensor {
  /// Throws cudatensor::LibraryError.
  _GstCudaTensor(GstBuffer *buffer, GstCaps *caps,
                 cudatensor::TensorSlots slots = cudatensor::TensorSlots::as_described);

  std::atomic<int> references{1};
  const std::optional<GstCudaTensorGeometry> geometry;
  const cudatensor::BatchContents batch;
  const cudatensor::DenseLayout layout;
  const cudatensor::MappedBuffer buffer;
};
