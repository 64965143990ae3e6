// SPDX-License-Identifier: LGPL-2.1-or-later
// The cameras as metrics of Prometheus. METRICS.md says what each of them means.
#pragma once

#include <memory>
#include <string>

#include "history/history.h"
#include "watch/monitor.h"

namespace luminance {

/// Tell the monitor of it: it counts intervals. All else is read from the monitor when it is asked
/// for, so that nothing is left of what is no more.
class Metrics : public Observer {
 public:
  explicit Metrics(const Monitor &monitor);
  ~Metrics() override;

  /// That it is written, or not. It outlives the metrics, or their use.
  void show(const History &history);

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_added(const Camera &camera) override;
  void on_removed(const Camera &camera) override;
  /// In Prometheus' text format, version 0.0.4, as things are now.
  std::string text() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
