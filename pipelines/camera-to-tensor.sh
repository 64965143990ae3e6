#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# camera-to-tensor.sh [SOURCE [PNG] [--timeout=SECONDS]]
# Converts the video of a camera (/dev/video0, until Ctrl-C), a file or a URI to the tensors that
# Ultralytics' networks take: letterboxed to 640x640, from 0 to 1. The default SOURCE is a short
# clip of pedestrians. Prints the frames per second, the tensor's shape and type, the position of
# the frame in the tensor (content and geometry matrix) and the mean of each channel. Writes a
# contact sheet: some frames, as they are stored, beside their tensors as pictures, which are
# upright, and the channels in gray. If the frame size of a camera changes, the sheet shows the
# first frame of each size. If a camera fails or sends no frame for SECONDS (15; 0: no limit), the
# script prints and writes the results up to then, and exits with status 1.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

png=$build/camera-to-tensor.png
split_arguments "$@"
need_decoders "$source"
exec "$build/$application" "$source" --output "$png" "${options[@]}"
