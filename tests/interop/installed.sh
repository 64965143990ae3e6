#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# installed.sh BUILD_DIR LIBDIR INCLUDEDIR PLUGINDIR GIRDIR [GIR]
# Tests that after `meson install` as root, a program that is linked with the library starts. Runs
# in a separate mount namespace, so that the machine is not changed.
set -euo pipefail

# The exit status 77 means "skipped".
skip() { echo "skipped: $*"; exit 77; }

if [ "$1" != --inside ]; then
  [ "$(id -u)" -eq 0 ] || skip 'needs root'
  unshare --mount mount -t tmpfs tmpfs /mnt 2>/dev/null || skip 'cannot mount a file system here'
  exec unshare --mount --propagation private -- "$0" --inside "$@"
fi

build=$2 libdir=$3 includedir=$4 plugindir=$5 girdir=$6 gir=${7:-}
PATH=$PATH:/usr/sbin:/sbin

# The cache of the loader is replaced in /etc, so /etc is a copy.
copy=$(mktemp -d)
mount -t tmpfs tmpfs "$copy"
cp -a /etc/. "$copy"
mount --move "$copy" /etc
rmdir "$copy"
for folder in "$libdir" "$includedir" "$plugindir" "$girdir"; do
  mkdir -p "$folder"
  mount -t tmpfs tmpfs "$folder"
done
ldconfig -vN 2>/dev/null | grep "^$libdir:" >/dev/null || skip "the loader does not look in $libdir"
work=/etc/program && mkdir "$work" && cd "$work"
ldconfig

meson install -C "$build" --no-rebuild --tags runtime,devel,typelib >install.log || { cat install.log; exit 1; }
echo '#include <gstcudatensor.h>
int main(void) { return gst_cuda_tensor_get_type() == 0; }' >program.c
export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046  # several words
cc program.c -o program $(pkg-config --cflags --libs gstcudatensor-1.0)
unset LD_LIBRARY_PATH
./program
ldd program | grep -F "$libdir/libgstcudatensor-1.0.so.0"
ls "$plugindir/libgstcudatensor.so"
[ -z "$gir" ] || ls "$girdir/$gir.gir" "$libdir/girepository-1.0/$gir.typelib"
