/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of cudahistogram as plain structs: include gstcudatensor.h. */
#ifndef GST_CUDA_TENSOR_HISTOGRAM_H
#define GST_CUDA_TENSOR_HISTOGRAM_H

#include <gst/gst.h>

#include "gstcudatensorerrors.h"

G_BEGIN_DECLS

/**
 * GstCudaTensorHistogram:
 * @timestamp: timestamp of the first frame, in ns; all times are %GST_CLOCK_TIME_NONE if unknown
 * @stream_time: stream time of the first frame
 * @running_time: running time of the first frame
 * @duration: duration in ns, from the lowest timestamp to the end of the frame with the highest one
 * @frames: number of frames that were counted
 * @pixels: number of pixels that were counted in all frames
 * @bins: number of pixels with each luma value, from 0 to 255
 * @mean: mean of luma
 * @stddev: population standard deviation of luma
 * @min: lowest luma value that occurs
 * @max: highest luma value that occurs
 * @median: percentile 50 of luma
 * @p1: percentile 1
 * @p5: percentile 5
 * @p95: percentile 95
 * @p99: percentile 99
 * @clipped_low: share of pixels at or below black, from 0 to 1
 * @clipped_high: share of pixels at or above white, from 0 to 1
 * @has_roi: whether only a region of the frames was counted and the next four fields are set
 * @roi_x: left edge of the region, in pixels of the frame
 * @roi_y: top edge of the region, in pixels of the frame
 * @roi_width: width of the region, in pixels
 * @roi_height: height of the region, in pixels
 *
 * The luminance histogram of one or more frames, from a message of cudahistogram. Luma is from 0 to
 * 255, as in the picture: most video has black at 16 and white at 235.
 *
 * Since: 0.1
 */
typedef struct {
  GstClockTime timestamp, stream_time, running_time, duration;
  guint frames;
  guint64 pixels;
  guint64 bins[256];
  gdouble mean, stddev;
  guint min, max, median, p1, p5, p95, p99;
  gdouble clipped_low, clipped_high;
  gboolean has_roi;
  guint roi_x, roi_y, roi_width, roi_height;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstCudaTensorHistogram;

/**
 * gst_cuda_tensor_is_histogram:
 * @message: any message
 *
 * Checks only the type and the name of the message, so that it accepts any message of a bus.
 *
 * Returns: whether it is a message of cudahistogram
 *
 * Since: 0.1
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_is_histogram(GstMessage *message);

/**
 * gst_cuda_tensor_histogram_parse:
 * @message: a message of cudahistogram
 * @histogram: (out caller-allocates): the contents of the message; unchanged on failure
 * @error: return location for a #GError, or %NULL
 *
 * Returns: %TRUE, or %FALSE with %GST_CUDA_TENSOR_ERROR_MESSAGE, whose message names a field that is
 *   missing or has the wrong type
 *
 * Since: 0.1
 */
GST_CUDA_TENSOR_API gboolean gst_cuda_tensor_histogram_parse(GstMessage *message,
                                                             GstCudaTensorHistogram *histogram,
                                                             GError **error);

/**
 * gst_cuda_tensor_histogram_add:
 * @sum: (inout): the sum; all zeros if it is empty
 * @more: the histogram of frames that were played after those of @sum
 *
 * Adds the frames, pixels and bins of @more. The statistics become those of the summed bins, with
 * cudahistogram's definitions; the clipped shares are weighted by pixels. The times and the region
 * remain those of the first frame, and the duration is extended to the end of @more. If timestamps
 * are unknown, durations are added.
 *
 * Since: 0.1
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_histogram_add(GstCudaTensorHistogram *sum,
                                                       const GstCudaTensorHistogram *more);

G_END_DECLS

#endif /* GST_CUDA_TENSOR_HISTOGRAM_H */
