/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gstcudatensor
 * @title: GstCudaTensor
 * @short_description: zero-copy access to a pipeline's tensors for inference
 *
 * A #GstCudaTensor represents the tensor in a #GstBuffer with NNStreamer's `other/tensors` caps,
 * which cudanormalize, cudatensormux and cudapixelshuffle produce, in GPU or host memory. It holds
 * a reference to the buffer. Consumers access the data as a DLPack tensor, or through a pointer
 * between gst_cuda_tensor_acquire() and gst_cuda_tensor_release().
 *
 * The data is not copied and the CPU does not wait. The consumer passes the CUDA stream it works
 * on. That stream waits for the work that fills the tensor, and the next use of the memory waits
 * for the work that the consumer had queued when it released the tensor.
 *
 * All functions may be called from any thread, with or without a current CUDA context, which they
 * do not change. They must not be called from a CUDA stream callback. A #GstCudaTensor is
 * immutable, so threads may share one. Tensors may outlive the sample, the elements and the
 * pipeline, but not gst_deinit(). If memory has no stream of its own, a library thread may hold its
 * buffer until shortly after the consumer's work is complete. Programs with such tensors should not
 * call gst_deinit(), which is optional.
 *
 * Data is row-major and contiguous. Shapes and strides are in elements, outermost dimension first.
 * The caps do not contain the layout: a tensor of cudanormalize is N, C, H, W or N, H, W, C or, for
 * the frames of a clip, 1, C, T, H, W, depending on the element's property `layout`. It lacks the
 * outermost dimension if that is 1 and the caps leave it out.
 *
 * gst_cuda_tensor_histogram_parse() reads the messages that cudahistogram posts on the bus.
 */
#ifndef GST_CUDA_TENSOR_H
#define GST_CUDA_TENSOR_H

#include <gst/gst.h>

#include "gstcudatensorerrors.h"
#include "gstcudatensorframes.h"
#include "gstcudatensorgeometry.h"
#include "gstcudatensorhistogram.h"
#include "gstcudatensorinfo.h"

G_BEGIN_DECLS

/* ------------------------------------------------------------------------------------- tensors */

/**
 * GstCudaTensor:
 *
 * A tensor in a buffer. An opaque, reference-counted boxed type.
 */
typedef struct _GstCudaTensor GstCudaTensor;

/**
 * GST_TYPE_CUDA_TENSOR:
 *
 * The boxed type of #GstCudaTensor.
 */
#define GST_TYPE_CUDA_TENSOR (gst_cuda_tensor_get_type())
GST_CUDA_TENSOR_API GType gst_cuda_tensor_get_type(void);

/**
 * gst_cuda_tensor_new:
 * @buffer: a buffer with one memory
 * @caps: the buffer's caps, which must be fixed
 * @error: return location for a #GError, or %NULL
 *
 * Takes a reference to the buffer and maps its memory for reading until the tensor is freed.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL with %GST_CUDA_TENSOR_ERROR_CAPS,
 *   %GST_CUDA_TENSOR_ERROR_BUFFER or %GST_CUDA_TENSOR_ERROR_NO_CUDA
 */
GST_CUDA_TENSOR_API GstCudaTensor *gst_cuda_tensor_new(GstBuffer *buffer, GstCaps *caps,
                                                       GError **error);

/**
 * gst_cuda_tensor_new_from_sample:
 * @sample: a sample with a buffer and caps, for example from appsink
 * @error: return location for a #GError, or %NULL
 *
 * Holds a reference to the buffer, not to the sample.
 *
 * Returns: (transfer full) (nullable): as gst_cuda_tensor_new()
 */
GST_CUDA_TENSOR_API GstCudaTensor *gst_cuda_tensor_new_from_sample(GstSample *sample,
                                                                   GError **error);

/**
 * gst_cuda_tensor_ref:
 * @tensor: a tensor
 *
 * Returns: (transfer full): @tensor
 */
GST_CUDA_TENSOR_API GstCudaTensor *gst_cuda_tensor_ref(GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_unref:
 * @tensor: (transfer full): a tensor
 *
 * When the last reference is dropped, the buffer returns to its pool immediately. Work that still
 * uses the data must hold its own reference from gst_cuda_tensor_acquire().
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_unref(GstCudaTensor *tensor);

/* -------------------------------------------------------------------------- tensor information */

/**
 * gst_cuda_tensor_get_info:
 * @tensor: a tensor
 * @info: (out caller-allocates): what the functions below return one by one
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_get_info(const GstCudaTensor *tensor,
                                                  GstCudaTensorInfo *info);

/**
 * gst_cuda_tensor_get_data_type:
 * @tensor: a tensor
 *
 * Returns: the type of the elements
 */
GST_CUDA_TENSOR_API GstCudaTensorDataType
gst_cuda_tensor_get_data_type(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_data_type_get_size:
 * @type: a data type
 *
 * Returns: the size of an element, in bytes
 */
GST_CUDA_TENSOR_API gsize gst_cuda_tensor_data_type_get_size(GstCudaTensorDataType type);

/**
 * gst_cuda_tensor_data_type_get_name:
 * @type: a data type
 *
 * Returns: the type's name in caps, for example "float32"; NumPy uses the same names
 */
GST_CUDA_TENSOR_API const gchar *gst_cuda_tensor_data_type_get_name(GstCudaTensorDataType type);

/**
 * gst_cuda_tensor_get_n_dims:
 * @tensor: a tensor
 *
 * Returns: the number of dimensions
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_n_dims(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_shape:
 * @tensor: a tensor
 *
 * Gets the dimensions of the caps, in reverse order.
 *
 * Returns: (transfer none) (array zero-terminated=1): gst_cuda_tensor_get_n_dims() numbers,
 *   outermost first, in elements, followed by a 0
 */
GST_CUDA_TENSOR_API const gint64 *gst_cuda_tensor_get_shape(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_strides:
 * @tensor: a tensor
 *
 * Returns: (transfer none) (array zero-terminated=1): gst_cuda_tensor_get_n_dims() numbers,
 *   outermost first, in elements, followed by a 0
 */
GST_CUDA_TENSOR_API const gint64 *gst_cuda_tensor_get_strides(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_size:
 * @tensor: a tensor
 *
 * Returns: the size of the data, in bytes
 */
GST_CUDA_TENSOR_API gsize gst_cuda_tensor_get_size(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_data:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the address of the first element. If the tensor is in CUDA memory this
 * is a device address, to be used only between gst_cuda_tensor_acquire() and
 * gst_cuda_tensor_release()
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_data(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_device_type:
 * @tensor: a tensor
 *
 * Returns: the type of the device that holds the data
 */
GST_CUDA_TENSOR_API GstCudaTensorDeviceType
gst_cuda_tensor_get_device_type(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_device_id:
 * @tensor: a tensor
 *
 * Returns: the index of the CUDA device; 0 for the CPU
 */
GST_CUDA_TENSOR_API gint gst_cuda_tensor_get_device_id(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_context:
 * @tensor: a tensor
 *
 * Returns: (transfer none) (nullable): the CUcontext of the data; %NULL for the CPU
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_context(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_stream:
 * @tensor: a tensor
 *
 * Returns: (transfer none) (nullable): the CUstream that fills the tensor; %NULL if the tensor is
 * already complete, which is the case on the CPU and before GStreamer 1.24
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_stream(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_is_read_only:
 * @tensor: a tensor
 *
 * Checks whether the data must not be modified, because there is another reference to the tensor,
 * its buffer (for example in a sample) or its memory, or because the memory is read-only. While
 * this is %FALSE, the holder of the only reference may write.
 *
 * Returns: whether the data is read-only
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_is_read_only(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_buffer:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the buffer, which has the timestamps and metas
 */
GST_CUDA_TENSOR_API GstBuffer *gst_cuda_tensor_get_buffer(const GstCudaTensor *tensor);

/* ------------------------------------------------------------------------------------ geometry */

/**
 * gst_cuda_tensor_get_geometry:
 * @tensor: a tensor
 * @geometry: (out caller-allocates): the position of the picture in the tensor
 *
 * Returns: %TRUE, or %FALSE if the buffer carries no geometry. In a batch, each slot has its own
 * geometry.
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_get_geometry(const GstCudaTensor *tensor,
                                                          GstCudaTensorGeometry *geometry);

/**
 * gst_cuda_tensor_get_n_slots:
 * @tensor: a tensor
 *
 * Returns: the number of slots in the batch; 0 if the buffer is not a batch
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_n_slots(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_slot:
 * @tensor: a tensor
 * @index: the slot's index in the outermost dimension, from 0
 * @slot: (out caller-allocates): the contents of the slot
 *
 * Returns: %TRUE, or %FALSE if there is no such slot
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_get_slot(const GstCudaTensor *tensor, guint index,
                                                      GstCudaTensorSlot *slot);

/**
 * gst_cuda_tensor_get_slot_times:
 * @tensor: a tensor
 * @count: the length of the arrays
 * @pts: (out caller-allocates) (array length=count): the timestamps of the pictures in the first
 *   @count slots, in ns; -1 if a slot holds no picture, or its timestamp is unknown
 * @pad_indices: (out caller-allocates) (array length=count): the numbers of their sink pads, 0 if
 *   there is only one; -1 if a slot holds no picture
 *
 * Returns: the number of slots that were written
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_slot_times(const GstCudaTensor *tensor, guint count,
                                                         gint64 *pts, gint *pad_indices);

/**
 * gst_cuda_tensor_get_left_out:
 * @tensor: a tensor
 *
 * Returns: the number of regions of the picture that got no slot; 0 if the buffer is
 * not a batch
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_left_out(const GstCudaTensor *tensor);

/* ------------------------------------------------------------------------------------ interop */

/**
 * GST_CUDA_TENSOR_NO_STREAM:
 *
 * Passed instead of a stream to disable synchronization. The consumer must ensure that the tensor
 * is complete before it is read, and release it only when all work on it is complete. DLPack uses
 * the same value, -1.
 */
#ifdef __GI_SCANNER__ /* introspection has no constants of pointer type */
#define GST_CUDA_TENSOR_NO_STREAM -1
#else
#define GST_CUDA_TENSOR_NO_STREAM ((gpointer) ~(guintptr)0)
#endif

/**
 * GstCudaTensorAcquireFlags:
 * @GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE: no flags
 * @GST_CUDA_TENSOR_ACQUIRE_FLAG_ANY_CONTEXT: the consumer works in gst_cuda_tensor_get_context(), even if
 * that is not the device's primary context. Without this flag, data outside the primary context is
 * rejected, because its address is not valid in PyTorch, CuPy, TensorRT and other software built on
 * the CUDA runtime.
 * @GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM: the consumer's stream may be destroyed before the
 * DLPack tensor is released, for example if a garbage collector manages both. The next use of the
 * memory then waits for all work queued on any stream of the context at the time of release. The
 * flag has no effect on gst_cuda_tensor_acquire().
 */
typedef enum {
  GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE = 0,
  GST_CUDA_TENSOR_ACQUIRE_FLAG_ANY_CONTEXT = 1 << 0,
  GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM = 1 << 1
} GstCudaTensorAcquireFlags;

/**
 * gst_cuda_tensor_acquire:
 * @tensor: a tensor
 * @flags: #GstCudaTensorAcquireFlags
 * @stream: (nullable): the consumer's CUstream or cudaStream_t, where %NULL is the legacy default
 *   stream, or %GST_CUDA_TENSOR_NO_STREAM; ignored for tensors on the CPU
 * @error: return location for a #GError, or %NULL
 *
 * Takes a reference for work on @stream and makes work queued there from now on wait for the work
 * that fills the tensor. Drop the reference with gst_cuda_tensor_release().
 *
 * Returns: %TRUE, or %FALSE with %GST_CUDA_TENSOR_ERROR_CONTEXT or %GST_CUDA_TENSOR_ERROR_CUDA, and
 *   no reference taken
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_acquire(GstCudaTensor *tensor,
                                                     GstCudaTensorAcquireFlags flags,
                                                     gpointer stream, GError **error);

/**
 * gst_cuda_tensor_release:
 * @tensor: (transfer full): a tensor that was acquired
 * @stream: the stream that it was acquired for, which must still exist
 *
 * Drops the reference taken by gst_cuda_tensor_acquire(). The next use of the memory waits for all
 * work queued on @stream so far. If @stream is the per-thread default stream, which differs between
 * threads, it waits for the work of all streams of the context. If the memory has no stream of its
 * own, the library holds the buffer until that work is complete; the caller does not wait.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_release(GstCudaTensor *tensor, gpointer stream);

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * gst_cuda_tensor_to_dlpack: (skip)
 * @tensor: a tensor
 * @flags: #GstCudaTensorAcquireFlags
 * @stream: (nullable): as in gst_cuda_tensor_acquire()
 * @error: return location for a #GError, or %NULL
 *
 * Exports the tensor for consumers of DLPack before 1.0, which has no read-only flag. The consumer
 * must not write to the data unless gst_cuda_tensor_is_read_only() was %FALSE before the call.
 *
 * The export holds a reference like that of gst_cuda_tensor_acquire() until its `deleter` is
 * called, which may happen on any thread. @stream must exist until then, unless
 * %GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM is set.
 *
 * Returns: (transfer full) (nullable): the DLPack tensor, or %NULL with one of the errors of
 * gst_cuda_tensor_acquire()
 */
GST_CUDA_TENSOR_API struct DLManagedTensor *gst_cuda_tensor_to_dlpack(
    GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags, gpointer stream, GError **error);

/**
 * gst_cuda_tensor_to_dlpack_versioned: (skip)
 * @tensor: a tensor
 * @flags: #GstCudaTensorAcquireFlags
 * @stream: (nullable): as in gst_cuda_tensor_acquire()
 * @error: return location for a #GError, or %NULL
 *
 * Exports the tensor like gst_cuda_tensor_to_dlpack(), for consumers of DLPack 1.0. The read-only
 * flag is set if gst_cuda_tensor_is_read_only() is %TRUE at the time of the call.
 *
 * Returns: (transfer full) (nullable): as gst_cuda_tensor_to_dlpack()
 */
GST_CUDA_TENSOR_API struct DLManagedTensorVersioned *gst_cuda_tensor_to_dlpack_versioned(
    GstCudaTensor *tensor, GstCudaTensorAcquireFlags flags, gpointer stream, GError **error);

/**
 * gst_cuda_tensor_share_primary_context:
 * @element: a pipeline, bin or element that has not started
 * @device_id: the index of the CUDA device, from 0
 * @error: return location for a #GError, or %NULL
 *
 * Makes all elements in @element, including those added later, use the device's primary context,
 * which the consumer's CUDA runtime also uses. Otherwise GStreamer's elements create their own
 * context. Elements that use another device are not affected. A bin holds only one context, so use
 * a separate bin for each device.
 *
 * Returns: %TRUE, or %FALSE with %GST_CUDA_TENSOR_ERROR_NO_CUDA, %GST_CUDA_TENSOR_ERROR_STATE or
 *   %GST_CUDA_TENSOR_ERROR_CUDA
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_share_primary_context(GstElement *element,
                                                                   gint device_id, GError **error);

/**
 * gst_cuda_tensor_prefer_gpu_decoders:
 * @decodebin: a `decodebin` or `uridecodebin` that has not started
 * @device_id: the index of the CUDA device, from 0
 *
 * Makes @decodebin try the decoders of this GPU before all others. By their ranks, some releases of
 * GStreamer prefer decoders in software. Formats that the GPU does not decode are not affected.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_prefer_gpu_decoders(GstElement *decodebin, gint device_id);

/* -------------------------------------------------------------- for the Python package, private */

#ifndef __GI_SCANNER__
/* Functions of the CPython API, declared without CPython's header. */
typedef struct {
  int (*capsule_is_valid)(gpointer capsule, const char *name);
  gpointer (*capsule_get_pointer)(gpointer capsule, const char *name);
  void (*error_fetch)(gpointer *type, gpointer *value, gpointer *traceback);
  void (*error_restore)(gpointer type, gpointer value, gpointer traceback);
  gpointer (*save_thread)(void);
  void (*restore_thread)(gpointer thread);
} GstCudaTensorPythonApi;

typedef void (*GstCudaTensorPythonDestructor)(gpointer capsule);

/* Returns the PyCapsule_Destructor of a tensor's DLPack capsules. It uses the functions of @api, so
 * that the library need not be linked with an interpreter. Only the Python package of the same
 * version may call this function. */
GST_CUDA_TENSOR_API GstCudaTensorPythonDestructor
gst_cuda_tensor_python_capsule_destructor(const GstCudaTensorPythonApi *api);

/* Returns how many buffers have left the elements in @bin, modulo 2^32, since the first call, which
 * returns 0. A number that stays the same shows that the bin does nothing, or hangs. Calls for a bin
 * must not overlap. */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_count_buffers(GstElement *bin);
/* The same for the pipelines of @frames. Must not be called after gst_cuda_tensor_frames_close(). */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_frames_count_buffers(GstCudaTensorFrames *frames);
#endif

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaTensor, gst_cuda_tensor_unref)

G_END_DECLS

#endif /* GST_CUDA_TENSOR_H */
