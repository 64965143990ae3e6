// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace cudatensor {

/// What a kernel, a plan or a backend could not do. Thrown everywhere below the seam and turned
/// into one GStreamer element error at its edge.
class Error : public std::runtime_error {
 public:
  enum class Code {
    settings,       ///< parameters that cannot work, alone or together
    input,          ///< a picture or tensor that is not what was announced
    not_found,      ///< no such backend or device
    out_of_memory,  ///< host, device or pinned memory
    device,         ///< a call to the device failed
  };

  Error(Code code, const std::string &text) : std::runtime_error(text), code_(code) {}

  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

}  // namespace cudatensor
