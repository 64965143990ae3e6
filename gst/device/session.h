// SPDX-License-Identifier: LGPL-2.1-or-later
// A session runs the operations of an element, on the CPU or on a device.
#pragma once

#include <memory>
#include <optional>

#include "gst/device/devicecontext.h"
#include "gst/util/enums.h"

namespace cudatensor {

class DeviceSession;

class Session {
 public:
  virtual ~Session() = default;

  virtual BackendChoice kind() const = 0;
  virtual Backend &backend() = 0;
  /// The session itself if it works on a device; null for the CPU.
  virtual DeviceSession *device_session() { return nullptr; }
  /// Waits for the work of the last frame that was queued.
  virtual void synchronize() {}
  /// Waits for the work that reads kept buffers, and releases the buffers.
  virtual void drain() {}
};

std::unique_ptr<Session> make_cpu_session(guint threads);

/// Makes the session's context current for the lifetime of the scope. Does nothing for the CPU.
class SessionScope {
 public:
  explicit SessionScope(Session &session);

 private:
  std::optional<DeviceScope> scope_;
};

}  // namespace cudatensor
