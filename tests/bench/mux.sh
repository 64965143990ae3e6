#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# mux.sh
# Measures the time that cudatensormux adds to the operation for a complete set of live frames on
# this machine's CPU. Prints Markdown with the medians of 200 batches.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh

need_packages "${plugin_packages[@]}" libgtest-dev
build=$root/build-cpu
[ -e "$build/build.ninja" ] || quietly meson setup -Dgpu=disabled "$build" "$root"
quietly ninja -C "$build" gst/libgstcudatensor.so tests/bench/bench-mux
GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/bench-registry.bin exec "$build/tests/bench/bench-mux" cpu
