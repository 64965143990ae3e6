// SPDX-License-Identifier: LGPL-2.1-or-later
// The places where ONNX Runtime's library is looked for.
#pragma once

#include <string>
#include <vector>

namespace cudatensor::ort {

/// The variable of the environment that names the library.
constexpr const char *kLibraryVariable = "GST_CUDATENSOR_ONNXRUNTIME";

struct LibraryFiles {
  std::vector<std::string> names;  ///< for dlopen(), in order
  std::string text;                ///< where these are, for an error
};

/// Returns the names and paths to try: `path` alone unless it is empty; the environment's alone if it
/// is set; otherwise those of the loader, then the wheels of the python3 in PATH.
LibraryFiles library_files(const std::string &path);

/// Returns NVIDIA's libraries that lie beside a library from a wheel and that its providers need,
/// those that others need first.
std::vector<std::string> nvidia_files(const std::string &library);

}  // namespace cudatensor::ort
