// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture of pictures: each row shows a source frame, its tensor as a picture, and the tensor's
// channels one by one.
#pragma once

#include <gst/video/video.h>

#include <string>
#include <vector>

#include "drawing.h"
#include "tensor.h"

/// A video frame as a surface.
Surface surface_of(GstBuffer *buffer, const GstVideoInfo &info);

/// An RGB tensor of 0 to 1 as the picture it was made of.
Surface surface_of(const Tensor &tensor);

/// A channel in grey.
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
