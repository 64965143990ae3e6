#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ldconfig.sh LIBDIR
# After an installation: lets the loader find the library, which it otherwise would when something else
# runs ldconfig. Where it does not look in LIBDIR at all, says what helps.
set -eu
libdir=$1 name=libgstcudatensor-1.0.so.0
PATH=$PATH:/usr/sbin:/sbin
command -v ldconfig >/dev/null || exit 0

[ -n "${MESON_INSTALL_DRY_RUN:-}" ] || [ "$(id -u)" -ne 0 ] || ldconfig || true
# It may know /usr/lib by the name of /lib.
case $(ldconfig -p) in *"=> $libdir/$name"* | *"=> ${libdir#/usr}/$name"*) exit 0 ;; esac
echo "Programs that are linked with $name do not find it in $libdir:" \
  "set LD_LIBRARY_PATH=$libdir, or name that folder in /etc/ld.so.conf.d/ and run ldconfig as root."
