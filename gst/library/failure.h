// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of exceptions to GError.
#pragma once

#include <stdexcept>
#include <string>

#include "gst/library/gstcudatensor.h"
#include "kernels/error.h"

namespace cudatensor {

/// An error with a GstCudaTensorError code. The code behind the C functions throws Failure and
/// Error.
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

/// Returns the result of `work()`. If it throws, sets `error` and returns the zero value of the
/// type.
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

/// The library's debug category.
GstDebugCategory *interop_category();

}  // namespace cudatensor
