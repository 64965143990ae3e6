// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of exceptions to GError.
#pragma once

#include <stdexcept>
#include <string>

#include "gst/library/gstcudatensor.h"
#include "kernels/error.h"

namespace cudatensor {

/// An error with a GstCudaTensorError code. The code behind the C functions throws LibraryError and
/// Error.
class LibraryError : public std::runtime_error {
 public:
  LibraryError(GstCudaTensorError code, const std::string &text)
      : std::runtime_error(text), code_(code) {}
  GstCudaTensorError code() const noexcept { return code_; }

 private:
  GstCudaTensorError code_;
};

void set_error(GError **error, const LibraryError &thrown);
void set_error(GError **error, const Error &thrown);

/// Returns the result of `work()`. If it throws, sets `error` and returns the zero value of the
/// type.
template <class Work>
auto caught(GError **error, const Work &work) -> decltype(work()) {
  try {
    return work();
  } catch (const LibraryError &thrown) {
    set_error(error, thrown);
  } catch (const Error &thrown) {
    set_error(error, thrown);
  }
  return {};
}

/// The library's debug category.
GstDebugCategory *interop_category();

}  // namespace cudatensor
