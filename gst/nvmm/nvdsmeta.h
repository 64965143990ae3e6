// SPDX-License-Identifier: LGPL-2.1-or-later
// The metadata that nvstreammux and the elements behind it attach to a batch of surfaces.
//
// This file repeats the declarations of DeepStream 9.0 (nvdsmeta.h) that the plugin uses;
// tests/elements/deepstreamabi.cpp compares them with its headers.
#pragma once

#include <glib.h>

namespace cudatensor::nvmm {

struct NvDsBatchMeta;

/// The base of all metadata.
struct NvDsBaseMeta {
  NvDsBatchMeta *batch_meta;
  int meta_type;
  void *user_context;
  void *copy_func;
  void *release_func;
};

struct NvDsBatchMeta {
  NvDsBaseMeta base_meta;
  guint max_frames_in_batch;
  guint num_frames_in_batch;
  void *pools[6];
  GList *frame_meta_list;  ///< list of NvDsFrameMeta
  GList *batch_user_meta_list;
  GRecMutex meta_mutex;  ///< must be held while the metadata is read
};

/// The first fields of NvDsFrameMeta.
struct NvDsFrameMeta {
  NvDsBaseMeta base_meta;
  guint pad_index;
  guint batch_id;  ///< the frame's surface
  gint frame_num;
  guint64 buf_pts;
  guint64 ntp_timestamp;
  guint source_id;
  gint num_surfaces_per_frame;
  guint source_frame_width;
  guint source_frame_height;
  guint surface_type;
  guint surface_index;
  guint num_obj_meta;
  gboolean infer_done;
  GList *obj_meta_list;  ///< list of NvDsObjectMeta
};

/// The fields of NvDsObjectMeta up to its label.
struct NvDsObjectMeta {
  NvDsBaseMeta base_meta;
  NvDsObjectMeta *parent;
  gint unique_component_id;
  gint class_id;
  guint64 object_id;
  float detector_box[4];
  float tracker_box[4];
  float confidence;
  float tracker_confidence;
  float left, top, width, height;  ///< rect_params, in pixels of the surface
  char drawing[224];
  char label[128];
};

}  // namespace cudatensor::nvmm
