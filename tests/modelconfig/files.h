// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of models in a temporary folder, and their expected properties.
#pragma once

#include <string>

#include "gst/modelconfig/modelconfig.h"

namespace cudatensor {

/// A folder that is removed with all of its files.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string path(const std::string &name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &contents) const;

 private:
  std::string path_;
};

/// A file, and its properties as a launch line without the element; or, after "!", the error
/// without the path.
struct Case {
  const char *title;
  const char *name;
  std::string contents;
  std::string expected;
};

void PrintTo(const Case &c, std::ostream *os);

/// Returns the result of read_model_config() for a file, in the form of Case::expected.
std::string outcome(const std::string &path);
void check(const Case &c);

}  // namespace cudatensor
