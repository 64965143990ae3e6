#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# batch.sh FILE.jpg
# Writes a batch of cudatensormux as a picture, with one slot below the other: three cameras with
# different sizes and formats, and an empty slot for a fourth.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FILE.jpg" >&2; exit 2; }
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
# A tensor of 8-bit samples in NHWC has the same bytes as a picture.
quietly gst-launch-1.0 cudatensormux name=mux batch-size=4 width=320 height=180 \
  resize-mode=ultralytics dtype=uint8 layout=nhwc ! identity eos-after=2 ! filesink location="$raw" \
  filesrc location="$clip" ! matroskademux ! vp8dec ! mux.sink_0 \
  videotestsrc num-buffers=20 ! video/x-raw,format=RGB,width=640,height=360,framerate=10/1 ! mux.sink_1 \
  videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=NV12,width=180,height=320,framerate=10/1 ! mux.sink_2
quietly gst-launch-1.0 filesrc location="$raw" num-buffers=1 blocksize=691200 ! \
  rawvideoparse format=rgb width=320 height=720 ! videoconvert ! jpegenc quality=90 ! \
  filesink location="$1"
