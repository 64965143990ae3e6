// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/file.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kernels/error.h"

namespace cudatensor::modelconfig {

File::File(const std::string &path)
    // Without O_NONBLOCK, a pipe without a writer would block.
    : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (fd_ < 0) throw Error(Error::Code::not_found, g_strerror(errno));
  struct stat status = {};
  const bool known = fstat(fd_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  close(fd_);
  throw Error(Error::Code::not_found,
              known && S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

std::string File::read(uint64_t offset, size_t size) const {
  if (fd_ < 0) return offset < size_ ? contents_.substr(offset, size) : std::string();
  std::string bytes(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const ssize_t n =
        pread(fd_, bytes.data() + filled, size - filled, static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(Error::Code::not_found, g_strerror(errno));
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

std::string File::text(size_t limit) const {
  std::string bytes = size_ > limit ? std::string() : read(0, limit + 1);
  if (size_ > limit || bytes.size() > limit)
    throw Error(Error::Code::settings,
                "has more than " + std::to_string(limit >> 20) + " MiB of text");
  return bytes;
}

}  // namespace cudatensor::modelconfig
