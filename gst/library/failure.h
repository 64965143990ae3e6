// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors on their way to a GError.
#pragma once

#include <stdexcept>
#include <string>

#include "gst/library/gstcudatensor.h"
#include "kernels/error.h"

namespace cudatensor {

/// Thrown by everything below the C functions, beside Error.
class Failure : public std::runtime_error {
 public:
  Failure(GstCudaTensorError code, const std::string &text)
      : std::runtime_error(text), code_(code) {}
  GstCudaTensorError code() const noexcept { return code_; }

 private:
  GstCudaTensorError code_;
};

void set_error(GError **error, const Failure &failure);
void set_error(GError **error, const Error &failure);

/// `work()`, or where it throws its type's zero and the error.
template <class Work>
auto caught(GError **error, const Work &work) -> decltype(work()) {
  try {
    return work();
  } catch (const Failure &failure) {
    set_error(error, failure);
  } catch (const Error &failure) {
    set_error(error, failure);
  }
  return {};
}

/// The category of what the library logs.
GstDebugCategory *handover_category();

}  // namespace cudatensor
