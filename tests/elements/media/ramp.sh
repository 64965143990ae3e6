#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# ramp.sh
# Writes ramp-10bit.h265 beside itself: 20 frames of 960×160 in HEVC Main 10, lossless. The
# luma of column x is min(64 + x, 940), that is every level of the limited range; chroma is 512.
# Needs python3 and GStreamer's x265enc (Debian: gstreamer1.0-plugins-bad).
set -euo pipefail
cd "$(dirname "$0")"
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
python3 - >"$raw" <<'PYTHON'
import array
import sys

row = array.array("H", (min(64 + x, 940) for x in range(960)))
frame = row * 160 + array.array("H", [512]) * (2 * 480 * 80)
sys.stdout.buffer.write((frame * 20).tobytes())
PYTHON
gst-launch-1.0 -q filesrc location="$raw" ! \
  rawvideoparse format=i420-10le width=960 height=160 framerate=25/1 ! \
  x265enc option-string=lossless=1:colorprim=bt709:transfer=bt709:colormatrix=bt709:range=limited ! \
  video/x-h265,profile=main-10 ! h265parse ! video/x-h265,stream-format=byte-stream ! \
  filesink location=ramp-10bit.h265
