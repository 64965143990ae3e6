/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description of a tensor. Included by gstcudatensor.h. */
#ifndef GST_CUDA_TENSOR_INFO_H
#define GST_CUDA_TENSOR_INFO_H

#include <gst/gst.h>

#include "gstcudatensorgeometry.h"

G_BEGIN_DECLS

/**
 * GstCudaTensorDataType:
 * @GST_CUDA_TENSOR_DATA_TYPE_FLOAT32: 32-bit floating point
 * @GST_CUDA_TENSOR_DATA_TYPE_FLOAT16: 16-bit floating point
 * @GST_CUDA_TENSOR_DATA_TYPE_UINT8: 8-bit unsigned integer
 * @GST_CUDA_TENSOR_DATA_TYPE_INT8: 8-bit signed integer
 * @GST_CUDA_TENSOR_DATA_TYPE_FLOAT64: 64-bit floating point
 * @GST_CUDA_TENSOR_DATA_TYPE_INT16: 16-bit signed integer
 * @GST_CUDA_TENSOR_DATA_TYPE_UINT16: 16-bit unsigned integer
 * @GST_CUDA_TENSOR_DATA_TYPE_INT32: 32-bit signed integer
 * @GST_CUDA_TENSOR_DATA_TYPE_UINT32: 32-bit unsigned integer
 * @GST_CUDA_TENSOR_DATA_TYPE_INT64: 64-bit signed integer
 * @GST_CUDA_TENSOR_DATA_TYPE_UINT64: 64-bit unsigned integer
 * @GST_CUDA_TENSOR_DATA_TYPE_BFLOAT16: the upper 16 bits of 32-bit floating point
 *
 * The element types, which are those of NNStreamer's caps.
 */
typedef enum {
  GST_CUDA_TENSOR_DATA_TYPE_FLOAT32,
  GST_CUDA_TENSOR_DATA_TYPE_FLOAT16,
  GST_CUDA_TENSOR_DATA_TYPE_UINT8,
  GST_CUDA_TENSOR_DATA_TYPE_INT8,
  GST_CUDA_TENSOR_DATA_TYPE_FLOAT64,
  GST_CUDA_TENSOR_DATA_TYPE_INT16,
  GST_CUDA_TENSOR_DATA_TYPE_UINT16,
  GST_CUDA_TENSOR_DATA_TYPE_INT32,
  GST_CUDA_TENSOR_DATA_TYPE_UINT32,
  GST_CUDA_TENSOR_DATA_TYPE_INT64,
  GST_CUDA_TENSOR_DATA_TYPE_UINT64,
  GST_CUDA_TENSOR_DATA_TYPE_BFLOAT16
} GstCudaTensorDataType;

/**
 * GstCudaTensorDeviceType:
 * @GST_CUDA_TENSOR_DEVICE_TYPE_CPU: host memory
 * @GST_CUDA_TENSOR_DEVICE_TYPE_CUDA: memory of a CUDA device
 *
 * The type of the device that holds the data. The values are those of DLPack's device types.
 */
typedef enum {
  GST_CUDA_TENSOR_DEVICE_TYPE_CPU = 1,
  GST_CUDA_TENSOR_DEVICE_TYPE_CUDA = 2
} GstCudaTensorDeviceType;

/**
 * GstCudaTensorInfo:
 * @data_type: the type of the elements
 * @n_dims: the number of dimensions
 * @shape: (array zero-terminated=1): the dimensions, outermost first, in elements, followed by a 0; owned
 *   by the tensor
 * @strides: (array zero-terminated=1): the strides, outermost first, in elements, followed by a 0; owned
 *   by the tensor
 * @size: the size of the data, in bytes
 * @device_type: the type of the device that holds the data
 * @device_id: the index of the CUDA device; 0 for the CPU
 * @n_slots: the number of slots in the batch; 0 if the buffer is not a batch
 * @left_out: the number of regions of the picture that got no slot
 * @has_geometry: whether @geometry is set
 * @geometry: the position of the picture in the tensor
 *
 * What is known of a tensor without its data.
 */
typedef struct {
  GstCudaTensorDataType data_type;
  guint n_dims;
  const gint64 *shape;
  const gint64 *strides;
  gsize size;
  GstCudaTensorDeviceType device_type;
  gint device_id;
  guint n_slots;
  guint left_out;
  gboolean has_geometry;
  GstCudaTensorGeometry geometry;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING_LARGE];
} GstCudaTensorInfo;

G_END_DECLS

#endif /* GST_CUDA_TENSOR_INFO_H */
