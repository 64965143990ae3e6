#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# stage.sh BUILD_DIR [MESON_OPTION...]
# Builds in BUILD_DIR and runs all its tests. Their logs are for tests/count.py.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

build_plugin "$@" || { echo "${1##*/} does not build" >&2; exit 1; }
# Those of the applications mostly wait: for cameras, clocks, reconnects.
run_tests() { meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 "$@"; }
build=$1 status=0
run_tests --no-suite apps || status=1
run_tests --suite apps --num-processes $((4 * $(nproc))) --logbase testlog-apps || status=1
exit "$status"
