#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# bench.sh [OPTION...]
# Measures the CPU time of luminance-monitor per camera on this machine, and that of decoding the
# same files alone. Prints Markdown. The options are those of bench.py.
set -euo pipefail
cd "$(dirname "$0")"
. ../setup.sh

need_packages "${build_packages[@]}" gstreamer1.0-libav gstreamer1.0-plugins-ugly gstreamer1.0-tools python3
need_plugin ''
# shellcheck disable=SC2154  # app is set by setup.sh
build=$app/build-release
[ -e "$build/build.ninja" ] || quietly meson setup -Dtests=false "$build" "$app"
quietly meson compile -C "$build"
GST_PLUGIN_PATH=$(pkg-config --variable=pluginsdir gstcudatensor-1.0) GST_REGISTRY=$build/bench-registry.bin \
  exec python3 bench.py "$build/luminance-monitor" "$@"
