#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# newer.sh [--debian RELEASE] COMMAND...
# Runs COMMAND in this repository on another release of Debian: in a root of its own,
# build-RELEASE-root/, which is made first where it is missing. The releases are trixie, the default
# (Debian 13: GStreamer 1.26, g++ 14), and forky, which Debian 14 comes from (GStreamer 1.28). The
# repository, and nvcc where there is one in PATH, lie there as they do here. Needs root.
# Packages come from apt's own mirror of Debian, or from $DEBIAN_MIRROR.
# Ends with 125, and a line that says why, where that cannot be done.
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
. pipelines/apps/luminance-monitor/setup.sh

base=$root/build-$suite-root
packages=("${plugin_packages[@]}" "${monitor_packages[@]}" ccache libgtest-dev libdlpack-dev
  libgirepository1.0-dev python3 python3-gi python3-numpy python3-onnx python3-venv
  gir1.2-gst-plugins-base-1.0 gir1.2-gst-plugins-bad-1.0 gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-bad
  libgstreamer-plugins-bad1.0-0 gstreamer1.0-plugins-ugly gstreamer1.0-libav)

cannot() { echo "newer.sh: $*" >&2; exit 125; }

# What apt has been told about the network here holds there as well.
apt_options() {
  apt-config dump Acquire | grep -E '^Acquire::(Check-(Date|Valid-Until)|https?::.*) ' || true
  echo 'APT::Install-Recommends "false"; APT::Sandbox::User "root"; Acquire::Languages "none";'
}

# known_mirror: where apt gets this Debian from, which has other releases beside it.
# shellcheck disable=SC2016  # apt fills these in
known_mirror() {
  apt-get indextargets --format '$(CODENAME) $(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null |
    sed -n '/^[^ -]* /{ s/^[^ ]* //p; q }'
}

# find_mirror: sets mirror.
find_mirror() {
  mirror=${DEBIAN_MIRROR:-$(known_mirror)}
  if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
    apt_get update || true  # its lists may have been removed
    mirror=$(known_mirror)
  fi
  [ -n "$mirror" ] || cannot 'apt has no mirror of Debian here; DEBIAN_MIRROR=URI names one'
}

# The headers of libgstcuda come alone: their package depends on OpenCV's.
# shellcheck disable=SC2016  # mmdebstrap hands the variables over
add_headers='cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -q download \
  libgstreamer-plugins-bad1.0-dev && dpkg -x ./*.deb "$1" && rm ./*.deb'

make_root() {
  (need_packages mmdebstrap debian-archive-keyring) || cannot 'mmdebstrap cannot be installed'
  find_mirror
  echo "Making a root of Debian $suite in ${base#"$root/"}"
  rm -rf --one-file-system "$base"
  quietly unshare --mount -- mmdebstrap --quiet --mode=root --variant=apt \
    --aptopt="$(apt_options)" --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --include="${packages[*]}" --customize-hook="$add_headers" \
    "$suite" "$base" "$mirror" ||
    cannot "there is no root of Debian $suite"
  echo "${packages[*]}" >"$base/packages"
}

# show FOLDER: at its own place in the root
show() {
  mkdir -p "$base$1"
  mount --rbind "$1" "$base$1"
}

# In a namespace of its own, whose mounts end with its last process.
enter() {
  local path=/usr/sbin:/usr/bin:/sbin:/bin folder nvcc toolkit
  for folder in /proc /sys /dev "$root" ${CCACHE_DIR:+"$CCACHE_DIR"}; do show "$folder"; done
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
  if nvcc=$(command -v nvcc); then
    toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
    case $toolkit in /usr | "$root"/*) ;; *) show "$toolkit" ;; esac
    path=$toolkit/bin:$path
  fi
  # There is no Git in it.
  exec chroot "$base" /usr/bin/env -i --chdir="$root" HOME=/root LANG=C.UTF-8 PATH="$path" \
    CCACHE_DIR="${CCACHE_DIR:-/root/.cache/ccache}" CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 \
    COMMIT="$(git describe --always --dirty 2>/dev/null || true)" "$@"
}

[ -z "$entered" ] || enter "$@"
[ "$(id -u)" -eq 0 ] || cannot 'that needs root'
unshare --mount true 2>/dev/null || cannot 'a mount namespace is refused'
[ "$(cat "$base/packages" 2>/dev/null)" = "${packages[*]}" ] || make_root
exec unshare --mount --propagation private -- "$command" --entered --debian "$suite" "$@"
