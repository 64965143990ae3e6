#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# text-detect.sh CHECK: textdetect.py with the application's Python packages, or 77 for "skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/apps/textdetect/setup.sh

unset DISPLAY WAYLAND_DISPLAY  # no windows
need_text_detect || { echo "skipped: its Python packages cannot be fetched from PyPI"; exit 77; }
exec "$text_detect_python" tests/apps/textdetect.py "$@"
