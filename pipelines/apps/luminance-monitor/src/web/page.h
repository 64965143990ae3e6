// SPDX-License-Identifier: LGPL-2.1-or-later
// The files of the page, which are in the program.
#pragma once

#include <map>
#include <string>

#include "web/exchange.h"

namespace luminance {

class Page {
 public:
  Page();

  /// Of a file that is there.
  const std::string &text(const std::string &path) const { return files_.at(path).text; }
  /// False: there is no such file.
  bool answer(Exchange &exchange) const;

 private:
  struct File {
    std::string type, text, tag;
  };

  std::map<std::string, File> files_;  // by path
};

}  // namespace luminance
