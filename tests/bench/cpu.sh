#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# cpu.sh [--write] [OPTION...]
# Times the CPU backend, the newest wheels of OpenCV and Pillow, GstVideoConverter and NumPy, and
# prints a table.
#   --write         writes the table to BENCHMARKS.md
# Other options are passed to tests/bench/cpu.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh

options=()
for option in "$@"; do
  [ "$option" = --write ] && options+=(--write BENCHMARKS.md) || options+=("$option")
done
need_packages "${plugin_packages[@]}" libgtest-dev git python3 python3-venv
build=$root/build-cpu venv=$root/build-bench-venv
quietly python3 -m venv "$venv"
quietly "$venv/bin/pip" install --upgrade numpy opencv-python-headless pillow
[ -e "$build/build.ninja" ] || quietly meson setup -Dgpu=disabled "$build" "$root"
quietly ninja -C "$build" tests/bench/libbench-operations.so
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" tests/bench/cpu.py --commit "$(git describe --always --dirty)" "${options[@]}" \
  "$build/tests/bench/libbench-operations.so" pipelines/media/pedestrians-1080p.mp4
