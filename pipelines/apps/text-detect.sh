#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# text-detect.sh [SOURCE] [OPTION...]
# Finds text in the pictures of a camera (/dev/video0, until Ctrl-C), a file or a URI, and draws
# boxes around it. Without SOURCE: a short clip of pedestrians and a sign. --help lists the options.
# Prints where text is, frame by frame. Shows the frames where there is a display. Writes the one
# with the most text to build/text-detect.jpg where neither --output nor --json is given.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/textdetect/setup.sh"

[ -z "${DISPLAY:-}" ] || need_packages gstreamer1.0-x
need_text_detect || { echo "text-detect: its Python packages cannot be fetched" >&2; exit 1; }
export PYTHONPATH=$root/gst/python${PYTHONPATH:+:$PYTHONPATH}
export GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0
BUILD_DIR=$build exec "$text_detect_python" "$root/pipelines/apps/textdetect" "$@"
