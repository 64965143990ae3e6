// SPDX-License-Identifier: LGPL-2.1-or-later
// ONNX Runtime's library, opened at run time and never closed: it runs threads.
#pragma once

#include <string>
#include <vector>

#include "gst/onnxruntime/calls.h"

namespace cudatensor::ort {

class Library {
 public:
  /// Throws Failure.
  Library(std::string path, const ApiBase &base, const Table *table);

  const Api &api() const { return api_; }
  /// The environment of all sessions. It logs to GStreamer's debug log.
  const Env *env() const { return env_; }
  /// The name or path with which it was opened, and the version that it tells.
  const std::string &path() const { return path_; }
  const std::string &version() const { return version_; }
  /// The providers that it was built with, by ONNX Runtime's names. Throws Failure.
  std::vector<std::string> providers() const;

 private:
  std::string path_, version_;
  Api api_;
  Env *env_;
};

/// Returns the first library of library_files() that can be used; the same object for the same
/// library. Throws an Error that names where it was looked for.
const Library &open_library(const std::string &path);

}  // namespace cudatensor::ort
