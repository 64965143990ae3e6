#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# camera-to-tensor.sh [SOURCE [PNG] [--timeout=SECONDS]]
# Turns a camera (/dev/video0, until Ctrl-C), a file or a URI into the tensors that Ultralytics'
# networks take: letterboxed to 640x640, from 0 to 1. Without SOURCE: a short clip of pedestrians.
# Prints frames per second, the tensor's shape and type, how the frame lies in it (content and
# geometry matrix) and the mean of each channel. Writes a contact sheet: some frames beside their
# tensors turned back into pictures, and the channels in grey; of a camera that changes its
# size, the first frame of each. A camera that fails, or is silent for SECONDS (15; 0: for ever), ends
# it, with all this of what came before, and the exit status 1.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

source=${1:-$clip} png=$build/camera-to-tensor.png
[ $# -eq 0 ] || shift
case ${1:-} in '' | -*) ;; *) png=$1; shift ;; esac
exec "$build/pipelines/cameratotensor" "$source" --output "$png" "$@"
