/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The position of a picture in a tensor, and its source. Included by gstcudatensor.h. */
#ifndef GST_CUDA_TENSOR_GEOMETRY_H
#define GST_CUDA_TENSOR_GEOMETRY_H

#include <gst/gst.h>

#include "gstcudatensorerrors.h"

G_BEGIN_DECLS

/**
 * GstCudaTensorGeometry:
 * @matrix: row-major 2×3, from the source picture to the tensor, in continuous pixel coordinates
 * @inverse: row-major 2×3, from the tensor to the source picture
 * @src_width: width of the source picture, in pixels
 * @src_height: height of the source picture, in pixels
 * @dst_width: width of the tensor, with padding, in pixels
 * @dst_height: height of the tensor, with padding, in pixels
 * @pad_left: left edge of the content, in pixels of the tensor
 * @pad_top: top edge of the content, in pixels of the tensor
 * @content_width: width of the content, in pixels of the tensor
 * @content_height: height of the content, in pixels of the tensor
 *
 * The position of a picture in its tensor, from GstCudaTensorGeometryMeta.
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
 * @valid: whether the slot holds a picture; if not, only @pad_index and @stream_id are set
 * @pad_index: the number of the sink pad; -1 if there is none
 * @stream_id: (nullable): the stream-id of the pad; all strings are owned by the tensor
 * @pts: the picture's timestamp in ns; %GST_CLOCK_TIME_NONE if unknown, also in the next two fields
 * @duration: the picture's duration, in ns
 * @running_time: the picture's running time, in ns
 * @has_geometry: whether @geometry is set
 * @geometry: the position of the picture in the slot, as if the slot were a separate tensor
 * @has_region: whether the slot holds a region of a picture and @region is set
 * @region: x, y, width and height, in pixels of the input picture
 * @has_roi: whether the region comes from a #GstVideoRegionOfInterestMeta and the next three fields
 * are set
 * @roi_type: (nullable): the meta's roi_type
 * @roi_id: the meta's id
 * @parent_id: the meta's parent_id
 * @has_detection: whether the region comes from a #GstAnalyticsODMtd and the next three fields are
 * set
 * @detection_id: the id of the detection in the #GstAnalyticsRelationMeta of the picture
 * @detection_type: (nullable): the type of the object
 * @confidence: the confidence of the detection, 0 to 1
 *
 * The contents of a slot of GstCudaTensorBatchMeta: a picture of a batch, or a region of one.
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
  gboolean has_roi;
  const gchar *roi_type;
  gint roi_id, parent_id;
  gboolean has_detection;
  guint detection_id;
  const gchar *detection_type;
  gdouble confidence;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING_LARGE - 3];
} GstCudaTensorSlot;

/**
 * gst_cuda_tensor_geometry_map_box:
 * @geometry: the geometry of a tensor or a slot
 * @box: (array fixed-size=4): x0, y0, x1, y1 in pixels of the tensor
 * @source_box: (out caller-allocates) (array fixed-size=4): the box in pixels of the source
 *   picture; may be the same array as @box. If the picture was turned, this is the box around the
 *   mapped one, with x0 ≤ x1 and y0 ≤ y1: gst_cuda_tensor_geometry_map_point() maps its corners
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_geometry_map_box(const GstCudaTensorGeometry *geometry,
                                                          const gdouble box[4],
                                                          gdouble source_box[4]);

/**
 * gst_cuda_tensor_geometry_map_point:
 * @geometry: the geometry of a tensor or a slot
 * @point: (array fixed-size=2): x, y in pixels of the tensor
 * @source_point: (out caller-allocates) (array fixed-size=2): the point in pixels of the source
 *   picture; may be the same array as @point
 */
GST_CUDA_TENSOR_API void gst_cuda_tensor_geometry_map_point(const GstCudaTensorGeometry *geometry,
                                                            const gdouble point[2],
                                                            gdouble source_point[2]);

G_END_DECLS

#endif /* GST_CUDA_TENSOR_GEOMETRY_H */
