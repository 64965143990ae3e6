// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells people of faults: watches the monitor, and has channels send messages.
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

/// Of a channel, without secrets.
struct ChannelReport {
  std::string kind;                     // "webhook", "mail" or "mqtt"
  std::string address;                  // of a server, without a path or a user
  bool is_failing = false;              // the last attempt failed
  std::optional<int64_t> last_success;  // milliseconds since 1970 (UTC)
  std::string last_error;               // empty: none
  std::optional<int64_t> last_error_time;
  size_t waiting = 0;  // alerts
};

/// Messages of one kind of channel since the monitor started.
struct ChannelTotals {
  uint64_t sent = 0, failed = 0;  // failed: attempts
};

struct TestResult {
  std::string kind, address;
  std::string error;  // empty: the message was sent
};

/// Main thread only. Nothing waits for the network but threads of its own.
class Notifier : public Observer {
 public:
  Notifier(const NotificationSettings &settings, const Monitor &monitor);
  ~Notifier() override;

  /// Takes new settings. Channels whose settings are the same go on with what they have; others
  /// of the same kind get what their predecessors had not sent. Faults that stand are not told
  /// again.
  void change(const NotificationSettings &settings);
  /// Call a few times per second.
  void tick();
  /// Ends all channels, within a few seconds; logs how much could not be sent.
  void finish();

  std::vector<ChannelReport> channels() const;
  std::map<std::string, ChannelTotals> totals() const;

  /// For `done`, once, when all channels have sent a test message or failed, or after some seconds.
  /// False: there was a test just before.
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
