// SPDX-License-Identifier: LGPL-2.1-or-later
// A context of a device: the owner of memory, streams and events, which neighbors can share.
#pragma once

#include <memory>

#include "kernels/ops.h"

namespace cudatensor {

class DeviceContext {
 public:
  virtual ~DeviceContext() = default;

  /// The context's handle for ContextScope.
  virtual void *handle() const = 0;
  /// The backend that was opened in this context.
  virtual Backend &backend() const = 0;
  Device &device() const { return *backend().device(); }
};

using DeviceContextRef = std::shared_ptr<DeviceContext>;

/// Makes a context current on the calling thread for the lifetime of the scope, and keeps it alive.
class DeviceScope {
 public:
  explicit DeviceScope(DeviceContextRef context)
      : context_(std::move(context)), scope_(context_->handle()) {}

 private:
  DeviceContextRef context_;
  ContextScope scope_;
};

}  // namespace cudatensor
