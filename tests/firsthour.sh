#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# firsthour.sh [--short] [RELEASE...]
# Follows the first steps of a new user, in one clone in a bare root of each Debian RELEASE, by default
# bookworm and trixie: README's commands, read from README; every script of pipelines/, with and without
# arguments; programs in C, C++ and Python that use the installation; and the removal of all that.
# README's `tests/run.sh` is left out, and wheels are built without CUDA. The roots also have ccache and
# sudo, which a new user may lack.
# --short: as root, with the compiler cache of this machine, without the wheel and applications that
# take minutes. Needs root; exits with 125 if such roots cannot be made. The last line is "N passed,
# N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. tests/roots.sh
. tests/packaging/checks.sh

short='' releases=()
for argument; do
  case $argument in
    --short) short=yes ;;
    -*) echo "usage: $0 [--short] [RELEASE...]" >&2; exit 2 ;;
    *) releases+=("$argument") ;;
  esac
done
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
folder=$root/build-firsthour

# prepare BASE: creates a user who may use sudo, and a clone
prepare() {
  local base=$1 file
  echo 'APT::Get::Assume-Yes "true";' >"$base/etc/apt/apt.conf.d/yes"  # answers apt's question
  cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
  # The settings that make the network reachable here.
  for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || cp -L "$file" "$base$file"
  done
  chroot "$base" useradd --create-home --shell /bin/bash user
  echo 'user ALL=(ALL) NOPASSWD: ALL' >"$base/etc/sudoers.d/user"
  mkdir "$base/home/user/gst-cudatensor"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$base/home/user/gst-cudatensor"
  chroot "$base" chown -R user: /home/user
}

# in_root BASE: runs the checks of inside.sh in a separate namespace
in_root() {
  local base=$1 as=user cache=$folder/ccache settings=(HOME=/home/user LANG=C.UTF-8
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin CCACHE_BASEDIR=/home/user/gst-cudatensor
    CCACHE_NOHASHDIR=1 CCACHE_DIR=/ccache)
  show "$base" /proc /sys /dev
  if [ -n "$short" ]; then
    as=root cache=${CCACHE_DIR:-$cache-root}
    settings+=(FIRST_HOUR=short)
  fi
  mkdir -p "$cache" "$base/ccache"
  mount --bind "$cache" "$base/ccache"
  [ -n "$short" ] || chroot "$base" chown -R user: /ccache
  exec chroot --userspec="$as" "$base" /usr/bin/env -i --chdir=/home/user/gst-cudatensor "${settings[@]}" \
    bash tests/firsthour/inside.sh
}

if [ -n "${FIRST_HOUR_ROOT:-}" ]; then
  in_root "$FIRST_HOUR_ROOT"
fi

# first_hour RELEASE
first_hour() {
  local base=$folder/$1-used start=$SECONDS options=()
  [ -z "$short" ] || options=(--short)
  mkdir -p "$folder"
  need_root "$1" "$folder/$1" 'ca-certificates ccache passwd sudo'
  rm -rf --one-file-system "$base"
  cp -a --reflink=auto "$folder/$1" "$base"
  prepare "$base"
  printf '== the first hour on Debian %s\n' "$1"
  FIRST_HOUR_ROOT=$base unshare --mount --propagation private -- "$0" "${options[@]}" | sed -u "s/^\(ok\|not ok\) /&$1: /"
  printf '%s, %d s\n' "$1" $((SECONDS - start))
  rm -rf --one-file-system "$base"
}

all() {
  local release
  check_rights
  for release in "${releases[@]}"; do first_hour "$release"; done
}

counted all
