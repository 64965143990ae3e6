// SPDX-License-Identifier: LGPL-2.1-or-later
// Access to a GPU's memory, streams, events and copies, for code that uploads pictures and
// downloads results.
//
// All objects belong to the CUDA context that was current when they were created, and must be used
// and destroyed while that context is current. Objects may be destroyed while queued work uses
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cudatensor {

/// The cudaStream_t on which device work is queued; null for the CPU.
struct Stream {
  void *handle = nullptr;
};

/// A stream that does not synchronize with the default stream. The destructor waits for the queued
/// work.
class OwnedStream {
 public:
  virtual ~OwnedStream() = default;
  virtual Stream get() const = 0;
};

/// Memory owned by the object.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

 protected:
  explicit Memory(size_t size) : size_(size) {}
  void set_data(void *data) { data_ = static_cast<uint8_t *>(data); }

 private:
  uint8_t *data_ = nullptr;
  size_t size_;
};

/// A point in a stream's work. An event that was never recorded is complete.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Stream stream) = 0;
  /// Records all work queued so far in the current context, on any stream. Returns false if the
  /// driver is older than 12.5 or the context is not a device's primary context.
  virtual bool record_context() = 0;
  virtual bool passed() const = 0;
  /// Blocks the calling thread without busy waiting.
  virtual void wait() const = 0;
  /// Makes work queued on `stream` from now on wait for the event. Does not block the calling
  /// thread.
  virtual void hold(Stream stream) const = 0;
};

/// Rows in host or device memory.
template <class Byte>
struct Rows {
  Byte *data;
  ptrdiff_t stride;  ///< bytes
};

/// All functions throw Error, whose message contains the name of the CUDA error.
class Device {
 public:
  virtual ~Device() = default;

  /// Device memory, aligned to 256 bytes.
  virtual std::unique_ptr<Memory> allocate(size_t bytes) = 0;
  /// Pinned host memory, which the device accesses at the same address without a staging copy in
  /// the driver.
  virtual std::unique_ptr<Memory> allocate_pinned(size_t bytes) = 0;
  virtual std::unique_ptr<OwnedStream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  /// Queues a copy of `rows` rows of `row` bytes, in any direction. Blocks if host memory is not
  /// pinned or both sides are host memory.
  virtual void copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row,
                    size_t rows, Stream stream) = 0;
  /// Waits for all work queued on the stream.
  virtual void synchronize(Stream stream) = 0;
  /// Waits for all work queued on all streams of the current context.
  virtual void synchronize_context() = 0;
};

/// Opens the GPU without the backend's operations. Throws Error::not_found under the same
/// conditions as count_cuda_devices().
std::unique_ptr<Device> open_cuda_device();

/// Whether the CUDA backend was built.
bool cuda_is_built();

/// Returns the number of CUDA devices. Throws Error::not_found with the reason if the build has no
/// CUDA backend, the driver is missing or too old, or there is no device.
int count_cuda_devices();

/// Throws Error::not_found unless `device` is the index of a CUDA device or -1.
void check_cuda_device(int device);

/// Makes a CUcontext current on the calling thread for the lifetime of the scope.
class ContextScope {
 public:
  explicit ContextScope(void *context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
};

/// Returns the primary CUcontext of a device, which the CUDA runtime uses. It is retained until the
/// process exits.
void *primary_context(int device);

class PrimaryContextScope : public ContextScope {
 public:
  explicit PrimaryContextScope(int device) : ContextScope(primary_context(device)) {}
};

/// Makes objects that the calling thread destroys within the scope issue no CUDA calls, because
/// their context is lost or cannot be made current.
class ContextLostScope {
 public:
  ContextLostScope();
  ~ContextLostScope();
  ContextLostScope(const ContextLostScope &) = delete;
  ContextLostScope &operator=(const ContextLostScope &) = delete;
};

}  // namespace cudatensor
