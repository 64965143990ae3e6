#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# super-resolution.sh [SOURCE [PNG] [--timeout=SECONDS]]
# Demonstrates the last step of a super-resolution network: splits the first frame of a camera, a
# file or a URI into a tensor with 12 channels of half the size, and combines them into one picture
# with cudapixelshuffle. The default SOURCE is a short clip of pedestrians. Checks for float16 and
# uint8 tensors that the picture equals the frame. Writes a comparison of three pictures: the frame
# at half the size, the same enlarged with nearest-neighbor scaling, and the result, each with the
# detail that differs most. SECONDS limits the wait for a frame (15; 0: no limit).
set -euo pipefail
application=pipelines/superresolution
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

png=$build/super-resolution.png
split_arguments "$@"
need_decoders "$source"
exec "$build/$application" "$source" --output "$png" "${options[@]}"
