#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# abi.sh [--record]
# Compares the binary interface of the C library with its description in packaging/abi/, which is that of the
# last release, and fails with abidiff's report if a change breaks programs. Builds the library with debug
# information in build-abi/. Installs missing packages. The description also has structures of GStreamer, so
# both are made on Debian 12.
# --record: writes the description instead. This is done after a release, and for a change that abidiff cannot
# tell from a harmful one, such as a field in the place of _gst_reserved.
set -euo pipefail
case ${1:-} in '' | --record) ;; *) echo "usage: $0 [--record]" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. packaging/abi/functions.sh
build=$root/build-abi
description=packaging/abi/libgstcudatensor-1.0.abi

build_library() {
  local options=(-Dgpu=disabled -Dtests=false -Dintrospection=disabled -Dpython_package=disabled
    --buildtype=debug)
  [ -e "$build/build.ninja" ] || quietly meson setup "${options[@]}" "$build"
  quietly meson compile -C "$build" gstcudatensor-1.0
  rm -rf "$build/headers"
  mkdir "$build/headers"
  cp gst/library/gstcudatensor*.h "$build/headers/"
}

# release: prints the newest version in CHANGELOG.md, and whether it has been released
release() {
  sed -n '/^## \[/{ s/^## \[\(.*\)\] - /\1, /; s/, unreleased/, not released yet/; p; q }' CHANGELOG.md
}

# record FILE: makes a file the description in the tree. Only at its end, abidiff accepts a comment.
record() {
  { cat "$1"; echo "<!-- The interface of $(release); written by packaging/abi.sh -->"; } >"$description"
  echo "$description: the interface of $(release)"
}

. /etc/os-release
[ "${VERSION_CODENAME:-}" = bookworm ] ||
  { echo "abi.sh: this is ${PRETTY_NAME:-unknown}; the interface is described on Debian 12" >&2; exit 1; }
need_packages "${plugin_packages[@]}" abigail-tools
build_library
describe "$build/gst/library/libgstcudatensor-1.0.so.0" "$build/headers" >"$build/new.abi"
if [ "${1:-}" = --record ]; then
  record "$build/new.abi"
elif [ ! -e "$description" ]; then
  echo "abi.sh: there is no $description; --record writes it" >&2
  exit 1
elif ! compatible "$description" "$build/new.abi"; then
  echo "abi.sh: the interface differs from that in $description" >&2
  exit 1
else
  sed -n '$s/^<!-- T\(.*\); written.*/Programs for t\1 run with this one/p' "$description"
fi
