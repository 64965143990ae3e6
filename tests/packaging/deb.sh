#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# deb.sh [DIR]
# Tests the packages that packaging/deb.sh built in DIR, by default build-deb/: installs them in a root of
# Debian 12, build-deb-root/, and runs their contents; then builds luminance-monitor's folder alone
# against them. Needs root; exits with 125 if such a root cannot be made. The last line is
# "N passed, N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. tests/roots.sh
. tests/packaging/checks.sh
dir=$(realpath "${1:-build-deb}")
base=$root/build-deb-root monitor=pipelines/apps/luminance-monitor

inside() {
  chroot "$base" /usr/bin/env -i --chdir=/try HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

install_packages() {
  local file names=()
  for file in "$dir"/*.deb; do names+=("./${file##*/}"); done
  inside apt-get -q update && inside apt-get -qy --no-install-recommends install "${names[@]}"
}

remove_packages() {
  local file names=()
  for file in "$dir"/*.deb; do names+=("$(dpkg-deb --field "$file" Package)"); done
  inside apt-get -qy purge "${names[@]}"
}

none_left() { [ -z "$(find "$base/usr" -name '*cudatensor*' -o -name '*luminance*')" ]; }

# The root contains nothing else of this repository.
# shellcheck disable=SC2016  # for the shell there
build_monitor() {
  inside bash -ec '
    . luminance-monitor/setup.sh
    need_packages "${build_packages[@]}"
    pkg-config --exists gstcudatensor-1.0
    need_plugin
    [ ! -e luminance-monitor/build-prefix ]
    meson setup -Dtests=false --buildtype=debug build luminance-monitor
    meson compile -C build
    build/luminance-monitor --no-web --no-history --headless --fast pedestrians.webm'
}

if [ "${DEB_ENTERED:-}" = yes ]; then
  show "$base" /proc /dev
  check 'apt installs the packages' install_packages
  check 'gst-inspect-1.0' inside gst-inspect-1.0 cudatensor
  check 'a clip' inside gst-launch-1.0 -q filesrc location=pedestrians.webm ! decodebin ! \
    cudanormalize width=64 height=64 ! fakesink
  check 'the Python package' inside python3 -m gst_cudatensor
  check 'gst-cudatensor-model-config' inside gst-cudatensor-model-config preprocessor_config.json
  check 'luminance-monitor' inside luminance-monitor --version
  check 'luminance-monitor is built against them, alone' build_monitor
  check 'apt removes the packages' remove_packages
  check 'no file is left' none_left
  exit 0
fi

packages() {
  check_rights
  need_root bookworm "$base" 'ca-certificates gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good'
  rm -rf "$base/try"
  mkdir -p "$base/try/luminance-monitor"
  git ls-files -z "$monitor" | (cd "$monitor" && sed -z "s|^$monitor/||" | xargs -0 cp --parents -t "$base/try/luminance-monitor")
  cp "$dir"/*.deb pipelines/media/pedestrians.webm pipelines/media/preprocessor_config.json "$base/try/"
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
  DEB_ENTERED=yes unshare --mount --propagation private -- "$0" "$dir"
}

counted packages
