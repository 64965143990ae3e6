#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Times the CPU backend beside OpenCV's newest wheel. Arguments go to tests/bench/cpu.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh

need_packages "${plugin_packages[@]}" libgtest-dev python3 python3-venv
build=$root/build-cpu venv=$root/build-bench-venv
quietly python3 -m venv "$venv"
quietly "$venv/bin/pip" install --upgrade numpy opencv-python-headless
[ -e "$build/build.ninja" ] || quietly meson setup -Dgpu=disabled "$build" "$root"
quietly ninja -C "$build" tests/bench/libbench-operations.so
exec "$venv/bin/python" tests/bench/cpu.py "$@" "$build/tests/bench/libbench-operations.so"
