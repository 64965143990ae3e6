#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# archive.sh [OPTION...]
# Times the archive on this machine: jobs with one worker and with two, and the cost of a lost
# worker and a lost node. The options are those of tests/bench/archive.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. tests/ray.sh

need_packages "${plugin_packages[@]}" gstreamer1.0-plugins-bad gstreamer1.0-libav python3 python3-venv
need_ray
build=$root/build
build_plugin "$build"
export GST_PLUGIN_PATH_1_0=$build/gst PYTHONPATH=$root/gst/python PYTHONDONTWRITEBYTECODE=1 \
  GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0 RAY_USAGE_STATS_ENABLED=0
"$CUDATENSOR_TEST_RAY" -W ignore tests/bench/archive.py "$@"
"$CUDATENSOR_TEST_RAY" -W ignore tests/archive/lost.py --seconds
