#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# text-detect.sh CHECK
# Runs textdetect.py with the application's Python packages. If they cannot be downloaded, exits
# with status 77, which means "skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/apps/textdetect/setup.sh

unset DISPLAY WAYLAND_DISPLAY  # no windows are opened
need_text_detect || { echo "skipped: cannot download text-detect's Python packages"; exit 77; }
exec "$text_detect_python" tests/apps/textdetect.py "$@"
