# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the tests of packages, which print a line "ok NAME" or "not ok NAME" for each check.

# check NAME COMMAND...: shows the output of a command that fails
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok $name"
  else
    printf '%s\n' "$output"
    echo "not ok $name"
  fi
}

# fails COMMAND...: whether the command fails, but not by a signal
fails() {
  local status=0
  "$@" || status=$?
  [ "$status" -gt 0 ] && [ "$status" -lt 126 ]
}
