#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# counted.sh [FUNCTION]
# Tests how checks.sh counts. With FUNCTION, one of those below, runs its checks.
set -euo pipefail
. "$(dirname "$0")/checks.sh"

passes() { check one true; }
fails_once() { check one true; check two false; }
ends_early() { check one true; false; check two true; }
cannot_run() { exit 125; }
cannot_go_on() { check one false; exit 125; }
checks_nothing() { :; }
goes_on() { false; true; }
goes_on_after_a_failure() { check one goes_on; }

if [ $# -eq 1 ]; then
  counted "$1"
  exit
fi

# expect FUNCTION STATUS SUMMARY: checks the status and the summary of a function
expect() {
  local status=0 output
  output=$("$0" "$1") || status=$?
  [ "$status" = "$2" ] && [ "$(tail -n 1 <<<"$output")" = "$3" ] && return
  printf 'counted.sh: %s ends with %d:\n%s\n' "$1" "$status" "$output" >&2
  exit 1
}

expect passes 0 '1 passed, 0 failed, 0 skipped'
expect fails_once 1 '1 passed, 1 failed, 0 skipped'
expect ends_early 1 '1 passed, 1 failed, 0 skipped'
expect cannot_run 125 '0 passed, 0 failed, 1 skipped'
expect cannot_go_on 1 '0 passed, 1 failed, 1 skipped'
expect checks_nothing 1 '0 passed, 0 failed, 0 skipped'
expect goes_on_after_a_failure 1 '0 passed, 1 failed, 0 skipped'
