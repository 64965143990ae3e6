#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# super-resolution.sh [SOURCE [PNG] [--timeout=SECONDS]]
# Plays the last step of a super-resolution network: splits the first frame of a camera, a file or a
# URI into a tensor of 12 channels of half its size, and lets cudapixelshuffle make one picture of
# them. Without SOURCE: a short clip of pedestrians.
# Prints that the picture equals the frame, for float16 and uint8 tensors, or fails. Writes it beside the
# frame at half its size and that enlarged by nearest neighbour, each with the detail that differs most.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

source=${1:-$clip} png=$build/super-resolution.png
[ $# -eq 0 ] || shift
case ${1:-} in '' | -*) ;; *) png=$1; shift ;; esac
exec "$build/pipelines/superresolution" "$source" --output "$png" "$@"
