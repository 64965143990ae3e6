#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# release.sh [STEP...]
# Makes the files of a release in build-release/, on Debian 12, from a clone without changes, and a list of
# their digests, SHA256SUMS. The steps, of which all are the default:
#   abi     compares the C library with that of the last release, and fails if a change breaks programs
#   source  the source archive
#   wheel   the wheel with code for all GPUs, and its SBOM
#   deb     the Debian packages, without CUDA
# Installs missing packages.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$PWD/build-release

step_abi() { packaging/abi.sh; }

step_source() {
  packaging/source.sh "$dir"
}

# From nothing, so that no option and no decoder is that of an earlier build.
step_wheel() {
  rm -rf build-wheel build-wheel-decoders
  packaging/wheel.sh build-wheel
  cp build-wheel/wheel/*.whl "$dir/"
}

step_deb() {
  packaging/deb.sh build-deb
  cp build-deb/*.deb "$dir/"
}

# versions: prints the version in each of the five files that name it
versions() {
  sed -n "s/^  version : '\(.*\)',$/meson.build \1/p" meson.build
  sed -n 's/^version = "\(.*\)"$/pyproject.toml \1/p' gst/python/pyproject.toml
  sed -n 's/^__version__ = "\(.*\)"$/__init__.py \1/p' gst/python/gst_cudatensor/__init__.py
  sed -n '/^## \[/{ s/^## \[\(.*\)\].*/CHANGELOG.md \1/p; q }' CHANGELOG.md
  sed -n '1s/.*(\(.*\)-[^-]*).*/debian\/changelog \1/p' packaging/debian/changelog
}

check_versions() {
  local all
  all=$(versions)
  if [ "$(wc -l <<<"$all")" != 5 ] || [ "$(cut -d' ' -f2 <<<"$all" | sort -u | wc -l)" != 1 ]; then
    printf 'release.sh: the versions differ:\n%s\n' "$all" >&2
    exit 1
  fi
  ! grep -m1 '^## \[' CHANGELOG.md | grep -q unreleased ||
    echo 'CHANGELOG.md has no date for this version, so this is a rehearsal.'
}

check_clone() {
  local changes
  changes=$(git status --porcelain)
  [ -z "$changes" ] ||
    { echo 'release.sh: the clone has changes that are not committed' >&2; exit 1; }
}

write_digests() {
  [ -n "$(ls "$dir")" ] || return 0
  (cd "$dir" && sha256sum -- *) >"$dir.sums"
  mv "$dir.sums" "$dir/SHA256SUMS"
  cat "$dir/SHA256SUMS"
}

[ $# -gt 0 ] || set -- abi source wheel deb
for step; do
  declare -F "step_$step" >/dev/null || { sed -n 's/^# //; 3,10p' "$0" >&2; exit 2; }
done
check_versions
check_clone
# Only files of this run have digests.
rm -rf "$dir"
mkdir -p "$dir"
# The archives and the SBOM have this time in the place of that of the build.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for step; do
  printf '\n== %s\n' "$step"
  "step_$step"
done
write_digests
