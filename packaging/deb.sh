#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# deb.sh [--cuda] [DIR]
# Builds the Debian packages of packaging/debian/ from the files of this clone that Git tracks, in DIR
# (default: build-deb/): the source package and the binary packages, which lintian checks.
# --cuda adds code for NVIDIA GPUs. Installs missing packages.
set -euo pipefail
profiles=
[ "${1:-}" != --cuda ] || { profiles=pkg.gst-cudatensor.cuda; shift; }
cd "$(dirname "$0")/.."
. pipelines/setup.sh
dir=$(realpath -m "${1:-build-deb}")
[ ! -e "$dir" ] || [ -e "$dir/made" ] ||
  { echo "$dir exists and was not made by this script" >&2; exit 2; }

need_packages build-essential debhelper dh-python dpkg-dev fakeroot git gobject-introspection lintian
version=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
source=$dir/gst-cudatensor-${version%-*}
[ -z "$profiles" ] || need_nvcc

rm -rf "$dir"
mkdir -p "$dir"
touch "$dir/made"
archive=$(packaging/source.sh "$dir")
tar -C "$dir" -xf "$archive"
mv "$archive" "$dir/gst-cudatensor_${version%-*}.orig.tar.xz"
cp -r packaging/debian "$source/debian"
apt_get -y --no-install-recommends build-dep "$source"
(cd "$source" && DEB_BUILD_PROFILES=$profiles quietly dpkg-buildpackage -us -uc --build=full)
# The tag does not apply: only an upload to Debian would close the bug that announces it.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$dir"/*.changes
echo "${dir#"$root/"}"/*.deb
