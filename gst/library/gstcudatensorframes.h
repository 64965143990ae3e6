/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors of video files, cameras and streams. Included by gstcudatensor.h. */
#ifndef GST_CUDA_TENSOR_FRAMES_H
#define GST_CUDA_TENSOR_FRAMES_H

#include <gst/gst.h>

#include "gstcudatensorerrors.h"

G_BEGIN_DECLS

/**
 * SECTION:gstcudatensorframes
 * @title: GstCudaTensorFrames
 * @short_description: the frames of videos as tensors
 *
 * A #GstCudaTensorFrames opens video files, streams or cameras and returns their frames as tensors,
 * one batch after another. It builds a pipeline of its own, with cudanormalize for one source and
 * cudatensormux for several. It makes at most two batches ahead.
 *
 * Pictures that are not stored upright, as phones record them, are turned. The geometry of a tensor
 * maps to the stored picture, and turns with it.
 *
 * The choice of frames depends only on their timestamps, not on the decoder. Groups of pictures
 * without a wanted frame are not decoded.
 *
 * Functions may be called from any thread. gst_init() is called if the program has not done so.
 */

/**
 * GstCudaTensorFrames:
 *
 * The frames of one or more videos. An opaque, reference-counted boxed type.
 */
typedef struct _GstCudaTensorFrames GstCudaTensorFrames;

/**
 * GST_TYPE_CUDA_TENSOR_FRAMES:
 *
 * The boxed type of #GstCudaTensorFrames.
 */
#define GST_TYPE_CUDA_TENSOR_FRAMES (gst_cuda_tensor_frames_get_type())
GST_CUDA_TENSOR_API GType gst_cuda_tensor_frames_get_type(void);

/**
 * GstCudaTensorFramesOptions:
 * @batch: frames per tensor for one source; 0 = 1. Must be 0 or 1 for several sources: a tensor
 * then has one frame of each
 * @every: seconds; select the frames that are shown at each multiple of it from the start; 0 = all
 * frames
 * @every_frames: select every n-th frame; 0 = all frames
 * @keyframes: whether to select key frames only
 * @count: number of frames to select, spread evenly from the first to the last one, or all if there
 * are fewer; 0 = all frames. Only for files
 * @has_start: whether @start is set
 * @start: seconds; the first frame is the one that is shown at this time
 * @has_stop: whether @stop is set
 * @stop: seconds; frames from this time on are not returned
 * @block: whether live sources wait for the consumer; otherwise frames that come too fast are
 * dropped, the oldest first
 * @device: (nullable): "auto" or %NULL, "cpu", "cuda", or "cuda:" and a number
 * @video_direction: (nullable): how pictures are turned or flipped: "auto" or %NULL, as the source
 *   says, or a value of #GstVideoOrientationMethod: "identity", "90r", "180", "90l", "horiz",
 *   "vert", "ul-lr" or "ur-ll"
 *
 * The choice of frames, and the device of the tensors. Zero is the default of all fields. At most
 * one of @every, @every_frames, @keyframes and @count may be set.
 */
typedef struct {
  guint batch;
  gdouble every;
  guint64 every_frames;
  gboolean keyframes;
  guint64 count;
  gboolean has_start;
  gdouble start;
  gboolean has_stop;
  gdouble stop;
  gboolean block;
  const gchar *device;
  const gchar *video_direction;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING_LARGE - 1];
} GstCudaTensorFramesOptions;

/**
 * GstCudaTensorFramesInfo:
 * @width: width of the source's frames in pixels, as they are seen, after @video_direction
 * @height: height of the source's frames in pixels, as they are seen
 * @frame_rate_n: numerator of the frame rate; 0 if it is unknown or varies
 * @frame_rate_d: denominator of the frame rate
 * @duration: duration of the source in ns; %GST_CLOCK_TIME_NONE if it is unknown
 * @is_live: whether the source is live
 *
 * The format of a source.
 */
typedef struct {
  gint width, height;
  gint frame_rate_n, frame_rate_d;
  GstClockTime duration;
  gboolean is_live;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstCudaTensorFramesInfo;

/**
 * gst_cuda_tensor_frames_new:
 * @sources: (array zero-terminated=1): paths of files, URIs, or cameras such as /dev/video0
 * @options: (nullable): the choice of frames; %NULL for the defaults
 * @properties: (array zero-terminated=1) (nullable): names and values in turn, of properties of
 *   cudanormalize or cudatensormux, as gst-launch-1.0 takes them
 * @error: return location for a #GError, or %NULL
 *
 * Checks the options and starts to read the sources.
 *
 * Returns: (transfer full) (nullable): the frames, or %NULL with %GST_CUDA_TENSOR_ERROR_SETTINGS,
 *   %GST_CUDA_TENSOR_ERROR_NOT_FOUND or %GST_CUDA_TENSOR_ERROR_NO_CUDA
 */
GST_CUDA_TENSOR_API GstCudaTensorFrames *gst_cuda_tensor_frames_new(
    const gchar *const *sources, const GstCudaTensorFramesOptions *options,
    const gchar *const *properties, GError **error);

/**
 * gst_cuda_tensor_frames_ref:
 * @frames: frames
 *
 * Returns: (transfer full): @frames
 */
GST_CUDA_TENSOR_API GstCudaTensorFrames *gst_cuda_tensor_frames_ref(GstCudaTensorFrames *frames);

/**
 * gst_cuda_tensor_frames_unref:
 * @frames: (transfer full): frames
 *
 * Drops a reference. Closes the frames when the last reference is dropped.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_frames_unref(GstCudaTensorFrames *frames);

struct _GstCudaTensor;

/**
 * gst_cuda_tensor_frames_next:
 * @frames: frames
 * @timeout: how long to wait, in ns; %GST_CLOCK_TIME_NONE for no limit
 * @error: return location for a #GError, or %NULL
 *
 * Waits for the next tensor. The outermost dimension of the last one may be smaller. Each tensor
 * has a slot for each frame. With several sources, the slots of sources without a frame are not
 * valid.
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL without an error after the last one;
 *   otherwise %NULL with %GST_CUDA_TENSOR_ERROR_TIMEOUT, after which the function can be called
 *   again, %GST_CUDA_TENSOR_ERROR_CLOSED, or the error that has ended the frames:
 *   %GST_CUDA_TENSOR_ERROR_NOT_FOUND, %GST_CUDA_TENSOR_ERROR_SOURCE,
 *   %GST_CUDA_TENSOR_ERROR_FORMAT, %GST_CUDA_TENSOR_ERROR_DECODER,
 *   %GST_CUDA_TENSOR_ERROR_SETTINGS, or %GST_CUDA_TENSOR_ERROR_NO_FRAMES if there was no tensor at all
 */
GST_CUDA_TENSOR_API struct _GstCudaTensor *gst_cuda_tensor_frames_next(GstCudaTensorFrames *frames,
                                                                       GstClockTime timeout,
                                                                       GError **error);

/**
 * gst_cuda_tensor_frames_get_info:
 * @frames: frames
 * @source: the number of the source, from 0
 * @timeout: how long to wait until the format is known, in ns
 * @info: (out caller-allocates): the format of the source
 * @error: return location for a #GError, or %NULL
 *
 * Returns: %TRUE, or %FALSE with an error of gst_cuda_tensor_frames_next()
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_frames_get_info(GstCudaTensorFrames *frames,
                                                             guint source, GstClockTime timeout,
                                                             GstCudaTensorFramesInfo *info,
                                                             GError **error);

/**
 * gst_cuda_tensor_frames_get_failed_source:
 * @frames: frames
 *
 * Returns: the number of the source that caused the error of gst_cuda_tensor_frames_next(); -1 if
 *   there was no error, or no single source caused it
 */
GST_CUDA_TENSOR_API gint gst_cuda_tensor_frames_get_failed_source(GstCudaTensorFrames *frames);

/**
 * gst_cuda_tensor_frames_close:
 * @frames: frames
 *
 * Ends the pipeline and closes the sources. Threads that wait in other functions return with
 * %GST_CUDA_TENSOR_ERROR_CLOSED. Tensors that were returned stay valid.
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_frames_close(GstCudaTensorFrames *frames);

/**
 * GstCudaTensorReadFunc:
 * @offset: an offset in a file
 * @data: (out caller-allocates) (array length=size): where to put the bytes; bytes beyond the end
 *   of the file are 0
 * @size: number of bytes to read
 * @user_data: (closure): the data passed with the function
 *
 * Reads a part of a file.
 *
 * Returns: %TRUE, or %FALSE if the part cannot be read
 */
typedef gboolean (*GstCudaTensorReadFunc)(guint64 offset, guint8 *data, gsize size,
                                          gpointer user_data);

/**
 * gst_cuda_tensor_stated_length:
 * @read: (scope call): reads parts of the file, 16 bytes each
 * @user_data: passed to @read
 * @length: how many bytes the file has
 *
 * Reads the headers of a file of MP4, Matroska, WebM, AVI, FLV, Ogg or MPEG-TS. A file with fewer
 * bytes than they state is truncated. Fragmented MP4 has two headers in each fragment, which are
 * all read.
 *
 * Returns: how many bytes the file should have at least; 0 if its headers do not say, or cannot be
 * read
 */
GST_CUDA_TENSOR_API guint64 gst_cuda_tensor_stated_length(GstCudaTensorReadFunc read,
                                                          gpointer user_data, guint64 length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaTensorFrames, gst_cuda_tensor_frames_unref)

G_END_DECLS

#endif /* GST_CUDA_TENSOR_FRAMES_H */
