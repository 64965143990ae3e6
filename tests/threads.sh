#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# threads.sh [MESON_TEST_ARGUMENT...]
# Builds with ThreadSanitizer in build-threads/ and runs the tests of the elements, the library and
# the applications, or the tests that the arguments name, for example "threads.sh
# elements-tensormux". A data race is a failure; tests/tsan.supp lists races in other libraries. Too
# slow for CI.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

need_packages "${plugin_packages[@]}" libgtest-dev libdlpack-dev python3 \
  python3-gi python3-numpy gir1.2-gst-plugins-base-1.0 gir1.2-gst-rtsp-server-1.0
build_plugin "$PWD/build-threads" -Dgpu=disabled -Dbuildtype=debugoptimized -Db_lundef=false \
  -Db_sanitize=thread

tests=("$@")
[ $# -gt 0 ] || tests=(--suite threads --suite elements --suite interop --suite apps)
# ThreadSanitizer does not start if address randomization moves memory outside its map.
exec setarch --addr-no-randomize meson test -C build-threads --no-rebuild --print-errorlogs \
  "${tests[@]}"
