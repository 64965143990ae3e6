#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fixed-point.sh [FILE [PNG]]
# Resizes the first NV12 frame of a video file to 1024x768 and crops 640x480 from its center, in one
# step and in integer arithmetic, with the same bits on every machine. The default FILE is a clip of
# pedestrians. Writes the crop to PNG and prints its path.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"
file=${1:-$clip} png=${2:-$build/fixed-point.png}

gst-launch-1.0 -q filesrc location="$file" ! decodebin ! videoconvert ! video/x-raw,format=NV12 ! \
  cudanv12toyuv444 resize-width=1024 resize-height=768 crop-x=192 crop-y=144 ! \
  video/x-raw,width=640,height=480 ! videoconvert ! pngenc snapshot=true ! filesink location="$png"
echo "Wrote the crop of 640x480 at (192, 144) in 1024x768: $png"
