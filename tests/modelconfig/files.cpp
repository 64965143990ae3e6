// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/modelconfig/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/error.h"

namespace cudatensor {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "modelconfig-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::write(const std::string &name, const std::string &contents) const {
  std::ofstream(path(name), std::ios::binary) << contents;
  return path(name);
}

void PrintTo(const Case &c, std::ostream *os) { *os << c.title; }

std::string outcome(const std::string &path) {
  try {
    const std::string line = launch_line("", read_model_config(path));
    return line.empty() ? line : line.substr(1);
  } catch (const Error &error) {
    const std::string text = error.what(), start = "model-config=" + path + ": ";
    EXPECT_EQ(text.compare(0, start.size(), start), 0) << text;
    return "!" + text.substr(std::min(start.size(), text.size()));
  }
}

void check(const Case &c) {
  const Folder folder;
  EXPECT_EQ(outcome(folder.write(c.name, c.contents)), c.expected);
}

}  // namespace cudatensor
