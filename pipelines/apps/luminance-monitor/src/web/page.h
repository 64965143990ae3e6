// SPDX-License-Identifier: LGPL-2.1-or-later
// The files of the page, which are embedded in the program.
#pragma once

#include <map>
#include <string>

#include "web/exchange.h"

namespace luminance {

class Page {
 public:
  Page();

  /// Returns the content of an existing file.
  const std::string &text(const std::string &path) const { return files_.at(path).text; }
  /// Answers with a file. Returns false if there is no such file.
  bool answer(Exchange &exchange) const;

 private:
  struct File {
    std::string type, text, tag;
  };

  std::map<std::string, File> files_;  // by path
};

}  // namespace luminance
