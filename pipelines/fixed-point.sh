#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fixed-point.sh [SOURCE [PNG] [--timeout=SECONDS]]
# Resizes the first frame of a camera, a file or a URI to 1024x768 and crops 640x480 from its center,
# in one step and in integer arithmetic, with the same bits on every machine. The default SOURCE is a
# short clip of pedestrians. Writes the crop to PNG and prints its path. SECONDS limits the wait for a
# frame (15; 0: no limit).
set -euo pipefail
application=pipelines/fixedpoint
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

png=$build/fixed-point.png
split_arguments "$@"
need_decoders "$source"
exec "$build/$application" "$source" --output "$png" "${options[@]}"
