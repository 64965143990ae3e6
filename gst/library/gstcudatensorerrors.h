/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain of all functions in gstcudatensor.h: include that header. */
#ifndef GST_CUDA_TENSOR_ERRORS_H
#define GST_CUDA_TENSOR_ERRORS_H

#include <gst/gst.h>

G_BEGIN_DECLS

#ifdef BUILDING_GST_CUDA_TENSOR
#define GST_CUDA_TENSOR_API GST_API_EXPORT
#else
#define GST_CUDA_TENSOR_API GST_API_IMPORT
#endif

/**
 * GST_CUDA_TENSOR_ERROR:
 *
 * The error domain of all functions in this library. The messages name the cause.
 */
#define GST_CUDA_TENSOR_ERROR (gst_cuda_tensor_error_quark())

/**
 * gst_cuda_tensor_error_quark:
 *
 * Returns: the error domain as a #GQuark; C programs use %GST_CUDA_TENSOR_ERROR
 */
GST_CUDA_TENSOR_API GQuark gst_cuda_tensor_error_quark(void);

/**
 * GstCudaTensorError:
 * @GST_CUDA_TENSOR_ERROR_CAPS: the caps do not describe one static tensor of a known type
 * @GST_CUDA_TENSOR_ERROR_BUFFER: the buffer does not have exactly one memory of the size that the
 * caps describe, or the memory cannot be mapped
 * @GST_CUDA_TENSOR_ERROR_NO_CUDA: the library was built without CUDA, or there is no driver, device
 * or libgstcuda
 * @GST_CUDA_TENSOR_ERROR_CONTEXT: the memory belongs to a CUDA context that the consumer does not
 * use
 * @GST_CUDA_TENSOR_ERROR_STATE: the element has started
 * @GST_CUDA_TENSOR_ERROR_CUDA: a CUDA call failed
 * @GST_CUDA_TENSOR_ERROR_MESSAGE: the message is not one of cudahistogram, or a field is missing or
 *   has another type. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_SETTINGS: an option or property is wrong. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_NOT_FOUND: there is no such file, camera or stream. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_SOURCE: a file, camera or stream cannot be opened or read. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_FORMAT: the data is broken or not a video. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_DECODER: there is no decoder, or another plugin of GStreamer is missing.
 *   Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_TIMEOUT: nothing has come within the timeout. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_CLOSED: the frames were closed. Since: 0.1
 * @GST_CUDA_TENSOR_ERROR_NO_FRAMES: no frame lies between the requested start and stop.
 *   Since: 0.1
 */
typedef enum {
  GST_CUDA_TENSOR_ERROR_CAPS,
  GST_CUDA_TENSOR_ERROR_BUFFER,
  GST_CUDA_TENSOR_ERROR_NO_CUDA,
  GST_CUDA_TENSOR_ERROR_CONTEXT,
  GST_CUDA_TENSOR_ERROR_STATE,
  GST_CUDA_TENSOR_ERROR_CUDA,
  GST_CUDA_TENSOR_ERROR_MESSAGE,
  GST_CUDA_TENSOR_ERROR_SETTINGS,
  GST_CUDA_TENSOR_ERROR_NOT_FOUND,
  GST_CUDA_TENSOR_ERROR_SOURCE,
  GST_CUDA_TENSOR_ERROR_FORMAT,
  GST_CUDA_TENSOR_ERROR_DECODER,
  GST_CUDA_TENSOR_ERROR_TIMEOUT,
  GST_CUDA_TENSOR_ERROR_CLOSED,
  GST_CUDA_TENSOR_ERROR_NO_FRAMES
} GstCudaTensorError;

G_END_DECLS

#endif /* GST_CUDA_TENSOR_ERRORS_H */
