// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks up functions of a library that is loaded at run time.
#pragma once

#include <gmodule.h>

namespace cudatensor {

/// Sets `function` to the function of this name, or to null. Returns whether there is one.
template <class Function>
bool find(GModule *module, const char *name, Function &function) {
  gpointer symbol = nullptr;
  const bool found = g_module_symbol(module, name, &symbol);
  function = found ? reinterpret_cast<Function>(symbol) : nullptr;
  return found;
}

}  // namespace cudatensor
