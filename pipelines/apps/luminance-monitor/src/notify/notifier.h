// SPDX-License-Identifier: LGPL-2.1-or-later
// Notifies people of faults: watches the monitor, and sends messages through channels.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "settings/settings.h"
#include "watch/monitor.h"

namespace luminance {

/// The state of a channel, without secrets.
struct ChannelReport {
  std::string kind;                     // "webhook", "mail" or "mqtt"
  std::string address;                  // of the server, without a path or a user
  bool is_failing = false;              // the last attempt failed
  std::optional<int64_t> last_success;  // milliseconds since 1970 (UTC)
  std::string last_error;               // empty: none
  std::optional<int64_t> last_error_time;
  size_t waiting = 0;  // alerts that have not been sent
};

/// Messages of one kind of channel since the monitor started.
struct ChannelTotals {
  uint64_t sent = 0, failed = 0;  // `failed` counts attempts
};

struct TestResult {
  std::string kind, address;
  std::string error;  // empty: the message was sent
};

/// Main thread only, which never waits for the network: other threads do.
class Notifier : public Observer {
 public:
  Notifier(const NotificationSettings &settings, const Monitor &monitor);
  ~Notifier() override;

  /// Takes new settings. Channels whose settings are the same keep their alerts; new ones take over
  /// unsent alerts of former channels of their kind. Present faults are not told again.
  void change(const NotificationSettings &settings);
  /// Call a few times per second.
  void tick();
  /// Ends all channels, within a few seconds. Logs how many alerts were not sent.
  void finish();

  std::vector<ChannelReport> channels() const;
  std::map<std::string, ChannelTotals> totals() const;

  /// Sends a test message through all channels. Calls `done` once, when all have sent it or failed,
  /// or after some seconds. Returns false, and sends nothing, if the last test was just before.
  bool test(std::function<void(const std::vector<TestResult> &)> done);

  void on_change(const Camera &camera, const Change &change) override;
  void on_rules(const Camera &camera) override;
  void on_added(const Camera &camera) override;
  void on_removed(const Camera &camera) override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
