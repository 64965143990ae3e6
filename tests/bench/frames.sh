#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# frames.sh PYTHON [--clip FILE] [ARGUMENT...]
# Times gst_cudatensor.Frames and other software, for whole videos and for samples of them, and
# prints Markdown. PYTHON has the package, PyTorch, and those of PyNvVideoCodec, CV-CUDA, DALI,
# torchcodec and PyAV that are timed. The arguments are those of frames.py. Without --clip, makes a
# clip of 74 s in 1080p, with B-frames and a key frame every two seconds, in build-bench-results/.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
[ $# -ge 1 ] || { sed -n '3,/^set/s/^# //p' tests/bench/frames.sh >&2; exit 2; }
python=$1 clip=build-bench-results/long.mp4
shift
if [ "${1:-}" = --clip ]; then
  clip=$2
  shift 2
fi

# make_clip: ten times the clip at 25 frames a second
make_clip() {
  local once=$clip.once parts=() i
  need_packages gstreamer1.0-tools gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
    gstreamer1.0-plugins-ugly gstreamer1.0-libav
  mkdir -p "$(dirname "$clip")"
  quietly gst-launch-1.0 filesrc location=pipelines/media/pedestrians-1080p.mp4 ! decodebin ! videoconvert ! \
    videorate ! video/x-raw,format=I420,framerate=25/1 ! \
    x264enc bitrate=6000 key-int-max=50 bframes=2 speed-preset=medium ! h264parse ! mp4mux ! \
    filesink location="$once"
  for ((i = 0; i < 10; ++i)); do
    parts+=(filesrc location="$once" ! qtdemux ! h264parse ! c.)
  done
  quietly gst-launch-1.0 concat name=c ! h264parse ! mp4mux ! filesink location="$clip.part" \
    "${parts[@]}"
  mv "$clip.part" "$clip"
  rm "$once"
}

[ -e "$clip" ] || make_clip
exec "$python" tests/bench/frames.py "$@" "$clip"
