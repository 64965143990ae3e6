#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# monitor.sh
# Measures the CPU time of luminance-monitor per camera on this machine, and that of decoding the
# same files alone. Prints Markdown.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. pipelines/apps/luminance-monitor/setup.sh

need_packages "${plugin_packages[@]}" "${monitor_packages[@]}" gstreamer1.0-libav \
  gstreamer1.0-plugins-ugly python3
build=$root/build-cpu program=pipelines/apps/luminance-monitor/luminance-monitor
if [ ! -e "$build/build.ninja" ]; then
  quietly meson setup -Dgpu=disabled "$build" "$root"
elif [ ! -e "$build/$program" ]; then
  quietly meson setup --reconfigure "$build" "$root"
fi
quietly ninja -C "$build" gst/libgstcudatensor.so "$program"
GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/bench-registry.bin \
  exec python3 tests/bench/monitor.py "$build/$program"
