// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes pictures of what a camera sees when an incident begins. Main thread only.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "capture/still.h"
#include "history/history.h"
#include "watch/monitor.h"

namespace luminance {

/// Takes one picture at a time and gives it to the history. So the page still gets its stills when
/// many cameras fail at once.
class IncidentPictures {
 public:
  /// `history` may be null. All three have to outlive the requested stills.
  IncidentPictures(const Monitor &monitor, Stills &stills, History *history)
      : monitor_(monitor),
        stills_(stills),
        history_(history),
        begin_(monitor.clock().wall(monitor.clock().now())) {}

  /// Notes that a verdict was raised. Call it after the history has been told.
  void note(const Camera &camera, Verdict verdict);
  void remove(const Camera &camera);
  /// Asks again for pictures that were not available yet. Call once a second.
  void maintain();

 private:
  struct Wanted {
    IncidentKey incident;
    const Camera *camera;  // null: removed
    Time time;             // when the verdict was raised
  };

  void ask();
  /// Takes the picture that was asked for; null if there is none.
  void take(GBytes *jpeg);

  const Monitor &monitor_;
  Stills &stills_;
  History *const history_;
  const int64_t begin_;  // when this was made, in milliseconds since 1970
  std::deque<Wanted> wanted_, later_;
  std::optional<Wanted> asked_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace luminance
