// SPDX-License-Identifier: LGPL-2.1-or-later
// A contact sheet: each row shows a source frame as it is stored, its tensor as a picture, and the
// tensor's channels.
#pragma once

#include <gst/video/video.h>

#include <string>
#include <vector>

#include "drawing.h"
#include "tensor.h"

/// Converts a video frame to a surface.
Surface surface_of(GstBuffer *buffer, const GstVideoInfo &info);

/// Converts an RGB tensor with values from 0 to 1 to a picture.
Surface surface_of(const Tensor &tensor);

/// Converts a channel to a gray picture.
Surface surface_of_channel(const Tensor &tensor, int c);

struct SheetRow {
  Surface source, tensor;
  std::vector<Surface> channels;
  std::vector<std::string> channel_captions;
  std::string source_caption, tensor_caption;
  Geometry geometry;
};

void write_contact_sheet(const std::string &path, const std::string &title,
                         const std::string &subtitle, const std::vector<SheetRow> &rows);
