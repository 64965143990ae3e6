#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# stage.sh BUILD_DIR [MESON_OPTION...]
# Builds in BUILD_DIR and runs all its tests. Their logs are for tests/count.py.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

build_plugin "$@" || { echo "${1##*/} does not build" >&2; exit 1; }
exec meson test -C "$1" --no-rebuild --print-errorlogs --timeout-multiplier 3
