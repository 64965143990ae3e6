// SPDX-License-Identifier: LGPL-2.1-or-later
// The cameras as metrics of Prometheus.
#pragma once

#include <memory>
#include <string>

#include "../watch/monitor.h"

namespace luminance {

class Metrics : public Observer {
 public:
  explicit Metrics(const Monitor &monitor);
  ~Metrics() override;

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_change(const Camera &camera, const Change &change) override;
  void on_status(const Camera &camera) override;
  /// In Prometheus' text format, version 0.0.4, as things are now.
  std::string text();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
