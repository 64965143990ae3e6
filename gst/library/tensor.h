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
  /// Throws Failure.
  explicit MappedBuffer(GstBuffer *buffer);
  ~MappedBuffer();
  MappedBuffer(const MappedBuffer &) = delete;
  MappedBuffer &operator=(const MappedBuffer &) = delete;

  GstBuffer *get() const { return buffer_; }
  void *data() const { return map_.data; }
  gsize size() const { return map_.size; }
  /// No value for host memory.
  const std::optional<CudaLocation> &cuda() const { return cuda_; }
  /// Whether no other reference could observe writes to the data.
  bool is_exclusive() const;

 private:
  GstBuffer *buffer_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
  std::optional<CudaLocation> cuda_;
};

/// What the outermost dimension of a tensor counts.
enum class TensorSlots {
  as_described,  ///< by the metas of the buffer; none if there are none
  of_batch,      ///< the slots of a batch, or one
  of_frames      ///< the same, of which those behind the last frame are left out
};

}  // namespace cudatensor

struct _GstCudaTensor {
  /// Throws cudatensor::Failure.
  _GstCudaTensor(GstBuffer *buffer, GstCaps *caps,
                 cudatensor::TensorSlots slots = cudatensor::TensorSlots::as_described);

  std::atomic<int> references{1};
  const std::optional<GstCudaTensorGeometry> geometry;
  const cudatensor::BatchContents batch;
  const cudatensor::DenseLayout layout;
  const cudatensor::MappedBuffer buffer;
};
