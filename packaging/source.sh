#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# source.sh DIR
# Makes the source archive, DIR/gst-cudatensor-VERSION.tar.xz, from the files of this clone that Git tracks,
# and prints its path. The same files of the same commit give the same archive.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
dir=$(realpath -m "$1")
cd "$(dirname "$0")/.."

version=$(sed -n "s/^  version : '\(.*\)',$/\1/p" meson.build)
name=gst-cudatensor-$version
mkdir -p "$dir"
git ls-files -z | tar --exclude-vcs --null --files-from=- --transform="s|^|$name/|S" --owner=0 --group=0 \
  --numeric-owner --mode=u=rwX,go=rX --mtime="@$(git log -1 --format=%ct)" -cJf "$dir/$name.tar.xz"
echo "$dir/$name.tar.xz"
