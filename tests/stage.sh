#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a step of a stage of tests/run.sh. tests/count.py reads the logs of the tests.
#   stage.sh build BUILD_DIR [MESON_OPTION...]
#   stage.sh test BUILD_DIR [OPTION...]     all tests except those of the applications
#   stage.sh wait BUILD_DIR [OPTION...]     the tests of the applications, which mostly wait: for
#                                           cameras, clocks and connections
# The options of the last two are those of meson test.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

step=$1 build=$2
shift 2
run_tests() { meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 "$@"; }

case $step in
  build) build_plugin "$build" "$@" || { echo "${build##*/} does not build" >&2; exit 1; } ;;
  test) run_tests --no-suite apps "$@" ;;
  wait) run_tests --suite apps --num-processes $((4 * $(nproc))) --logbase testlog-apps "$@" ;;
esac
