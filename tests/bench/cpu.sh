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
# Pillow-SIMD is built for this processor, without what reads files.
export CUDATENSOR_BENCH_PILLOW_SIMD=$venv/pillow-simd
if ! [ -e "$venv/pillow-simd/PIL" ] && ! CC='cc -march=native' quietly "$venv/bin/pip" install --no-deps \
  --no-binary pillow-simd --target "$venv/pillow-simd" -C jpeg=disable -C zlib=disable pillow-simd; then
  echo 'Pillow-SIMD cannot be built: left out' >&2
fi
[ -e "$build/build.ninja" ] || quietly meson setup -Dgpu=disabled "$build" "$root"
quietly ninja -C "$build" tests/bench/libbench-operations.so
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" tests/bench/cpu.py --commit "$(git describe --always --dirty)" "${options[@]}" \
  "$build/tests/bench/libbench-operations.so" pipelines/media/pedestrians-1080p.mp4
