#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# newer.sh COMMAND...
# Runs COMMAND in this folder on Debian 13 (GStreamer 1.26, g++ 14), in a root of its own,
# build-trixie-root/, which is made if it is missing. The clone has the same path there as here.
# Needs root. Packages come from apt's mirror of Debian, or from $DEBIAN_MIRROR. If that is not possible,
# prints the reason and exits with 125.
set -euo pipefail
entered=
[ "${1:-}" != --entered ] || { entered=yes; shift; }
[ $# -gt 0 ] || { echo "usage: $0 COMMAND..." >&2; exit 2; }
command=$(realpath "$0")
cd "$(dirname "$0")"
. ../setup.sh
. ./roots.sh
# shellcheck disable=SC2154  # set by setup.sh
base=$app/build-trixie-root
# shellcheck disable=SC2154  # set by setup.sh
packages=("${build_packages[@]}" "${plugin_packages[@]}" "${test_packages[@]}")

# Runs in a mount namespace of its own, whose mounts end with its last process.
enter() {
  # shellcheck disable=SC2154  # set by setup.sh
  show "$base" /proc /sys /dev "$clone" ${CCACHE_DIR:+"$CCACHE_DIR"}
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
  exec chroot "$base" /usr/bin/env -i --chdir="$app/tests" HOME=/root LANG=C.UTF-8 \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR="${CCACHE_DIR:-/root/.cache/ccache}" \
    CCACHE_BASEDIR="$clone" CCACHE_NOHASHDIR=1 "$@"
}

[ -z "$entered" ] || enter "$@"
check_rights
need_root trixie "$base" "${packages[*]}"
exec unshare --mount --propagation private -- "$command" --entered "$@"
