// SPDX-License-Identifier: LGPL-2.1-or-later
// The Prometheus metrics of the cameras; METRICS.md describes them.
#pragma once

#include <memory>
#include <string>

#include "history/history.h"
#include "notify/notifier.h"
#include "watch/monitor.h"

namespace luminance {

/// Add it to the monitor as an observer, because it counts intervals. Everything else is read from
/// the monitor on each scrape, so that removed cameras leave no series.
class Metrics : public Observer {
 public:
  explicit Metrics(const Monitor &monitor);
  ~Metrics() override;

  /// Adds metrics about writing the history, which must outlive this object.
  void show(const History &history);
  /// Adds metrics about notifications. The notifier must outlive this object.
  void show(const Notifier &notifier);

  void on_interval(const Camera &camera, const Interval &interval) override;
  void on_added(const Camera &camera) override;
  void on_removed(const Camera &camera) override;
  /// The current metrics in the Prometheus text format, version 0.0.4.
  std::string text() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace luminance
