#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# image.sh [--arm64] [--report] [--built PLUGIN_BUILD MONITOR_BUILD]
# Builds deploy/Containerfile with podman from the files of the clone of gst-cudatensor that Git knows,
# starts the image as deploy/README.md does, and tests it with container.py. If no registry can be
# reached, the base image is made of a root of Debian 12.
# --arm64: for 64-bit ARM. A cross compiler builds the program; the emulator QEMU runs the other steps and
#   the image.
# --built PLUGIN_BUILD MONITOR_BUILD: takes the plugin and the program from these builds of the same files,
#   and runs only the other steps.
# --report: writes the results to image-report.md.
# Needs root; exits with 125 if the image cannot be built here. The images stay in
# build-image-ARCHITECTURE/. The last line is "N passed, N failed, N skipped".
set -euo pipefail
command=$(realpath "$0")
native=$(dpkg --print-architecture 2>/dev/null || echo unknown)
arch=$native report='' built=()
usage() { echo "usage: $0 [--arm64] [--report] [--built PLUGIN_BUILD MONITOR_BUILD]" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --arm64) arch=arm64 ;;
    --report) report=yes ;;
    --built)
      [ $# -gt 2 ] || usage
      built=("$(realpath -e "$2")" "$(realpath -e "$3")") || exit 2
      shift 2 ;;
    *) usage ;;
  esac
  shift
done
cd "$(dirname "$command")"
. ../setup.sh
. ./roots.sh
. ./cross.sh
. ./checks.sh
cd "$clone"
# shellcheck disable=SC2154  # set by setup.sh
dir=$app/build-image-$arch
base=docker.io/library/debian:12-slim image=localhost/luminance-monitor:$arch
file=$app/deploy/Containerfile

# Sets podman. Images are made of layers if the file system permits; otherwise each is a copy. podman
# refuses a run root whose path is longer than 50 characters.
find_storage() {
  podman=(podman --root "$dir/storage" --runroot "$IMAGE_RUN" --cgroup-manager cgroupfs --storage-driver)
  if "${podman[@]}" overlay info >/dev/null 2>&1; then podman+=(overlay); else podman+=(vfs); fi
}

# Makes a root, and imports it as the base image. Its apt uses the same mirror as apt here.
import_base() {
  need_root bookworm "$dir/root" ca-certificates "--architectures=$arch" --aptopt='Acquire::Retries "3"'
  tar -C "$dir/root" --exclude ./packages -c . | quietly_from_stdin "${podman[@]}" import --arch "$arch" - "$base"
}

quietly_from_stdin() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

find_base() {
  "${podman[@]}" image exists "$base" ||
    timeout 30 "${podman[@]}" pull --quiet --arch "$arch" "$base" >/dev/null 2>&1 || import_base
}

starts_containers() {
  "${podman[@]}" run --rm --network host --cgroups disabled --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 \
    "$base" true >"$dir/log" 2>&1
}

# meson_options: prints Meson's options in the Containerfile, without CUDA
# shellcheck disable=SC2016  # the Containerfile's shell expands it
meson_options() { sed -n 's/.*meson setup \(.*\) build; .*/\1/p' "$file" | sed 's/"$GPU"/disabled/'; }

# of_arm64 PACKAGE...: prints the packages that the program links, for ARM, without the build's tools
of_arm64() {
  local package
  for package; do
    case $package in
      g++ | meson | ninja-build | pkg-config | gstreamer1.0-*) ;;
      nlohmann-json3-dev | libcli11-dev) echo "$package" ;;  # for all architectures
      *) echo "$package:arm64" ;;
    esac
  done
}

# cross_build: makes the result of the Containerfile's first stage, in stage/image
cross_build() {
  local packages options
  mapfile -t packages < <(of_arm64 "${plugin_packages[@]}" "${build_packages[@]}")
  packages=("${cross_packages[@]}" "${packages[@]}")
  read -ra options < <(meson_options)
  need_root bookworm "$dir/cross" "${packages[*]}" "--architectures=$native,arm64"
  show "$dir/cross" /proc /dev "$clone" ${CCACHE_DIR:+"$CCACHE_DIR"}
  cross_file >"$dir/cross-file"
  [ -e "$dir/build/build.ninja" ] ||
    in_cross_root "$dir/cross" meson setup --cross-file "$dir/cross-file" "${options[@]}" "$dir/build" "$clone"
  in_cross_root "$dir/cross" meson compile -C "$dir/build"
  in_cross_root "$dir/cross" env DESTDIR="$dir/stage/image" meson install -C "$dir/build" --no-rebuild \
    --tags runtime
}

# Builds the last stage of the Containerfile, with a folder instead of the first stage's result.
build_last_stage() {
  sed -n '/^FROM [^ ]*$/,$p' "$file" >"$dir/Containerfile"
  [ -s "$dir/Containerfile" ]
  "${build[@]}" --build-context "build=$dir/stage" --file "$dir/Containerfile" "$dir/context"
}

build_image() {
  local build=("${podman[@]}" build --arch "$arch" --pull-never --isolation chroot --network host
    --layers=false --tag "$image")
  rm -rf "$dir/context" "$dir/stage"
  mkdir -p "$dir/context"
  "${podman[@]}" image rm --force "$image" >/dev/null 2>&1 || true
  if [ ${#built[@]} -gt 0 ]; then
    # shellcheck disable=SC2046  # options without spaces
    /usr/bin/python3 "$app/tests/staged.py" "${built[@]}" "$dir/stage/image" $(meson_options)
    build_last_stage
  elif [ "$arch" != "$native" ]; then
    cross_build
    build_last_stage
  else
    git ls-files -z | xargs -0 cp --parents -t "$dir/context"
    "${build[@]}" --file "$file" "$dir/context"
  fi
  "${podman[@]}" image exists "$image"  # podman ends with 0 when it is ended by a signal
}

# way: prints how the image was built, for the report
way() {
  local version root='a root of mmdebstrap' steps='all steps of the Containerfile'
  [ -e "$dir/root" ] || root=$base
  version=$("${podman[@]}" version --format '{{.Client.Version}}')
  if [ ${#built[@]} -gt 0 ]; then
    steps='the last stage of the Containerfile, with a program that was built before'
  elif [ "$arch" != "$native" ]; then
    steps='the last stage of the Containerfile in QEMU, with a program of the cross compiler'
  fi
  printf 'way: podman %s, %s, from %s, on %d cores of %s with a load of %s: %s\n' "$version" \
    "${podman[-1]}" "$root" "$(nproc)" "$(uname -m)" "$(cut -d ' ' -f 1 /proc/loadavg)" "$steps"
}

# Starts the image in a network namespace, so that its port is free.
start_image() {
  # shellcheck disable=SC2016  # the inner shell expands it
  unshare --net -- sh -c 'ip link set lo up && exec "$@"' sh \
    /usr/bin/python3 "$app/tests/container.py" "$image" "$arch" "$dir" "${podman[@]}"
}

# Runs in a mount namespace of its own.
build_and_start() {
  local start=$SECONDS status
  umount /sys/fs/cgroup/unified 2>/dev/null || true  # crun takes one version of cgroups, not both
  [ "$arch" = "$native" ] || { trap stop_emulating EXIT; emulate_arm64; }
  find_storage
  find_base
  starts_containers || cannot "podman cannot start a container: $(tail -n 1 "$dir/log")"
  set +e  # The first failing command stops the build, but not this function.
  (set -e; build_image) >"$dir/log" 2>&1
  status=$?
  set -e
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$dir/log"
    echo 'not ok podman builds the image'
    return
  fi
  echo 'ok podman builds the image'
  echo "built: $((SECONDS - start)) s"
  start=$SECONDS
  way
  start_image
  echo "tried: $((SECONDS - start)) s"
}

image() {
  local options=() run status=0
  check_rights
  (need_packages podman crun git iproute2) || cannot 'podman cannot be installed'
  mkdir -p "$dir"
  [ "$arch" = "$native" ] || options+=(--arm64)
  [ ${#built[@]} -eq 0 ] || options+=(--built "${built[@]}")
  run=$(mktemp -d)
  IMAGE_ENTERED=yes IMAGE_RUN=$run unshare --mount --propagation private -- "$command" "${options[@]}" || status=$?
  rm -rf --one-file-system "$run"
  return "$status"
}

if [ "${IMAGE_ENTERED:-}" = yes ]; then
  build_and_start
  exit
fi
if [ -z "$report" ]; then
  counted image
  exit
fi
log=$(mktemp)
set +e  # Failures have to be reported, too.
counted image | tee "$log"
status=${PIPESTATUS[0]}
/usr/bin/python3 "$app/tests/imagereport.py" "$arch" "$log"
rm -f "$log"
exit "$status"
