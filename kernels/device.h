// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPU beside its operations: memory, streams, events and copies, for those who bring pictures
// there and fetch results.
//
// Everything here belongs to the CUDA context that was current when it was made, and is used and
// destroyed with that context current. What is destroyed may still be in use by queued work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cudatensor {

/// The queue that device work joins: a cudaStream_t. The CPU has none.
struct Stream {
  void *handle = nullptr;
};

/// A stream that does not wait for the default one. Destroying it waits for what it has queued.
class OwnedStream {
 public:
  virtual ~OwnedStream() = default;
  virtual Stream get() const = 0;
};

/// Memory that is freed with the object.
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

/// A point in a stream. One that was never recorded has passed.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Stream stream) = 0;
  /// All that the current context has queued until now, on any stream. False where the driver cannot:
  /// it is older than 12.5, or the context is not a device's primary one.
  virtual bool record_context() = 0;
  virtual bool passed() const = 0;
  /// Blocks this thread, without using its core.
  virtual void wait() const = 0;
  /// Makes what is queued on `stream` from now on wait, and not this thread.
  virtual void hold(Stream stream) const = 0;
};

/// A block of rows in memory of the host or the device.
template <class Byte>
struct Rows {
  Byte *data;
  ptrdiff_t stride;  ///< bytes
};

/// All functions throw Error with the name of the CUDA error.
class Device {
 public:
  virtual ~Device() = default;

  /// Device memory, aligned to 256 bytes.
  virtual std::unique_ptr<Memory> allocate(size_t bytes) = 0;
  /// Host memory that the device reads and writes at the same address, without a copy of the
  /// driver's between.
  virtual std::unique_ptr<Memory> allocate_pinned(size_t bytes) = 0;
  virtual std::unique_ptr<OwnedStream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  /// Queues a copy of `rows` rows of `row` bytes, in any direction. Host memory that is not pinned
  /// makes it wait, and so does a copy from host to host.
  virtual void copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row,
                    size_t rows, Stream stream) = 0;
  /// Waits for all that is queued.
  virtual void synchronize(Stream stream) = 0;
  /// The same for all streams of the current context.
  virtual void synchronize_context() = 0;
};

/// The GPU without operations. Throws Error::not_found as count_cuda_devices() does.
std::unique_ptr<Device> open_cuda_device();

/// Whether this build has CUDA code.
bool cuda_is_built();

/// The number of CUDA devices. Throws Error::not_found, with the reason, where this build has no
/// CUDA, this machine no driver or one that is too old, or no device.
int count_cuda_devices();

/// Throws Error::not_found unless `device` is one of them, or -1.
void check_cuda_device(int device);

/// Makes a CUcontext the calling thread's current one while it lives.
class ContextScope {
 public:
  explicit ContextScope(void *context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
};

/// The CUcontext of a device that the CUDA runtime uses, retained as long as the process lives.
void *primary_context(int device);

class PrimaryContextScope : public ContextScope {
 public:
  explicit PrimaryContextScope(int device) : ContextScope(primary_context(device)) {}
};

/// Inside it this thread's objects are dropped without a call to CUDA: their context is gone, or
/// cannot be entered any more.
class ContextIsGone {
 public:
  ContextIsGone();
  ~ContextIsGone();
  ContextIsGone(const ContextIsGone &) = delete;
  ContextIsGone &operator=(const ContextIsGone &) = delete;
};

}  // namespace cudatensor
