// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

#include "kernels/device.h"

namespace cudatensor::cuda {

class CudaDevice final : public Device {
 public:
  /// `overlaps`: kernels may begin before the one ahead of them on their stream has ended.
  explicit CudaDevice(bool overlaps) : overlaps_(overlaps) {}

  std::unique_ptr<Memory> allocate(size_t bytes) override;
  std::unique_ptr<Memory> allocate_pinned(size_t bytes) override;
  std::unique_ptr<OwnedStream> make_stream() override;
  std::unique_ptr<Event> make_event() override;
  void copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row, size_t rows,
            Stream stream) override;
  void synchronize(Stream stream) override;
  void synchronize_context() override;

  bool overlaps() const { return overlaps_; }

  /// A copy of a table of the host in device memory. One that is still in use is shared: operations
  /// are made anew more often than their geometry changes, and the slots of a batch are often alike.
  std::shared_ptr<const Memory> table(const void *data, size_t bytes);

 private:
  struct Table {
    std::vector<uint8_t> host;
    std::weak_ptr<const Memory> memory;
  };
  std::mutex mutex_;  // threads may share a backend
  std::vector<Table> tables_;
  const bool overlaps_;
};

inline cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

}  // namespace cudatensor::cuda
