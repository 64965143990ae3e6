#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# aarch64.sh [TEST...]
# Builds the plugin for 64-bit ARM without CUDA and runs tests in an emulator, QEMU, in a root of Debian 12
# with its cross compiler, build-aarch64-root/. The build is in build-aarch64/. TEST: names of Meson
# tests, by default those of the kernels. Needs root; exits with 125 if such a root cannot be made.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. tests/roots.sh
. tests/cross.sh

base=$root/build-aarch64-root build=$root/build-aarch64
# The build uses Python to generate files; tests that use it need this machine's processor.
packages=("${cross_packages[@]}" qemu-user-static
  {libgstreamer1.0,libgstreamer-plugins-base1.0,libhwy,libtbb,libyaml,libgtest}-dev:arm64 nlohmann-json3-dev
  gstreamer1.0-plugins-base:arm64 gstreamer1.0-plugins-good:arm64)

inside() { in_cross_root "$base" "$@"; }

if [ "${AARCH64_ENTERED:-}" = yes ]; then
  show "$base" /proc /dev "$root" ${CCACHE_DIR:+"$CCACHE_DIR"}
  mkdir -p "$build"
  cross_file >"$build/cross"
  [ -e "$build/build.ninja" ] || inside meson setup --cross-file "$build/cross" -Dgpu=disabled \
    -Dapplications=disabled -Dintrospection=disabled -Dpython_package=disabled "$build"
  inside meson compile -C "$build" gstcudatensor
  inside meson test -C "$build" --timeout-multiplier 20 --print-errorlogs "${@:-kernels}"
  exit
fi

check_rights
need_root bookworm "$base" "${packages[*]}" --architectures=amd64,arm64
AARCH64_ENTERED=yes exec unshare --mount --propagation private -- "$0" "$@"
