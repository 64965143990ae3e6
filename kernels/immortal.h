// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatensor {

/// What `make` returns, for a static variable that is never destroyed: threads may still use it
/// when the process ends and destroys its other statics.
template <class Make>
auto &immortal(Make make) {
  return *new auto(make());
}

}  // namespace cudatensor
