#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# text-detect.sh [SOURCE] [OPTION...]
# Finds text in the pictures of a camera (/dev/video0, until Ctrl-C), a file or a URI, and draws
# boxes around it. The default SOURCE is a frame of a short clip, with a sign. A frame takes a second on
# two cores.
# Prints the position of the text in each frame, and shows the frames if there is a display. Without
# --output and --json, writes the frame with the most text to build-scripts/text-detect.jpg.
#   --output FILE        write the frame with the most text as .jpg or .png, or all frames as .webm
#   --json               print a line of JSON per frame: pts (ns), quads (pixels), scores
#   --headless           do not open a window
#   --frames N           stop after N frames
#   --timeout SECONDS    fail if SOURCE sends no frame for this time (15; 0: no limit)
#   --start SECONDS      position in a file at which to start
#   --min-side PIXELS    enlarge frames whose shorter side is smaller (1088)
#   --size WIDTHxHEIGHT  letterbox every frame into a tensor of this size
set -euo pipefail
application=
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/textdetect/setup.sh"

need_decoders "$@"
[ -z "${DISPLAY:-}" ] || need_packages gstreamer1.0-x
need_text_detect || { echo "text-detect: cannot download its Python packages" >&2; exit 1; }
export PYTHONPATH=$root/gst/python${PYTHONPATH:+:$PYTHONPATH}
export GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0
BUILD_DIR=$build exec "$text_detect_python" "$root/pipelines/apps/textdetect" "$@"
