// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of what was seen when an incident began. Main thread only.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "capture/still.h"
#include "history/history.h"
#include "watch/monitor.h"

namespace luminance {

/// Gives them to the history, one after the other: where many cameras fail at once, the stills of
/// the page are not held up.
class IncidentPictures {
 public:
  /// `history` may be null. All of them outlive the stills.
  IncidentPictures(const Monitor &monitor, Stills &stills, History *history)
      : monitor_(monitor),
        stills_(stills),
        history_(history),
        begin_(monitor.clock().wall(monitor.clock().now())) {}

  /// A verdict was raised, and the history knows.
  void note(const Camera &camera, Verdict verdict);
  void remove(const Camera &camera);
  /// Asks again for those that there were none of yet. Call once a second.
  void maintain();

 private:
  struct Wanted {
    IncidentKey incident;
    const Camera *camera;  // null: removed
    Time time;             // when it was raised
  };

  void ask();
  /// Null: there is none.
  void take(GBytes *jpeg);

  const Monitor &monitor_;
  Stills &stills_;
  History *const history_;
  const int64_t begin_;  // in milliseconds since 1970
  std::deque<Wanted> wanted_, later_;
  std::optional<Wanted> asked_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace luminance
