#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs after installation. Updates the cache of the dynamic loader, so that it finds the library at once.
# Meson hides the output: the summary of the setup names the library's folder.
set -eu
PATH=$PATH:/usr/sbin:/sbin
command -v ldconfig >/dev/null || exit 0
[ -n "${MESON_INSTALL_DRY_RUN:-}" ] || [ "$(id -u)" -ne 0 ] || ldconfig || true
