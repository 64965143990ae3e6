// SPDX-License-Identifier: LGPL-2.1-or-later
// The page, the API, the stream and the metrics over HTTP. On the main loop; what reads the history
// does so on threads of its own.
#pragma once

#include <memory>
#include <string>

#include "capture/still.h"
#include "history/history.h"
#include "metrics/metrics.h"
#include "settings/settings.h"
#include "watch/monitor.h"

namespace luminance {

/// What is served. They outlive the server.
struct Served {
  const Monitor &monitor;
  Metrics &metrics;
  Stills &stills;
  const History *history;  // or null
};

class Server : public Observer {
 public:
  /// Listens. Throws ListenError where it cannot now, SettingsError with the file or the setting that
  /// is wrong.
  Server(const WebSettings &settings, const Served &served);
  ~Server() override;

  /// Where it listens, with the port that it got: "http://127.0.0.1:8080/".
  const std::string &address() const;

  /// Passwords, tokens and the certificate of other settings. Throws SettingsError where they cannot
  /// be used, and changes nothing. The rest stays as it is.
  void change(const WebSettings &settings);

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_status(const Camera &camera) override;
  void on_added(const Camera &camera) override;
  void on_removed(const Camera &camera) override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
