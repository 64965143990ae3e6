// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatensor {

/// Returns a reference to a heap-allocated result of `make` that is never destroyed. Use it for
/// static variables that other threads may still access while the process exits.
template <class Make>
auto &immortal(Make make) {
  return *new auto(make());
}

}  // namespace cudatensor
