// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/calls.h"

namespace cudatensor::ort {

void Api::fail(Status *status) const {
  const Owned<Status> owner(status, {this});
  throw Failure(function(kGetErrorCode)(status), function(kGetErrorMessage)(status));
}

}  // namespace cudatensor::ort
