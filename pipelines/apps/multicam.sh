#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# multicam.sh [CAMERA... [--loop] [--tensor=PROPERTIES]]
# Combines the pictures of cameras (URIs or files) into batches and passes them to a thread as
# DLPack tensors. The default is four times a short clip. Every two seconds, prints the frames per
# second of each camera, their age, and the value of a pixel. Cameras that fail are reconnected.
set -euo pipefail
application=pipelines/multicam/multicam
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

cameras=("$clip" "$clip" "$clip" "$clip")
for argument; do
  case $argument in -*) ;; *) cameras=(); break ;; esac
done
need_decoders "$@"
exec "$build/$application" "${cameras[@]}" "$@"
