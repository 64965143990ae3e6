// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch's operation from buffers to a buffer.
#pragma once

#include <vector>

#include "gst/base/session.h"

namespace cudatensor {

/// The picture of a slot; without a buffer there is none.
struct BatchInput {
  GstBuffer *buffer = nullptr;
  const GstVideoInfo *info = nullptr;
  const char *name = nullptr;  ///< for errors
};

/// Throws Error. With a GPU the output may be complete later, as its memory's stream knows; inputs
/// are kept until then.
void run_batch(Session &session, ImagesToTensor &operation, const std::vector<BatchInput> &inputs,
               const TensorDesc &out_desc, GstBuffer *out);

}  // namespace cudatensor
