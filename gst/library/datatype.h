// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "gst/library/gstcudatensor.h"

namespace cudatensor {

struct DataType {
  GstCudaTensorDataType type;
  const char *name;  ///< the name in NNStreamer's caps
  uint8_t code;      ///< DLPack's type code
  uint8_t bits;
};

/// Return the type, or null if there is none.
const DataType *find_data_type(GstCudaTensorDataType type);
const DataType *find_data_type(const char *name);

}  // namespace cudatensor
