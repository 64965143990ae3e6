// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "gst/library/gstcudatensor.h"

namespace cudatensor {

struct DataType {
  GstCudaTensorDataType type;
  const char *name;  ///< the name in NNStreamer's caps
  uint8_t code;      ///< in DLPack
  uint8_t bits;
};

/// Null if there is no such type.
const DataType *find_data_type(GstCudaTensorDataType type);
const DataType *find_data_type(const char *name);

}  // namespace cudatensor
