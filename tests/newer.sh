#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# newer.sh [--debian RELEASE] COMMAND...
# Runs COMMAND in this repository on another release of Debian, in the root build-RELEASE-root/, which
# is made first if it is missing. The releases are trixie, the default
# (Debian 13: GStreamer 1.26, g++ 14), and forky, which becomes Debian 14 (GStreamer 1.28). The
# repository, and nvcc if it is in PATH, have the same paths there as here. Needs root.
# Packages come from apt's own mirror of Debian, or from $DEBIAN_MIRROR.
# Exits with 125, and prints the reason, if that cannot be done.
set -euo pipefail
suite=trixie entered=
[ "${1:-}" != --entered ] || { entered=yes; shift; }
if [ "${1:-}" = --debian ] && [ $# -gt 1 ]; then
  suite=$2
  shift 2
fi
[ $# -gt 0 ] || { echo "usage: $0 [--debian RELEASE] COMMAND..." >&2; exit 2; }
command=$(realpath "$0")
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. tests/roots.sh

base=$root/build-$suite-root
packages=("${plugin_packages[@]}" ccache libgtest-dev libdlpack-dev
  libgirepository1.0-dev python3 python3-gi python3-numpy python3-onnx python3-venv
  gir1.2-gst-plugins-base-1.0 gir1.2-gst-plugins-bad-1.0 gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-bad
  libgstreamer-plugins-bad1.0-0 gstreamer1.0-plugins-ugly gstreamer1.0-libav)

# Packages for the survey of Transformers' classes, which need this PyTorch, and for the program of
# onnxruntime.md.
[ "$suite" != trixie ] || packages+=(python3-torch python3-torchvision libonnxruntime-dev)

# Only the headers of libgstcuda are unpacked, because their package depends on OpenCV's.
# shellcheck disable=SC2016  # mmdebstrap hands the variables over
add_headers='cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -q download \
  libgstreamer-plugins-bad1.0-dev && dpkg -x ./*.deb "$1" && rm ./*.deb'

# Runs in a separate namespace, whose mounts end with its last process.
enter() {
  local path=/usr/sbin:/usr/bin:/sbin:/bin nvcc toolkit
  show "$base" /proc /sys /dev "$root" ${CCACHE_DIR:+"$CCACHE_DIR"}
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
  if nvcc=$(command -v nvcc); then
    toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
    case $toolkit in /usr | "$root"/*) ;; *) show "$base" "$toolkit" ;; esac
    path=$toolkit/bin:$path
  fi
  # The root has no Git.
  exec chroot "$base" /usr/bin/env -i --chdir="$root" HOME=/root LANG=C.UTF-8 PATH="$path" \
    CCACHE_DIR="${CCACHE_DIR:-/root/.cache/ccache}" CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 \
    COMMIT="$(git describe --always --dirty 2>/dev/null || true)" "$@"
}

[ -z "$entered" ] || enter "$@"
check_rights
need_root "$suite" "$base" "${packages[*]}" --customize-hook="$add_headers"
exec unshare --mount --propagation private -- "$command" --entered --debian "$suite" "$@"
