// SPDX-License-Identifier: LGPL-2.1-or-later
// Spares LeakSanitizer a false finding in GLib. A program includes this once.
//
// GLib keeps the old table when its table of quarks grows, because readers take no lock, and
// LeakSanitizer reports it as a leak. A suppression would need GLib's functions in the stack, which
// only the slow unwinder finds: it makes the tests take many times as long.
#pragma once

#include <glib.h>

#include <string>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>

namespace cudatensor::quarks {

constexpr int kBlock = 2048;  // quarks by which the table grows

/// Pointers that LeakSanitizer finds: to the first blocks of the size of GLib's first table, which
/// is allocated before main().
inline const volatile void *volatile first_blocks[8];
inline int count;

}  // namespace cudatensor::quarks

/// Called by AddressSanitizer after each allocation.
extern "C" void __sanitizer_malloc_hook(const volatile void *memory, size_t size);
extern "C" void __sanitizer_malloc_hook(const volatile void *memory, size_t size) {
  using namespace cudatensor::quarks;
  if (size == kBlock * sizeof(char *) && count < 8) first_blocks[count++] = memory;
}
#endif

namespace cudatensor {

/// Makes the table of quarks so large that it hardly grows again. Call this first.
inline void grow_quarks() {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler disabler;
  for (int i = 0; i <= quarks::kBlock; ++i)
    g_quark_from_string(("cudatensor-test-" + std::to_string(i)).c_str());
#endif
}

}  // namespace cudatensor
