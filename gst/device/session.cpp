// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/device/session.h"

#include "gst/device/devicesession.h"

namespace cudatensor {
namespace {

class CpuSession final : public Session {
 public:
  explicit CpuSession(guint threads) : backend_(open_cpu_backend(threads)) {}
  BackendChoice kind() const override { return BackendChoice::cpu; }
  Backend &backend() override { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace

std::unique_ptr<Session> make_cpu_session(guint threads) {
  return std::make_unique<CpuSession>(threads);
}

SessionScope::SessionScope(Session &session) {
  if (const DeviceSession *device = session.device_session()) scope_.emplace(device->context());
}

}  // namespace cudatensor
