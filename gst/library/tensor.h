// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "gst/library/cudaorder.h"
#include "gst/library/datatype.h"
#include "gst/library/slots.h"

namespace cudatensor {

/// What caps say of a tensor.
struct DenseLayout {
  const DataType *type;
  std::vector<gint64> shape, strides;  ///< outermost first, in elements
  gsize size;                          ///< bytes
};

/// A buffer with one memory, mapped for reading while this lives: on the device where it is there.
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
  /// Nothing for memory of the host.
  const std::optional<CudaPlace> &cuda() const { return cuda_; }
  /// Whether nobody else sees what is written to it.
  bool is_exclusive() const;

 private:
  GstBuffer *buffer_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
  std::optional<CudaPlace> cuda_;
};

}  // namespace cudatensor

struct _GstCudaTensor {
  /// Throws cudatensor::Failure.
  _GstCudaTensor(GstBuffer *buffer, GstCaps *caps);

  std::atomic<int> references{1};
  const cudatensor::DenseLayout layout;
  const cudatensor::MappedBuffer buffer;
  const std::optional<GstCudaTensorGeometry> geometry;
  const cudatensor::BatchContents batch;
};
