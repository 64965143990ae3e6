#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# threads.sh [MESON_TEST_ARGUMENT...]
# Builds the clone of gst-cudatensor and luminance-monitor with ThreadSanitizer, in build-threads/, and runs
# all tests of the monitor, or those that the arguments name. A data race is a failure. The clone has the
# annotations of GLib's locks and the list of races in other libraries. Takes half an hour.
set -euo pipefail
cd "$(dirname "$0")"
. ../setup.sh

need_packages "${build_packages[@]}" "${plugin_packages[@]}" "${test_packages[@]}" libdlpack-dev
# shellcheck disable=SC2154  # set by setup.sh
build=$app/build-threads
[ -e "$build/build.ninja" ] ||
  quietly meson setup -Dgpu=disabled -Dmonitor=enabled -Dapplications=disabled -Dbuildtype=debugoptimized \
    -Db_lundef=false -Db_sanitize=thread "$build" "$clone"
quietly meson compile -C "$build"
tests=("$@")
[ $# -gt 0 ] || tests=(--suite luminance-monitor)
# ThreadSanitizer does not start if address randomization moves memory outside its map.
exec setarch --addr-no-randomize meson test -C "$build" --no-rebuild --print-errorlogs "${tests[@]}"
