// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/fault.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace cudatensor {
namespace {

struct Faults {
  std::atomic<int64_t> count{0};
  std::atomic<int64_t> at{0};  // 0: no fault
  std::atomic<bool> sticky{false};
  std::atomic<int> code{0};
};

Faults faults;

}  // namespace

void arm_faults() {
  long long at = 0;
  int code = 0;
  const char *text = std::getenv("CUDATENSOR_FAULT");
  bool sticky = false;
  if (text != nullptr) {
    sticky = std::sscanf(text, "%lld+:%d", &at, &code) == 2;
    if (!sticky && std::sscanf(text, "%lld:%d", &at, &code) != 2) at = 0;
  }
  faults.at = 0;
  faults.count = 0;
  faults.sticky = sticky;
  faults.code = code;
  faults.at = at < 0 ? 0 : at;
}

int next_fault() {
  const int64_t call = ++faults.count;
  const int64_t at = faults.at;
  if (at == 0 || call < at || (call > at && !faults.sticky)) return 0;
  return faults.code;
}

int64_t call_count() { return faults.count; }

}  // namespace cudatensor
