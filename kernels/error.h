// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace cudatensor {

/// An error of a kernel, a plan or a backend. The GStreamer layer turns it into an element error.
class Error : public std::runtime_error {
 public:
  enum class Code {
    settings,       ///< invalid or contradictory parameters
    input,          ///< a stream that cannot be processed, or an output that does not match
    frame,          ///< one picture or tensor that cannot be used; others may follow
    not_found,      ///< no such backend or device
    out_of_memory,  ///< host, device or pinned memory
    device,         ///< a device call failed
  };

  Error(Code code, const std::string &text) : std::runtime_error(text), code_(code) {}

  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

}  // namespace cudatensor
