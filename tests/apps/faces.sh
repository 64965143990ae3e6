#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# faces.sh CHECK
# Runs faces.py with the application's Python packages. If they cannot be downloaded, exits with
# status 77, which means "skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/apps/faces/setup.sh

need_faces || { echo "skipped: cannot download faces' Python packages"; exit 77; }
exec "$faces_python" tests/apps/faces.py "$@"
