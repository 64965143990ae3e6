# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tests that are scripts, which print a line "ok NAME", "not ok NAME" or "skipped: WHY" for each
# check.

# check NAME COMMAND...: runs a command and prints the check's line; shows the output if it fails. Each
# command of a function counts, as in a script with "set -e", which does not hold within a condition.
check() {
  local name=$1 output status
  shift
  set +e
  output=$(set -e; "$@" 2>&1)
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    echo "ok $name"
  else
    printf '%s\n' "$output"
    echo "not ok $name"
  fi
}

# summary LOG: prints the line "N passed, N failed, N skipped". Fails if a check has failed, or if
# there is none.
summary() {
  local passed failed skipped
  passed=$(grep -c '^ok ' "$1") failed=$(grep -c '^not ok ' "$1") skipped=$(grep -c '^skipped: ' "$1")
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
}

# counted FUNCTION: runs the checks of a function, prints the summary and fails if that fails. It is
# a failure if the function ends early. If it ends with 125, it cannot run here, and so this ends
# with 125.
counted() {
  local log status
  log=$(mktemp)
  set +e  # The first failing command stops the function, but not this one.
  (set -e; "$@") 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  case $status in
    0) ;;
    125) echo "skipped: ${0##*/} cannot be run here" | tee -a "$log" ;;
    *) echo "not ok ${0##*/} ends early, with $status" | tee -a "$log" ;;
  esac
  summary "$log" || status=1
  rm -f "$log"
  set -e
  return "$status"
}
