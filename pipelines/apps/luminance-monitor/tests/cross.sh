# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced after roots.sh: builds for 64-bit ARM in a root with Debian's cross compiler, and runs the
# result in the emulator QEMU.

# shellcheck disable=SC2034  # used by scripts that source this file
cross_packages=(ccache crossbuild-essential-arm64 meson ninja-build pkg-config python3)

cross_file() {
  cat <<'FILE'
[binaries]
c = ['ccache', 'aarch64-linux-gnu-gcc']
cpp = ['ccache', 'aarch64-linux-gnu-g++']
ar = 'aarch64-linux-gnu-gcc-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'aarch64-linux-gnu-pkg-config'
exe_wrapper = 'qemu-aarch64-static'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
FILE
}

# in_cross_root DIR COMMAND...: runs COMMAND in the clone, which has the same path in the root DIR as
# here
in_cross_root() {
  local base=$1
  shift
  # shellcheck disable=SC2154  # clone is set by setup.sh
  chroot "$base" /usr/bin/env -i --chdir="$clone" HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    CCACHE_DIR="${CCACHE_DIR:-/root/.cache/ccache}" CCACHE_BASEDIR="$clone" CCACHE_NOHASHDIR=1 "$@"
}

# emulate_arm64: lets this machine run programs for 64-bit ARM, in every root, until stop_emulating.
# Must be called in a mount namespace.
emulate_arm64() {
  local formats=/proc/sys/fs/binfmt_misc
  (need_packages qemu-user-static arch-test) || cannot 'QEMU cannot be installed'
  [ -e "$formats/register" ] || mount -t binfmt_misc binfmt_misc "$formats" 2>/dev/null ||
    cannot 'binfmt_misc is refused'
  [ ! -e "$formats/qemu-aarch64" ] || return 0
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$formats/register" || cannot 'binfmt_misc takes no emulator'
  emulator=$formats/qemu-aarch64
}

stop_emulating() { [ -z "${emulator:-}" ] || echo -1 >"$emulator"; }
