// SPDX-License-Identifier: LGPL-2.1-or-later
// A regular file, read in parts: models have gigabytes.
#pragma once

#include <cstdint>
#include <string>

namespace cudatensor::modelconfig {

class File {
 public:
  /// Throws Error unless this is a regular file that can be read. Does not wait for pipes.
  explicit File(const std::string &path);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  /// Reads up to `size` bytes; fewer only at the end of the file.
  std::string read(uint64_t offset, size_t size) const;
  /// The whole file. Throws Error if it has more than `limit` bytes.
  std::string text(size_t limit) const;
  uint64_t size() const { return size_; }

 private:
  int fd_;
  uint64_t size_ = 0;
};

}  // namespace cudatensor::modelconfig
