/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gstcudatensor
 * @title: GstCudaTensor
 * @short_description: tensors of a pipeline for inference, without a copy
 *
 * A #GstCudaTensor is the tensor in a #GstBuffer whose caps are NNStreamer's `other/tensors`, as
 * cudanormalize, cudatensormux and cudapixelshuffle make them, in memory of the GPU or the host. It
 * holds the buffer, and is handed to a consumer as a DLPack tensor, or as a pointer between
 * gst_cuda_tensor_acquire() and gst_cuda_tensor_release().
 *
 * Nothing is copied, and nobody waits on the CPU: the consumer names the CUDA stream that it works
 * on, that stream waits for the work that fills the tensor, and whatever the pool does with the
 * memory afterwards waits for the work that the consumer had queued when it let go.
 *
 * All functions may be called from any thread, with or without a current CUDA context, which they
 * leave as it is, but not from a callback that CUDA runs in a stream. A #GstCudaTensor does not
 * change, so threads may share one. Tensors may outlive the sample, the elements and the pipeline,
 * not gst_deinit(). Where memory has no stream of its own, a thread of the library may hold its
 * buffer until a little after the consumer's work on it is done: such a program does best without
 * gst_deinit(), which none has to call.
 *
 * Data is row-major and has no gaps. Shapes and strides are in elements, outermost dimension first.
 * The caps name no layout: a tensor of cudanormalize is N, C, H, W or N, H, W, C, as its property
 * `layout` says, and without the N where the caps have three dimensions.
 */
#ifndef GST_CUDA_TENSOR_H
#define GST_CUDA_TENSOR_H

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
 * The domain of the errors of all functions here. Messages name the cause.
 */
#define GST_CUDA_TENSOR_ERROR (gst_cuda_tensor_error_quark())
GST_CUDA_TENSOR_API GQuark gst_cuda_tensor_error_quark(void);

/**
 * GstCudaTensorError:
 * @GST_CUDA_TENSOR_ERROR_CAPS: the caps do not describe one static tensor of a known type
 * @GST_CUDA_TENSOR_ERROR_BUFFER: the buffer has not one memory of exactly the caps' bytes, or that
 *   cannot be mapped
 * @GST_CUDA_TENSOR_ERROR_NO_CUDA: this build has no CUDA, or there is no driver, device or libgstcuda
 * @GST_CUDA_TENSOR_ERROR_CONTEXT: the memory is in a CUDA context that the consumer does not work in
 * @GST_CUDA_TENSOR_ERROR_STATE: the element has started
 * @GST_CUDA_TENSOR_ERROR_CUDA: a call to CUDA failed
 */
typedef enum {
  GST_CUDA_TENSOR_ERROR_CAPS,
  GST_CUDA_TENSOR_ERROR_BUFFER,
  GST_CUDA_TENSOR_ERROR_NO_CUDA,
  GST_CUDA_TENSOR_ERROR_CONTEXT,
  GST_CUDA_TENSOR_ERROR_STATE,
  GST_CUDA_TENSOR_ERROR_CUDA
} GstCudaTensorError;

/* ------------------------------------------------------------------------------------- tensors */

/**
 * GstCudaTensor:
 *
 * A tensor in a buffer. Opaque, counted, a boxed type.
 */
typedef struct _GstCudaTensor GstCudaTensor;

#define GST_TYPE_CUDA_TENSOR (gst_cuda_tensor_get_type())
GST_CUDA_TENSOR_API GType gst_cuda_tensor_get_type(void);

/**
 * GstCudaTensorDataType:
 *
 * The type of an element; those of NNStreamer's caps.
 */
typedef enum {
  GST_CUDA_TENSOR_FLOAT32,
  GST_CUDA_TENSOR_FLOAT16,
  GST_CUDA_TENSOR_UINT8,
  GST_CUDA_TENSOR_INT8,
  GST_CUDA_TENSOR_FLOAT64,
  GST_CUDA_TENSOR_INT16,
  GST_CUDA_TENSOR_UINT16,
  GST_CUDA_TENSOR_INT32,
  GST_CUDA_TENSOR_UINT32,
  GST_CUDA_TENSOR_INT64,
  GST_CUDA_TENSOR_UINT64
} GstCudaTensorDataType;

/**
 * GstCudaTensorDevice:
 * @GST_CUDA_TENSOR_CPU: memory of the host
 * @GST_CUDA_TENSOR_CUDA: memory of a CUDA device
 *
 * Where the data is; the numbers are those of DLPack's device types.
 */
typedef enum { GST_CUDA_TENSOR_CPU = 1, GST_CUDA_TENSOR_CUDA = 2 } GstCudaTensorDevice;

/**
 * gst_cuda_tensor_new:
 * @buffer: a buffer with one memory
 * @caps: its caps, fixed
 * @error: where an error goes, or %NULL
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
 * @sample: a sample with buffer and caps, as appsink gives it
 * @error: where an error goes, or %NULL
 *
 * Of the sample only the buffer is held.
 *
 * Returns: (transfer full) (nullable): as gst_cuda_tensor_new()
 */
GST_CUDA_TENSOR_API GstCudaTensor *gst_cuda_tensor_new_from_sample(GstSample *sample,
                                                                   GError **error);

/**
 * gst_cuda_tensor_ref:
 *
 * Returns: (transfer full): @tensor
 */
GST_CUDA_TENSOR_API GstCudaTensor *gst_cuda_tensor_ref(GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_unref:
 * @tensor: (transfer full): a tensor
 *
 * With the last reference the buffer goes back to its pool, at once: work that still uses the data
 * needs a gst_cuda_tensor_acquire() of its own.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_unref(GstCudaTensor *tensor);

/* -------------------------------------------------------------------------- what a tensor says */

GST_CUDA_TENSOR_API GstCudaTensorDataType
gst_cuda_tensor_get_data_type(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_data_type_get_size:
 *
 * Returns: the bytes of an element
 */
GST_CUDA_TENSOR_API gsize gst_cuda_tensor_data_type_get_size(GstCudaTensorDataType type);

/**
 * gst_cuda_tensor_data_type_get_name:
 *
 * Returns: the name in caps, as "float32", which is also NumPy's
 */
GST_CUDA_TENSOR_API const gchar *gst_cuda_tensor_data_type_get_name(GstCudaTensorDataType type);

GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_n_dims(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_shape:
 *
 * The numbers of the caps' `dimensions` in reverse order, as many as there are.
 *
 * Returns: (transfer none): n_dims numbers, outermost first, in elements
 */
GST_CUDA_TENSOR_API const gint64 *gst_cuda_tensor_get_shape(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_strides:
 *
 * Returns: (transfer none): n_dims numbers, outermost first, in elements
 */
GST_CUDA_TENSOR_API const gint64 *gst_cuda_tensor_get_strides(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_size:
 *
 * Returns: the bytes of all elements
 */
GST_CUDA_TENSOR_API gsize gst_cuda_tensor_get_size(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_data:
 *
 * Returns: (transfer none): the address of the first element, on the device where the tensor is
 *   there: then to be used between gst_cuda_tensor_acquire() and gst_cuda_tensor_release()
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_data(const GstCudaTensor *tensor);

GST_CUDA_TENSOR_API GstCudaTensorDevice gst_cuda_tensor_get_device(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_device_id:
 *
 * Returns: the number of the CUDA device; 0 for the CPU
 */
GST_CUDA_TENSOR_API gint gst_cuda_tensor_get_device_id(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_context:
 *
 * Returns: (transfer none) (nullable): the CUcontext that the data is in; %NULL for the CPU
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_context(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_stream:
 *
 * Returns: (transfer none) (nullable): the CUstream that fills the tensor; %NULL where it is complete
 *   already: on the CPU, and before GStreamer 1.24
 */
GST_CUDA_TENSOR_API gpointer gst_cuda_tensor_get_stream(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_is_read_only:
 *
 * Whether others may see what is written to the data: another reference to the tensor, its buffer
 * (as a sample has one) or memory exists, or the memory is read-only. While it is %FALSE, the one
 * who holds the only reference may write.
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_is_read_only(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_buffer:
 *
 * Returns: (transfer none): the buffer, for its times and metas
 */
GST_CUDA_TENSOR_API GstBuffer *gst_cuda_tensor_get_buffer(const GstCudaTensor *tensor);

/* ------------------------------------------------------------------------------------ geometry */

/**
 * GstCudaTensorGeometry:
 * @matrix: row-major 2×3, from the source picture to the tensor, in continuous pixel coordinates
 * @inverse: the way back
 * @src_width: of the source picture, in pixels
 * @src_height: likewise
 * @dst_width: of the picture in the tensor, in pixels
 * @dst_height: likewise
 * @pad_left: where the content begins, in pixels of the tensor
 * @pad_top: likewise
 * @content_width: what the content covers, in pixels of the tensor
 * @content_height: likewise
 *
 * How a picture lies in its tensor: what GstCudaTensorGeometryMeta says.
 */
typedef struct {
  gdouble matrix[6];
  gdouble inverse[6];
  gint src_width, src_height;
  gint dst_width, dst_height;
  gint pad_left, pad_top;
  gint content_width, content_height;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstCudaTensorGeometry;

/**
 * GstCudaTensorSlot:
 * @valid: there is a picture; all that follows but @pad_index and @stream_id is only set where it is
 * @pad_index: the number of the sink pad, -1 = none
 * @stream_id: (nullable): of its stream; owned by the tensor, as all strings here
 * @pts: of the picture, ns; %GST_CLOCK_TIME_NONE where it is not known, as the next two
 * @duration: of the picture, ns
 * @running_time: of the picture, ns
 * @has_geometry: whether @geometry is set
 * @geometry: how the picture lies in the slot, as if that were a tensor of its own
 * @has_region: the slot holds a region of a picture, and @region is set
 * @region: x, y, width and height, in pixels of the element's input
 * @has_interest: a #GstVideoRegionOfInterestMeta asked for the region, and the next three are set
 * @roi_type: (nullable): what kind of region
 * @roi_id: the region's number
 * @parent_id: the number of the region that it is a part of, as the meta says
 *
 * A picture of a batch: what a slot of GstCudaTensorBatchMeta says.
 */
typedef struct {
  gboolean valid;
  gint pad_index;
  const gchar *stream_id;
  GstClockTime pts, duration, running_time;
  gboolean has_geometry;
  GstCudaTensorGeometry geometry;
  gboolean has_region;
  gdouble region[4];
  gboolean has_interest;
  const gchar *roi_type;
  gint roi_id, parent_id;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING_LARGE];
} GstCudaTensorSlot;

/**
 * gst_cuda_tensor_get_geometry:
 * @geometry: (out): how the picture lies in the tensor
 *
 * Returns: %FALSE where the buffer carries no geometry. Batches have one in each slot.
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_get_geometry(const GstCudaTensor *tensor,
                                                          GstCudaTensorGeometry *geometry);

/**
 * gst_cuda_tensor_get_n_slots:
 *
 * Returns: the slots that the buffer describes; 0 where it is no batch
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_n_slots(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_get_slot:
 * @index: from 0, in the order of the outermost dimension
 * @slot: (out): what lies there
 *
 * Returns: %FALSE where there is no such slot
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_get_slot(const GstCudaTensor *tensor, guint index,
                                                      GstCudaTensorSlot *slot);

/**
 * gst_cuda_tensor_get_left_out:
 *
 * Returns: for how many regions of the picture there was no slot; 0 where the buffer is no batch
 */
GST_CUDA_TENSOR_API guint gst_cuda_tensor_get_left_out(const GstCudaTensor *tensor);

/**
 * gst_cuda_tensor_geometry_map_box:
 * @geometry: of a tensor or a slot
 * @box: x0, y0, x1, y1 in pixels of the tensor
 * @source_box: (out): the same in pixels of the source picture; may be @box
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_geometry_map_box(const GstCudaTensorGeometry *geometry,
                                                          const gdouble box[4],
                                                          gdouble source_box[4]);

/* ------------------------------------------------------------------------------------ hand-over */

/**
 * GST_CUDA_TENSOR_NO_STREAM:
 *
 * In place of a stream: no order is kept. The consumer has seen to it that the tensor is complete,
 * and lets go when nothing uses it any more. The numbers are DLPack's, where this is -1.
 */
#define GST_CUDA_TENSOR_NO_STREAM ((gpointer) ~(guintptr)0)

/**
 * GstCudaTensorFlags:
 * @GST_CUDA_TENSOR_FLAG_NONE: nothing special
 * @GST_CUDA_TENSOR_FLAG_ANY_CONTEXT: the consumer works in gst_cuda_tensor_get_context(), whichever
 *   that is. Without it, data in another context than the device's primary one is refused: for
 *   PyTorch, CuPy, TensorRT and all that is built on the CUDA runtime its address means nothing.
 * @GST_CUDA_TENSOR_FLAG_STREAM_MAY_GO: the consumer's stream may have been destroyed when a DLPack
 *   tensor is let go, as where a garbage collector sees to both. Whoever gets the memory next then
 *   writes to it after all that any stream of the context has queued until that moment. It has no
 *   effect on gst_cuda_tensor_acquire().
 */
typedef enum {
  GST_CUDA_TENSOR_FLAG_NONE = 0,
  GST_CUDA_TENSOR_FLAG_ANY_CONTEXT = 1 << 0,
  GST_CUDA_TENSOR_FLAG_STREAM_MAY_GO = 1 << 1
} GstCudaTensorFlags;

/**
 * gst_cuda_tensor_acquire:
 * @flags: #GstCudaTensorFlags
 * @stream: (nullable): the consumer's CUstream or cudaStream_t, where %NULL is the legacy default
 *   stream, or %GST_CUDA_TENSOR_NO_STREAM; without meaning for tensors on the CPU
 * @error: where an error goes, or %NULL
 *
 * Takes a reference for work on @stream: what is queued there from now on comes after what fills
 * the tensor. The reference ends with gst_cuda_tensor_release().
 *
 * Returns: %TRUE, or %FALSE with %GST_CUDA_TENSOR_ERROR_CONTEXT or %GST_CUDA_TENSOR_ERROR_CUDA, and
 *   no reference taken
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_acquire(GstCudaTensor *tensor,
                                                     GstCudaTensorFlags flags, gpointer stream,
                                                     GError **error);

/**
 * gst_cuda_tensor_release:
 * @tensor: (transfer full): a tensor that was acquired
 * @stream: the stream that it was acquired for, which must still exist
 *
 * Gives up the reference of gst_cuda_tensor_acquire(): whoever gets the memory next writes to it
 * after all that @stream has queued until now, or for the per-thread default stream, which is
 * another one on another thread, after all that any stream of the context has. Where the memory has
 * no stream of its own, the buffer is kept, not the caller, until that is done.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_release(GstCudaTensor *tensor, gpointer stream);

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * gst_cuda_tensor_to_dlpack:
 * @flags: #GstCudaTensorFlags
 * @stream: (nullable): as in gst_cuda_tensor_acquire()
 * @error: where an error goes, or %NULL
 *
 * The tensor for a consumer of DLPack before 1.0. That form cannot say that data is read-only: the
 * consumer must not write, unless gst_cuda_tensor_is_read_only() was %FALSE before.
 *
 * It holds the tensor as gst_cuda_tensor_acquire() does, until its `deleter` is called, which may be
 * done on any thread. @stream must exist until then, unless %GST_CUDA_TENSOR_FLAG_STREAM_MAY_GO is
 * set.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL with an error of
 *   gst_cuda_tensor_acquire()
 */
GST_CUDA_TENSOR_API struct DLManagedTensor *gst_cuda_tensor_to_dlpack(GstCudaTensor *tensor,
                                                                      GstCudaTensorFlags flags,
                                                                      gpointer stream,
                                                                      GError **error);

/**
 * gst_cuda_tensor_to_dlpack_versioned:
 *
 * The same in the form of DLPack 1.0, with its read-only flag set where
 * gst_cuda_tensor_is_read_only() is %TRUE now.
 *
 * Returns: (transfer full) (nullable): as gst_cuda_tensor_to_dlpack()
 */
GST_CUDA_TENSOR_API struct DLManagedTensorVersioned *gst_cuda_tensor_to_dlpack_versioned(
    GstCudaTensor *tensor, GstCudaTensorFlags flags, gpointer stream, GError **error);

/**
 * gst_cuda_tensor_share_primary_context:
 * @element: a pipeline, bin or element that has not started
 * @device_id: the number of the CUDA device, from 0
 * @error: where an error goes, or %NULL
 *
 * Makes the elements, also those that are added later, work in the device's primary context, which
 * the consumer's CUDA runtime works in too. Without it GStreamer's elements make a context of their
 * own. Elements that are on another device are not touched; a bin keeps one context: elements of
 * several devices are best put into a bin for each.
 *
 * Returns: %TRUE, or %FALSE with %GST_CUDA_TENSOR_ERROR_NO_CUDA, %GST_CUDA_TENSOR_ERROR_STATE or
 *   %GST_CUDA_TENSOR_ERROR_CUDA
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_share_primary_context(GstElement *element,
                                                                   gint device_id, GError **error);

/* -------------------------------------------------------------- for the Python package, private */

/*< private >*/
/* CPython's functions, in the types that they have without its header. */
typedef struct {
  int (*capsule_is_valid)(gpointer capsule, const char *name);
  gpointer (*capsule_get_pointer)(gpointer capsule, const char *name);
  void (*error_fetch)(gpointer *type, gpointer *value, gpointer *traceback);
  void (*error_restore)(gpointer type, gpointer value, gpointer traceback);
  gpointer (*save_thread)(void);
  void (*restore_thread)(gpointer thread);
} GstCudaTensorPythonApi;

typedef void (*GstCudaTensorPythonDestructor)(gpointer capsule);

/* The PyCapsule_Destructor of a tensor's capsules. It calls what it is given here, so that the
 * library is not linked to an interpreter. Only the package of the same version may use it. */
GST_CUDA_TENSOR_API GstCudaTensorPythonDestructor
gst_cuda_tensor_python_capsule_destructor(const GstCudaTensorPythonApi *api);
/*< public >*/

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaTensor, gst_cuda_tensor_unref)

G_END_DECLS

#endif /* GST_CUDA_TENSOR_H */
