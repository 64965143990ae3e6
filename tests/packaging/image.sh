#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# image.sh
# Builds packaging/Containerfile with buildah from the files of this clone that Git knows, and runs the
# image. If the registry of its base image cannot be reached, a root of Debian 12 replaces it.
# Needs root; the images stay in build-image/. Exits with 125 if that cannot be done. The last line is
# "N passed, N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. tests/roots.sh
. tests/packaging/checks.sh
dir=$root/build-image
base=debian:12-slim
buildah=(buildah --storage-driver vfs --root "$dir/storage" --runroot "$dir/run")

# Uses a root as the base image, in which apt reaches the same servers as here.
import_base() {
  local container
  need_root bookworm "$dir/root" ca-certificates
  container=$("${buildah[@]}" from scratch)
  "${buildah[@]}" add --quiet "$container" "$dir/root" / >/dev/null
  "${buildah[@]}" commit --quiet "$container" "$base" >/dev/null
  "${buildah[@]}" rm "$container" >/dev/null
}

build() {
  rm -rf "$dir/context"
  mkdir "$dir/context"
  git ls-files -z | xargs -0 cp --parents -t "$dir/context"
  "${buildah[@]}" build --pull-never --isolation chroot --network host --layers=false \
    --tag gst-cudatensor --file packaging/Containerfile "$dir/context"
}

run() { "${buildah[@]}" run --isolation chroot --network host "$container" -- "$@"; }

image() {
  check_rights
  (need_packages buildah git) || cannot 'buildah cannot be installed'
  mkdir -p "$dir"
  "${buildah[@]}" inspect --type image "$base" >/dev/null 2>&1 ||
    timeout 120 "${buildah[@]}" pull --quiet "$base" >/dev/null 2>&1 || import_base
  if ! (build) >"$dir/log" 2>&1; then
    tail -n 40 "$dir/log"
    echo 'not ok buildah builds the image'
    return
  fi
  echo 'ok buildah builds the image'
  container=$("${buildah[@]}" from --pull-never localhost/gst-cudatensor)
  trap '"${buildah[@]}" rm "$container" >/dev/null' EXIT
  check 'gst-inspect-1.0' run gst-inspect-1.0 cudatensor
  check 'the Python package' run python3 -m gst_cudatensor
  check 'luminance-monitor' run luminance-monitor --version
  check 'a launch line' run gst-launch-1.0 -q videotestsrc num-buffers=3 ! cudanormalize width=64 height=64 ! fakesink
}

counted image
