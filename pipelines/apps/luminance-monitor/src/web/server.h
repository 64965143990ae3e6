// SPDX-License-Identifier: LGPL-2.1-or-later
// Serves the page, the API, the stream and the metrics over HTTP, on the main loop. Other threads
// read the history.
#pragma once

#include <memory>
#include <string>

#include "capture/still.h"
#include "history/history.h"
#include "metrics/metrics.h"
#include "notify/notifier.h"
#include "settings/settings.h"
#include "watch/monitor.h"

namespace luminance {

/// The objects that are served. They must outlive the server.
struct Served {
  Monitor &monitor;
  Metrics &metrics;
  Stills &stills;
  History *history;              // or null
  Notifier *notifier = nullptr;  // or null
};

class Server : public Observer {
 public:
  /// Starts listening. Throws ListenError if that is not possible now, or SettingsError that names
  /// the wrong file or setting.
  Server(const WebSettings &settings, const Served &served);
  ~Server() override;

  /// Returns the address with the actual port, for example "http://127.0.0.1:8080/".
  const std::string &address() const;

  /// Takes the passwords, the tokens and the certificate of new settings, and nothing else. Throws
  /// SettingsError if they cannot be used, and then changes nothing.
  void change(const WebSettings &settings);

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_status(const Camera &camera) override;
  void on_rules(const Camera &camera) override;
  void on_maintenance(const Camera &camera) override;
  void on_added(const Camera &camera) override;
  void on_removed(const Camera &camera) override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
