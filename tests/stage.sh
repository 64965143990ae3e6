#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a step of a stage of tests/run.sh. tests/count.py reads the logs of the tests.
#   stage.sh build BUILD_DIR [MESON_OPTION...]
#   stage.sh test BUILD_DIR [OPTION...]     all tests except those that mostly wait:
#   stage.sh apps BUILD_DIR [OPTION...]     the applications, for cameras, clocks and connections
#   stage.sh workers BUILD_DIR [OPTION...]  the archive, for lost workers
# The options of the last three are those of meson test.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

step=$1 build=$2
shift 2
run_tests() { meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 "$@"; }

case $step in
  build) build_plugin "$build" "$@" || { echo "${build##*/} does not build" >&2; exit 1; } ;;
  test) run_tests --no-suite apps --no-suite workers "$@" ;;
  apps) run_tests --suite apps --num-processes $((4 * $(nproc))) --logbase testlog-apps "$@" ;;
  workers) run_tests --suite workers --logbase testlog-workers "$@" ;;
esac
