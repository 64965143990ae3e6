// SPDX-License-Identifier: LGPL-2.1-or-later
// A regular file that is read in parts, because models have gigabytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cudatensor::modelconfig {

class File {
 public:
  /// Opens a file. Throws Error unless it is a regular file that can be read. Does not wait for
  /// pipes.
  explicit File(const std::string &path);
  /// Returns a file whose contents are in memory.
  static File of(std::string contents) { return File(-1, std::move(contents)); }
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  /// Reads up to `size` bytes; returns fewer only at the end of the file.
  std::string read(uint64_t offset, size_t size) const;
  /// Reads the whole file. Throws Error if it has more than `limit` bytes.
  std::string text(size_t limit) const;
  uint64_t size() const { return size_; }

 private:
  File(int fd, std::string contents)
      : fd_(fd), contents_(std::move(contents)), size_(contents_.size()) {}

  int fd_;  ///< -1: in memory
  std::string contents_;
  uint64_t size_ = 0;
};

}  // namespace cudatensor::modelconfig
