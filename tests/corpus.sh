#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# corpus.sh BUILD [--all]
# Compares Frames and pipelines of a build, for example build-cpu, with FFmpeg, on videos of many pixel
# formats, ranges, matrices, orientations and cuts. FFmpeg is unpacked from a wheel in build-ffmpeg/.
set -euo pipefail
[ -d "${1:-}" ] || { echo "usage: $0 BUILD [--all]" >&2; exit 2; }
build=$(realpath "$1")
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. tests/references.sh
need_packages python3 python3-gi python3-numpy gir1.2-gst-plugins-base-1.0 gstreamer1.0-libav \
  gstreamer1.0-plugins-good
need_ffmpeg
# shellcheck disable=SC2154  # root is set by pipelines/setup.sh
export GST_PLUGIN_PATH_1_0=$build/gst PYTHONPATH=$root/gst/python
export GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0
/usr/bin/python3 tests/frames/corpus.py "${@:2}"
