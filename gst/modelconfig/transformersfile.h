// SPDX-License-Identifier: LGPL-2.1-or-later
// A file of a processor of Transformers, and the class that it names.
#pragma once

#include <string>

#include "gst/modelconfig/transformersclass.h"
#include "gst/modelconfig/value.h"

namespace cudatensor::modelconfig {

class ProcessorFile {
 protected:
  /// Throws Error if the class is not on the list.
  explicit ProcessorFile(const Node &file);

  /// Throws Error for a key that may change the tensor and that no property supports.
  void check_keys() const;
  /// Whether the file has the key with null, which switches a step off.
  bool is_null(const char *key) const;
  bool flag(const char *key, bool fallback) const {
    return file_.at(key).boolean(fallback && !is_null(key));
  }
  /// Returns a flag for a step that not all classes can do. Throws Error if it is set, but not
  /// `possible`.
  bool does(const char *key, bool fallback, bool possible) const;
  /// Returns the defaults of the class for a key that the file leaves out. Throws Error if the
  /// class is not known.
  const ImageProcessor &defaults(const Node &absent) const;

  Node file_;
  std::string name_;  ///< name of the class; empty if the file names none
  const ImageProcessor *known_ = nullptr;

 private:
  void check_key(const std::string &key, const Value &value) const;
};

}  // namespace cudatensor::modelconfig
