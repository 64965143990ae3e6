#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# camera-to-tensor.sh [SOURCE [PNG]]
# Turns a camera (/dev/video0, until Ctrl-C), a file or a URI into letterboxed, normalised 640x640
# tensors. Without SOURCE: a short clip of pedestrians.
# Prints frames per second, the tensor's shape and type, how the frame lies in it (content and
# geometry matrix) and the mean of each channel. Writes a contact sheet: some frames beside their
# tensors turned back into pictures, and the channels in false colours.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

exec "$build/pipelines/cameratotensor" "${1:-$clip}" --output "${2:-$build/camera-to-tensor.png}"
