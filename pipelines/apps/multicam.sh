#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# multicam.sh [CAMERA... [--loop] [--tensor=PROPERTIES]]
# Combines the pictures of cameras (URIs or files) into batches and passes them to a thread as
# DLPack tensors. The default is four times a short clip. Every two seconds, prints the frames per
# second of each camera, their age, and the value of a pixel. Cameras that fail are reconnected.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
need_packages libdlpack-dev
application=pipelines/apps/multicam/multicam
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

[ $# -gt 0 ] || set -- "$clip" "$clip" "$clip" "$clip"
exec "$build/$application" "$@"
