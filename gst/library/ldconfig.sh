#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ldconfig.sh LIBDIR
# Runs after installation. Updates the cache of the dynamic loader, so that it finds the library at
# once. If the loader does not search LIBDIR, prints what the user has to set.
set -eu
libdir=$1 name=libgstcudatensor-1.0.so.0
PATH=$PATH:/usr/sbin:/sbin
command -v ldconfig >/dev/null || exit 0

[ -n "${MESON_INSTALL_DRY_RUN:-}" ] || [ "$(id -u)" -ne 0 ] || ldconfig || true
# ldconfig may list /usr/lib as /lib.
case $(ldconfig -p) in *"=> $libdir/$name"* | *"=> ${libdir#/usr}/$name"*) exit 0 ;; esac
echo "The dynamic loader does not search $libdir, so programs linked with $name will not find it:" \
  "set LD_LIBRARY_PATH=$libdir, or name that folder in /etc/ld.so.conf.d/ and run ldconfig as root."
