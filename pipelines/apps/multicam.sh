#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# multicam.sh [CAMERA... [--loop] [--tensor=PROPERTIES]]
# Makes batches of the pictures of cameras (URIs or files) and hands them to a thread as DLPack
# tensors. Without CAMERA: a short clip four times.
# Prints each camera's frames a second, their age and a value, every other second; cameras that fail
# are begun again.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
need_packages libdlpack-dev
application=pipelines/apps/multicam/multicam
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

[ $# -gt 0 ] || set -- "$clip" "$clip" "$clip" "$clip"
exec "$build/$application" "$@"
