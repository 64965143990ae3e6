#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# clips.sh DIR
# Makes clips of 25 frames in DIR with Debian's ffmpeg: one for each suffix that gst_cudatensor.archive
# takes, and others with codecs that such files use. Fails if a suffix is missing. Some have sound,
# which the wheel cannot decode.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
dir=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
. pipelines/setup.sh

picture=(-i pipelines/media/pedestrians.webm -vf 'scale=352:288,fps=25' -frames:v 25 -pix_fmt yuv420p)
sound=(-f lavfi -i 'sine=duration=1:sample_rate=44100')
x265=(-c:v libx265 -x265-params log-level=none)

# silent FILE OPTION..., with_sound FILE OPTION...: make a clip with options of ffmpeg
silent() { ffmpeg -nostdin -v error -i "${picture[1]}" -an "${picture[@]:2}" "${@:2}" "$dir/$1"; }
with_sound() { ffmpeg -nostdin -v error "${sound[@]}" "${picture[@]}" "${@:2}" "$dir/$1"; }

streams() {
  silent h264.h264 -c:v libx264 -f h264
  silent h265.h265 "${x265[@]}" -f hevc
  cp "$dir/h265.h265" "$dir/h265.hevc"
  silent jpeg.mjpeg -c:v mjpeg -pix_fmt yuvj420p -f mjpeg
  cp "$dir/jpeg.mjpeg" "$dir/jpeg.mjpg"
  silent raw.y4m -f yuv4mpegpipe
  silent vp8.ivf -c:v libvpx -f ivf
  silent vp9.ivf -c:v libvpx-vp9 -deadline realtime -f ivf
}

containers() {
  with_sound h263.3gp -c:v h263 -c:a aac -f 3gp
  with_sound mpeg4.avi -c:v mpeg4 -c:a mp3 -f avi
  with_sound msmpeg4.avi -c:v msmpeg4 -c:a mp3 -f avi
  with_sound h264.flv -c:v libx264 -c:a aac -f flv
  silent sorenson.flv -c:v flv -f flv
  with_sound h264.m2ts -c:v libx264 -c:a ac3 -f mpegts -mpegts_m2ts_mode 1
  with_sound h264.m4v -c:v libx264 -c:a aac -f ipod
  with_sound h265.mkv "${x265[@]}" -c:a aac -f matroska
  with_sound h265.mov "${x265[@]}" -c:a pcm_s16le -tag:v hvc1 -f mov
  with_sound h264.mp4 -c:v libx264 -c:a aac -f mp4
  with_sound mpeg1.mpeg -c:v mpeg1video -c:a mp2 -f mpeg
  with_sound mpeg2.mpg -c:v mpeg2video -c:a mp2 -f vob
  with_sound h264.mts -c:v libx264 -c:a ac3 -f mpegts
  with_sound theora.ogv -c:v libtheora -c:a libvorbis -f ogg
  with_sound mpeg2.ts -c:v mpeg2video -c:a mp2 -f mpegts
  with_sound vp9.webm -c:v libvpx-vp9 -deadline realtime -c:a libopus -f webm
  with_sound wmv1.wmv -c:v wmv1 -c:a wmav2 -f asf
  with_sound wmv2.wmv -c:v wmv2 -c:a wmav2 -f asf
}

# Reads the archive's suffixes from its source, because its module needs packages that may be
# missing.
suffixes() {
  /usr/bin/python3 - gst/python/gst_cudatensor/archive/listing.py <<'END'
import ast
import sys

for node in ast.parse(open(sys.argv[1]).read()).body:
    if isinstance(node, ast.Assign) and node.targets[0].id == "VIDEO_SUFFIXES":
        print(*sorted(eval(ast.unparse(node.value))), sep="\n")
END
}

need_packages ffmpeg python3
rm -rf "$dir"
mkdir -p "$dir"
streams
containers
listed=$(suffixes)
[ -n "$listed" ] || { echo 'clips.sh: the archive has no suffixes' >&2; exit 1; }
for suffix in $listed; do
  [ -n "$(find "$dir" -name "*$suffix")" ] || { echo "clips.sh: there is no clip *$suffix" >&2; exit 1; }
done
