#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# decoders.sh DIR
# Builds the libraries of FFmpeg in DIR/lib from Debian's source package, with the decoders of common video
# and nothing else. Debian's own libavcodec is under the GPL and needs libraries of 200 MB. The built
# libraries replace Debian's for its gstreamer1.0-libav. DIR/source keeps the source, DIR/version names its
# release.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(realpath -m "$1")
. "$here/../pipelines/setup.sh"

decoders=(dvvideo ffv1 flv h263 h264 hevc mjpeg mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2
  msmpeg4v3 prores vc1 vp6 vp6f vp8 vp9 wmv1 wmv2 wmv3)
options=(--prefix=/usr --disable-everything --disable-autodetect --disable-programs --disable-doc
  --disable-static --enable-shared --disable-debug --disable-network --disable-avdevice
  --disable-swresample --disable-swscale "--enable-decoder=$(IFS=,; echo "${decoders[*]}")")

# source_lists: prints the source lists of the releases that apt's packages come from
# shellcheck disable=SC2016  # apt fills these in
source_lists() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    'Origin: Debian' |
    sed 's|^|deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] |' | sort -u
}

# fetch: downloads the source to DIR/source
fetch() {
  local apt=(-q -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$dir/lists" -o APT::Sandbox::User=root)
  mkdir -p "$dir/lists/partial"
  [ -n "$(source_lists)" ] || apt_get update  # apt's lists may have been removed
  source_lists >"$dir/sources.list"
  quietly apt-get "${apt[@]}" update
  (cd "$dir" && quietly apt-get "${apt[@]}" --download-only source ffmpeg)
  rm -rf "$dir"/{source,lists}
  quietly dpkg-source --no-check -x "$dir"/ffmpeg_*.dsc "$dir/source"
  sed -n 's/^Version: *//p' "$dir"/ffmpeg_*.dsc | tail -n 1 >"$dir/fetched"
}

build() {
  local compiler=gcc
  ! command -v ccache >/dev/null || compiler='ccache gcc'
  cd "$dir/source"
  quietly ./configure --cc="$compiler" "${options[@]}"
  quietly make -j"$(nproc)"
  rm -rf "${dir:?}/lib"
  quietly make DESTDIR="$dir/installed" install
  mkdir "$dir/lib"
  cp -a "$dir"/installed/usr/lib/lib*.so.* "$dir/lib/"
  rm -r "$dir/installed"
}

[ "$(cat "$dir/built" 2>/dev/null)" != "${options[*]}" ] || exit 0
need_packages debian-archive-keyring dpkg-dev gcc make nasm
echo "Building FFmpeg's decoders in ${dir#"$root/"}"
rm -rf "$dir"
fetch
(build)
mv "$dir/fetched" "$dir/version"
echo "${options[*]}" >"$dir/built"
